/** `rhythm-vec eval`: evaluates policies under conditions. */
import type { Command } from 'commander';
import { POLICY_NAMES } from '../../agents/policies/fixed-policies.js';
import { STEPPED_NAMES } from '../../agents/policies/stepped-policies.js';
import type { GraderAnchors } from '../../evaluation/audit/read-anchors.js';
import { bracketEvaluation } from '../../evaluation/bracket.js';
import { playersOf, selectPolicies } from '../../evaluation/choose-policies.js';
import { evaluatePolicies } from '../../evaluation/evaluate.js';
import type { EvaluateOptions } from '../../evaluation/evaluate-options.js';
import { listed } from '../../evaluation/format-results.js';
import { evaluationToJson } from '../../evaluation/result-json.js';
import type { RunInfo } from '../../evaluation/run-info.js';
import { gradersInUse } from '../../evaluation/score-tally.js';
import { YARDSTICK_POLICIES } from '../../evaluation/stored-scores.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { LINES, type RowFormat } from '../../shared/row-files/file-formats.js';
import { CONDITIONS, type Condition, episodesOf, selectConditions } from '../../world/conditions.js';
import { GRADER_NAMES } from '../../world/fields.js';
import { UsageError } from '../command-errors.js';
import type { Context } from '../context.js';
import { checkOutputs, formatOf, type PlannedOutput } from '../files/check-outputs.js';
import { readGrader } from '../files/grader-file.js';
import { checkBracket } from '../files/input-file.js';
import { commitTogether, jsonText, messageStream, Outputs } from '../files/output-file.js';
import { workFilesOf } from '../files/paths.js';
import { isPolicyFile, readPolicies } from '../files/policy-file.js';
import { addLlmOptions, LLM_DEFAULTS, samplingOf } from '../llm/llm-options.js';
import { checkModels, EvalModels, modelsIn, prepareModel } from '../llm/models.js';
import { createProgress } from '../progress.js';
import {
  addEngineOptions,
  checkEngineOptions,
  formatOption,
  OPTIONS,
  parseInteger,
  parseNames,
  parseSeeds,
} from '../shared-options.js';
import type { EpisodeStore, PlannedEpisodes } from '../store/episode-store.js';
import { checkBracketGrader, readBracket, renderBracket } from './bracket.js';
import type { EvalShard, EvalShardOptions } from './eval-shard.js';
import { renderHeader, renderTable } from './eval-table.js';

const HELP = `
Conditions: ${CONDITIONS.map(({ name }) => name).join(', ')}, custom.
Policies: ${POLICY_NAMES.join(', ')};
  only if named, because they are slower: ${STEPPED_NAMES.join(', ')},
  ./mine.js (a file that exports a policy) and llm:MODEL (a language model; --base-url to --budget are its options).
  +constant states the belief [0.5, 0.5, 0.5] at every step, +inference the belief inferred from the observations.
The verdict compares policies that may infer with the best of ${listed(YARDSTICK_POLICIES)},
on the same seeds. On other seeds than those of the conditions, planner-prior counts only if it is among the policies.
Graders: ${GRADER_NAMES.join(', ')}, or a file with a name and component weights that sum to 1.
docs/commands.md describes conditions, policies, the verdict and shares; docs/trajectories.md the files of --trajectories,
of at most 100,000 episodes, or 10,000,000 as Parquet. FILE.partial keeps them until FILE is complete: the same command
continues.

Examples:
  rhythm-vec eval --conditions in-distribution,ood --json results.json
  rhythm-vec eval --seeds 100-119 --policies ${YARDSTICK_POLICIES.join(',')},planner
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec eval --grader calm.json --profiles introvert_morning --trajectories calm.parquet
  rhythm-vec eval --episodes 2 --policies llm:gpt-4o-mini --trajectories mini.jsonl --prices 0.15,0.6 --budget 2
`;

