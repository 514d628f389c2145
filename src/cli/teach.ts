/** `rhythm-vec teach`: records a teacher's trajectories, with its reasons. */

import type { Command } from 'commander';
import { checkModelName, modelPlayer } from '../agents/llm/language-model.js';
import { STUDENT_NAMES } from '../agents/student/packaged-students.js';
import { type Grader, isSameGrader } from '../engine/graders/grader.js';
import { counted } from '../evaluation/format-results.js';
import { playerOf } from '../evaluation/play-policy.js';
import { MODEL_PREFIX, UserPolicy } from '../evaluation/user-policy.js';
import { episodeKey } from '../rollouts/trajectories/trajectory-lines.js';
import { LINES, type RowFormat } from '../shared/row-files/file-formats.js';
import { checkName } from '../shared/values.js';
import { packageVersion } from '../shared/version.js';
import {
  DEFAULT_TEACHER,
  keysOf,
  teach,
  teachByModel,
  teacherNamed,
} from '../training/teaching/policy-teacher.js';
import { CUSTOM, rangeText, type SeedRange } from '../world/conditions.js';
import { NUM_STEPS } from '../world/fields.js';
import { PROFILE_CHOICES } from '../world/resolve-names.js';
import { UsageError } from './command-errors.js';
import type { Context } from './context.js';
import { checkOutputs, formatOf } from './files/check-outputs.js';
import { readGrader } from './files/grader-file.js';
import { fileDigest } from './files/input-file.js';
import { workFilesOf } from './files/paths.js';
import { isPolicyFile, pathOfPolicy, readPolicyFiles } from './files/policy-file.js';
import {
  addLlmOptions,
  checkNoModelFlags,
  LLM_DEFAULTS,
  type ModelFlags,
  samplingOf,
} from './llm/llm-options.js';
import { type OpenedModel, prepareModel } from './llm/models.js';
import { createProgress } from './progress.js';
import type { TeachJob } from './shards/job.js';
import type { Shard } from './shards/shard.js';
import {
  addEngineOptions,
  checkEngineOptions,
  type EngineOptions,
  formatOption,
  noteEvalSeeds,
  OPTIONS,
  parseSeeds,
} from './shared-options.js';
import { type EarlierRun, openEpisodeFile } from './store/episode-file.js';
import { checkJournal, keptText, openJournal } from './store/episode-store.js';
import type { Journal } from './store/journal.js';

const HELP = `
A policy plays as in \`eval\`, under the same name, and explains its observations, belief, plan and reasons in words. The
last line of its answer, such as 4 6 5 SLEEP, has the graded belief as digits, and the action. The teachers:
  ${DEFAULT_TEACHER} (the default), planner, planner-prior, planner-oracle (uses hidden state),
  heuristic+inference, open-loop+inference,
  ${STUDENT_NAMES.join(', ')},
  ./mine.js (a file that exports a policy with beliefs and reasons; ./mine.js+inference adds both),
  llm:MODEL (a language model, at the endpoint of OPENAI_BASE_URL or --base-url; see docs/language-models.md)
A file has one episode per line, or per row of Parquet, which takes 0.5 to 5 % of the space. FILE.partial keeps the episodes
until FILE is complete: the same command continues. The exit code is 3 after --budget. Seeds below 100 and from 10000 on are
kept for evaluation. docs/trajectories.md describes the files.

Examples:
  rhythm-vec teach --seeds 100-129 --output teacher.parquet
  rhythm-vec teach --policy planner --seeds 100-119 --profiles workaholic_stoic --output score.jsonl
  rhythm-vec teach --policy llm:gpt-4o-mini --seeds 100-129 --output llm.jsonl --prices 0.15,0.6,0.075 --budget 5
  rhythm-vec reeval --jsonl teacher.parquet llm.jsonl
`;

/** Adds the options that select the teacher, seeds, profiles and grader. `queue submit teach` has them too. */
export const addTeachOptions = (command: Command): Command =>
  command
    .option('--policy <name|file>', 'the teacher (default: planner-wellbeing)')
    .requiredOption('--seeds <A-B>', 'one episode per seed', parseSeeds)
    .option('--profiles <name>', 'sampled, discrete or a profile name', 'sampled')
    .addOption(OPTIONS.grader);

export function defineTeach(command: Command, context: Context): void {
  addTeachOptions(command)
    .requiredOption('--output <file>', 'trajectories; - is standard output')
    .addOption(formatOption('of --output'));
  addEngineOptions(addLlmOptions(command.addOption(OPTIONS.shard)))
    .addHelpText('after', HELP)
    .action((options: TeachCommandOptions) => runTeach(options, context));
}