/** Adds the options that select policies, conditions, seeds and grader. `queue submit eval` has them too. */
export const addEvalOptions = (command: Command): Command =>
  command
    .option('--policies <names|files>', 'comma-separated (default: the first six below)', parseNames)
    .option('--conditions <names>', 'comma-separated (default: all)', parseNames)
    .option('--seeds <A-B>', 'seeds of the condition custom, any number of them', parseSeeds)
    .option('--episodes <n>', 'at most the first n seeds of each condition', parseInteger)
    .option('--profiles <name>', 'of in-distribution, ood and custom: sampled, ...')
    .addOption(OPTIONS.grader);

export function defineEval(command: Command, context: Context): void {
  addEvalOptions(command)
    .addOption(OPTIONS.details)
    .addOption(OPTIONS.bracket)
    .addOption(OPTIONS.json)
    .option('--trajectories <file>', 'also write whole episodes; - is standard output')
    .addOption(formatOption('of --trajectories'));
  addEngineOptions(addLlmOptions(command.addOption(OPTIONS.shard)))
    .addHelpText('after', HELP)
    .action((options: EvalCommandOptions) => runEval(options, context));
}

type Listeners = 'onStart' | 'onProgress' | 'onEpisodes' | 'onTrajectories';

interface EvalCommandOptions
  extends Omit<EvaluateOptions, 'chunkSize' | 'policies' | 'grader' | 'llm' | 'signal' | Listeners>,
    EvalShardOptions {
  readonly grader: string;
  /** The value of --format, for `trajectories`. */
  readonly format?: string;
  /** Whether to print all tables. */
  readonly details?: boolean;
}

/** Optional outputs besides the table. */
type OutputPaths = Pick<EvalCommandOptions, 'json' | 'trajectories' | 'format'>;

/** What is printed, and where the other results go. */
type Outputting = OutputPaths & Pick<EvalCommandOptions, 'details'>;

/** A checked evaluation, with all that it needs. */
interface EvalRun {
  readonly settings: EvaluateOptions;
  readonly conditions: readonly Condition[];
  readonly anchors: GraderAnchors | null;
  readonly shard: EvalShard | null;
  /** Null without --trajectories. */
  readonly store: EpisodeStore | null;
  readonly models: EvalModels;
}

/**
 * Evaluates policies, prints the tables and writes the files. A shard prints no table. If its file is complete, the shard is
 * not played again.
 */
async function runEval(options: EvalCommandOptions, { signal, model }: Context): Promise<void> {
  const { trajectories, profiles, backend, kernel, threads } = options;
  const { concurrency = LLM_DEFAULTS.concurrency } = options;
  const modelNames = check(options);
  // Loaded only if --shard is given.
  const shards = options.shard === undefined ? null : await import('./eval-shard.js');
  shards?.checkEvalShard(options, formatOfTrajectories(options));
  const policies = await readPolicies(options.policies);
  const openers = await Promise.all(modelNames.map((name) => prepareModel(name, options)));
  const grader = await readGrader(options.grader);
  const anchors = await readBracket(options.bracket, signal);
  checkBracketGrader(options.bracket, anchors, gradersInUse(grader));
  const shard = (await shards?.openEvalShard(options, policies, grader)) ?? null;
  if (shard?.isComplete) return;
  const conditions = shard?.conditions ?? selectConditions(options);
  const playsAgain = options.policies?.some(isPolicyFile);
  const planned = () => ({
    ...{ conditions, grader, playsAgain },
    ...{ players: playersOf(policies), sampling: samplingOf(options) },
  });
  const store = trajectories === undefined ? null : await storeOf(options, trajectories, planned());
  const models = new EvalModels(openers.map((open) => open(store?.spending, model)));
  try {
    const answers = (await model?.answers()) ?? store?.answers;
    const llm = { ...models.options, concurrency, played: store?.played, answers };
    const settings = { profiles, backend, kernel, threads, policies, grader, signal, llm };
    await evaluateAndWrite({ settings, conditions, anchors, shard, store, models }, options, signal);
  } catch (error) {
    process.stderr.write(models.text());
    throw error;
  } finally {
    process.stderr.write((await store?.close()) ?? '');
  }
}

async function evaluateAndWrite(
  { settings, conditions, anchors, shard, store, models }: EvalRun,
  { json, trajectories, details }: Outputting,
  signal: AbortSignal,
): Promise<void> {
  const messages = messageStream(json, trajectories);
  const print = (text: string): void => {
    if (shard === null) messages.write(text);
  };
  await using outputs = new Outputs();
  using progress = createProgress('episodes');
  const listeners = {
    onStart: (info: RunInfo) => print(renderHeader(info)),
    onProgress: (done: number, total: number) => progress.update(done, total, models.spentText()),
    onTrajectories:
      store === null ? undefined : (episodes: readonly TrajectoryEpisode[]) => store.add(episodes),
  };
  const policies = selectPolicies(settings, conditions);
  const evaluation = await evaluatePolicies(
    policies,
    conditions,
    { ...settings, ...listeners },
    store?.results ?? null,
  );
  progress.stop();
  const bracketed = bracketEvaluation(evaluation, anchors);
  const shares = details || anchors !== null ? renderBracket(bracketed) : '';
  print(renderTable(evaluation, { details, text: `${shares}${models.text()}` }));
  if (json !== undefined) await (await outputs.open(json)).write(jsonText(evaluationToJson(bracketed)));
  signal.throwIfAborted();
  await commitTogether(store === null ? [outputs] : [store, outputs]);
  await shard?.finish(models.text());
}

/** Checks the options. @returns the names of the language models among the policies. @throws UsageError. */
function check(options: EvalCommandOptions): string[] {
  checkEngineOptions(options);
  const models = modelsIn(options.policies);
  const outputs = outputsOf(options, models.length > 0);
  checkOutputs(outputs, options.grader);
  checkBracket(options.bracket, outputs);
  checkModels(models, options);
  return models;
}

/** Returns the outputs, each with its option. */
function outputsOf({ json, trajectories: path, format }: OutputPaths, hasModel: boolean): PlannedOutput[] {
  const rowFormat = formatOfTrajectories({ trajectories: path, format });
  return [
    ...(json === undefined ? [] : [{ option: '--json', path: json }]),
    ...(path === undefined
      ? []
      : [{ option: '--trajectories', path, workFiles: workFilesOf(path, rowFormat, hasModel) }]),
  ];
}

/** Returns the format of the trajectories. @throws UsageError for --format without them. */
function formatOfTrajectories({ trajectories, format }: OutputPaths): RowFormat {
  if (trajectories !== undefined) return formatOf('--trajectories', trajectories, format) ?? LINES;
  if (format === undefined) return LINES;
  throw new UsageError(
    'Expected --trajectories with --format, got none. Name a file, or leave out --format.',
  );
}

/** Opens the store of the trajectories. @throws UsageError. */
async function storeOf(
  options: EvalCommandOptions,
  path: string,
  planned: PlannedEpisodes,
): Promise<EpisodeStore> {
  const [option, format] = ['--trajectories', formatOfTrajectories(options)];
  const hasModel = planned.players.some(({ model }) => model !== null);
  checkEpisodeCount(planned, hasModel ? LINES : format);
  // Loaded only if episodes are kept.
  const { checkJournal, openStore } = await import('../store/episode-store.js');
  if (hasModel) checkJournal(option, path, 'a language model');
  return openStore({ option, path, format }, planned);
}

/**
 * The maximum number of episodes in a file, by format. These files take 1.4 GB (JSON lines) and 0.8 GB (Parquet); with a
 * planner's reasons 3 GB and 22 GB.
 */
const MAX_EPISODES = { jsonl: 100_000, parquet: 10_000_000 };

/** Refuses an evaluation of more than MAX_EPISODES. @throws UsageError. */
function checkEpisodeCount({ conditions, players }: PlannedEpisodes, format: RowFormat): void {
  const max = format === LINES ? MAX_EPISODES.jsonl : MAX_EPISODES.parquet;
  const perPolicy = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0);
  const episodes = perPolicy * players.length;
  if (episodes <= max) return;
  throw new UsageError(
    `Expected at most ${max} episodes with --trajectories, got ${episodes} (${players.length} policies, ${perPolicy} ` +
      `episodes each). ${format === LINES ? 'An episode takes about 14 kB of JSON: add --format parquet, name' : 'Name'} fewer --seeds or --policies.`,
  );
}