interface TeachCommandOptions extends EngineOptions, ModelFlags {
  /** A policy's name, or the path of a file that exports one. */
  readonly policy?: string;
  readonly seeds: SeedRange;
  readonly profiles: string;
  readonly grader: string;
  readonly output: string;
  /** The value of --format. */
  readonly format?: string;
  readonly shard?: Shard;
}

/** The checked options. */
interface TeachPlan extends Omit<TeachCommandOptions, 'grader' | 'format'> {
  readonly grader: Grader;
  readonly format: RowFormat;
}

/**
 * Checks the options and runs the teacher.
 * @throws UsageError for unusable paths and options; InputError for unknown names; the errors of the teachers; the signal's
 * reason.
 */
async function runTeach(options: TeachCommandOptions, context: Context): Promise<void> {
  const { policy = DEFAULT_TEACHER, output, seeds, shard } = options;
  const model = policy.startsWith(MODEL_PREFIX) ? policy.slice(MODEL_PREFIX.length) : null;
  if (model === null) {
    if (!isPolicyFile(policy)) teacherNamed(policy);
    checkNoModelFlags(policy, options);
  }
  checkEngineOptions(options);
  const format = formatOf('--output', output, options.format) ?? LINES;
  const workFiles = workFilesOf(output, format, model !== null);
  checkOutputs([{ option: '--output', path: output, workFiles }], options.grader);
  if (shard !== undefined)
    (await import('./shards/shard-file.js')).checkShardFile('--output', output, format);
  const plan = { ...options, grader: await readGrader(options.grader), format };
  noteEvalSeeds(seeds, 'dataset sft leaves them out by default');
  await (model === null ? runPolicy(plan, policy, context.signal) : runModel(plan, model, context));
}

type Teacher = Pick<TeachJob['options'], 'policy' | 'policy_file' | 'model'>;

/** Calls `play` with the seeds of --shard, unless their file is complete, and writes the manifest; without --shard with all. */
async function playShard(
  { seeds, profiles, output: path, shard, grader }: TeachPlan,
  teacher: Teacher,
  play: (seeds: SeedRange) => Promise<void>,
): Promise<void> {
  if (shard === undefined) return play(seeds);
  // Loaded only if --shard is given.
  const [{ beginShard, endShard }, { createJob }, { seedsOf }] = await Promise.all([
    import('./shards/shard-file.js'),
    import('./shards/job.js'),
    import('./shards/shard.js'),
  ]);
  const own = seedsOf(seeds, shard);
  const job = createJob<TeachJob>('teach', grader, { ...teacher, seeds, profiles });
  const file = { job, shard, path, option: '--output', part: `seeds ${rangeText(own)}` };
  const isComplete = await beginShard(file);
  if (isComplete) return;
  await play(own);
  await endShard(file);
}

/** Teaches by a policy of this package or a file. */
async function runPolicy(plan: TeachPlan, name: string, signal: AbortSignal): Promise<void> {
  const isFile = isPolicyFile(name);
  const [policy] = isFile
    ? Object.entries(await readPolicyFiles([name])).map((each) => new UserPolicy(...each))
    : [name];
  const teacher = {
    policy: typeof policy === 'string' ? policy : policy.name,
    policy_file: isFile ? fileDigest(pathOfPolicy(name)) : null,
    model: null,
  };
  await playShard(plan, teacher, (seeds) => playByPolicy(plan, policy, seeds, signal));
}

/** Plays and writes the episodes. A built-in policy continues after the episodes of an unfinished file. */
async function playByPolicy(
  plan: TeachPlan,
  policy: string | UserPolicy,
  seeds: SeedRange,
  signal: AbortSignal,
): Promise<void> {
  const { output, grader, profiles, format, backend, kernel, threads } = plan;
  const total = seeds.last - seeds.first + 1;
  const run = earlierRun(plan, policy, seeds);
  const file = await openEpisodeFile(output, format, run);
  const progress = createProgress('steps');
  let episodes = file.earlier;
  const before = episodes * NUM_STEPS;
  const work = {
    ...{ policy, grader, profiles, backend, kernel, threads, signal },
    seeds: { first: seeds.first + episodes, last: seeds.last },
    onProgress: (done: number): void => progress.update(before + done, total * NUM_STEPS),
  };
  try {
    for await (const batch of teach(work)) {
      await file.write(batch);
      episodes += batch.length;
    }
    signal.throwIfAborted();
    await file.commit();
  } finally {
    progress.stop();
    const kept = await file.close();
    const all = run.continues ? counted(total, 'episode') : null;
    if (kept !== null) process.stderr.write(keptText(kept, episodes, all));
  }
  if (output !== '-') process.stderr.write(`${counted(total, 'episode')} in ${output}.\n`);
}

/** Describes the unfinished file that this run continues: it has the first episodes of this run, in order. */
function earlierRun(
  { profiles, grader }: TeachPlan,
  policy: string | UserPolicy,
  seeds: SeedRange,
): EarlierRun {
  // If the policy is the user's module, which may have changed, earlier episodes are played again.
  const continues = typeof policy === 'string';
  const player = playerOf(continues ? teacherNamed(policy) : policy);
  const start = { condition: CUSTOM, profile_mode: profiles };
  return {
    option: '--output',
    continues,
    isOwn: (episode, index) =>
      episodeKey(episode) === episodeKey({ ...player, ...start, seed: seeds.first + index }) &&
      episode.seed <= seeds.last &&
      (!continues || episode.version === packageVersion()) &&
      isSameGrader(episode.grader, grader),
  };
}

/** Teaches by a language model. A journal stores each paid episode, so that none is lost or requested twice. */
async function runModel(plan: TeachPlan, name: string, { signal, model: shared }: Context): Promise<void> {
  checkModelPlan(plan, name);
  const { output: path, format, grader, profiles, prices } = plan;
  const sampling = samplingOf(plan);
  const openModel = await prepareModel(name, plan);
  const policy = `${MODEL_PREFIX}${name}`;
  const teacher = { policy, policy_file: null, model: { sampling, prices: prices ?? null } };
  await playShard(plan, teacher, async (seeds) => {
    const conditions = [{ name: CUSTOM, parts: [{ profile: profiles, seeds }] }];
    const planned = { conditions, players: [modelPlayer(name)], grader, sampling };
    const journal = await openJournal({ option: '--output', path, format }, planned);
    try {
      const { spent, finished } = journal;
      const onSpend = (dollars: number): void => journal.noteSpent(dollars);
      const opened = openModel({ spent, finished, onSpend }, shared);
      const answers = (await shared?.answers()) ?? journal.answers;
      await playByModel({ ...plan, ...opened, seeds, answers, signal }, journal);
    } finally {
      await journal.close();
    }
  });
}

/** Plays the episodes that the journal lacks, writes the file, and prints a summary even after an error. */
async function playByModel(
  plan: TeachPlan & OpenedModel & Omit<Parameters<typeof teachByModel>[0], 'concurrency' | 'onStep'>,
  journal: Journal,
): Promise<void> {
  const { model, summary, seeds, profiles, output, shard } = plan;
  const { concurrency = LLM_DEFAULTS.concurrency } = plan;
  const keys = keysOf(seeds, profiles, model.name);
  const has = (key: string): boolean => journal.has(key);
  const before = keys.filter(has).length;
  if (shard !== undefined) checkOwnEpisodes(journal.size - before, output);
  const progress = createProgress('steps');
  let steps = before * NUM_STEPS;
  const onStep = (): void => progress.update(++steps, keys.length * NUM_STEPS, summary.spentText());
  const all = counted(keys.length, 'episode');
  try {
    for await (const episode of teachByModel({ ...plan, concurrency, onStep }, has)) {
      await journal.append(episode);
      summary.add(episode);
    }
    await journal.finish(keys);
    await journal.commit();
    progress.stop();
    const earlier = before === 0 ? '' : `, ${before} of them from earlier runs`;
    process.stderr.write(`${all} in ${output}${earlier}.\n${summary.text()}`);
  } catch (error) {
    progress.stop();
    const kept = keptText(journal.partialPath, keys.filter(has).length, all, journal.answers.size > 0);
    process.stderr.write(`${summary.text()}${kept}`);
    throw error;
  }
}

/** Refuses a file that also has episodes of other seeds, because the merged file would have them twice. @throws UsageError. */
function checkOwnEpisodes(others: number, path: string): void {
  if (others === 0) return;
  throw new UsageError(
    `Expected ${path} to hold episodes of this shard alone, got ${counted(others, 'other episode')}. Pass another --output.`,
  );
}

/** The maximum number of episodes of a language model. Chosen by hand, because their keys are kept in memory. */
const MAX_EPISODES = 1_000_000;

function checkModelPlan({ seeds: { first, last }, profiles, output }: TeachPlan, model: string): void {
  if (last - first >= MAX_EPISODES) {
    throw new UsageError(
      `Expected at most ${MAX_EPISODES} episodes of --seeds, got ${last - first + 1}. Split the seeds over several runs.`,
    );
  }
  checkName('profiles', profiles, PROFILE_CHOICES);
  checkModelName(model, `after ${MODEL_PREFIX}`);
  checkJournal('--output', output, `--policy ${MODEL_PREFIX}${model}`);
}
