/** `rhythm-vec dataset grpo`: writes rows for GRPO. */

import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { counted } from '../../evaluation/format-results.js';
import { FORMAT_NAMES, LINES, type RowFormat } from '../../shared/row-files/file-formats.js';
import { GrpoTally, isCard } from '../../training/datasets/card-parts.js';
import { cardText, filesOfCard } from '../../training/datasets/grpo/grpo-card.js';
import {
  GRPO_COLUMNS,
  type GrpoState,
  grpoRowsAsync,
  provenanceOf,
} from '../../training/datasets/grpo/grpo-rows.js';
import { type DatasetOptions, type DatasetPlan, MIX, toPlan } from '../../training/datasets/state-sampler.js';
import { rangeText } from '../../world/conditions.js';
import { PROFILE_NAMES } from '../../world/fields.js';
import { UsageError } from '../command-errors.js';
import type { Context } from '../context.js';
import { checkOutput, formatOf } from '../files/check-outputs.js';
import { checkNotGrader, readGrader } from '../files/grader-file.js';
import { type Output, Outputs } from '../files/output-file.js';
import { stat } from '../files/paths.js';
import { createProgress } from '../progress.js';
import { createJob, type DatasetJob } from '../shards/job.js';
import { partOf, type Shard } from '../shards/shard.js';
import { checkShardFile, writeShard } from '../shards/shard-file.js';
import {
  addEngineOptions,
  checkEngineOptions,
  type EngineOptions,
  OPTIONS,
  parseInteger,
  parseNames,
  parseSteps,
} from '../shared-options.js';
import { commandText, flag, given } from './selection-options.js';

const HELP = `
Each row has a prompt, and the seed and actions that reproduce its state:
  {"prompt":[{"role":"system","content":...},{"role":"user","content":...}],"seed":8000,"profile_mode":"sampled",
   "step_index":2,"action_history":["sleep","deep_work"],"policy":"random"}
A mix of policies reaches diverse states: random, heuristic, open-loop, deviations from heuristic and open-loop, and the policy
habits, which plays at most three different actions. A combination of seed, profile and step repeats only after all were used.
README.md, beside the rows, is the dataset card: it has the shares of the policies, the columns, how to train, and the
command. The command gives the same bytes on every machine, and a longer dataset begins with the rows of a shorter one.
Profiles: sampled, discrete, ${PROFILE_NAMES.join(', ')}; ${MIX} is sampled,discrete.
  Each name of --profiles is used equally often.
The system message says what --grader pays for. Score completions under the same grader. The states do not depend on the grader.
Seeds 0-99 and seeds from 10000 on are kept for evaluation and refused; --allow-eval-seeds admits them.

Examples:
  rhythm-vec dataset grpo --rows 3000 --output grpo/train.jsonl
  rhythm-vec dataset grpo --rows 3000 --grader v3 --output grpo-v3/train.jsonl
  rhythm-vec dataset grpo --rows 3000 --profiles mix --steps 8-27 --seed 1 --output grpo-late/train.parquet
`;

/** Adds the options that determine the rows. `queue submit dataset grpo` has them too. */
export const addGrpoOptions = (command: Command): Command =>
  command
    .requiredOption('--rows <n>', 'number of rows', parseInteger)
    .addOption(OPTIONS.seeds)
    .option('--profiles <names>', 'profiles, comma-separated (default: sampled)', parseNames)
    .option('--steps <A-B>', 'range of steps to take rows from (default: 0-27)', parseSteps)
    .option('--seed <n>', 'seed of the selection of states (default: 0)', parseInteger)
    .addOption(
      new Option(
        '--grader <name|file>',
        'the grader that prompts describe: v1, v2, v3 or a grader file',
      ).default('v2'),
    )
    .addOption(OPTIONS.allowEvalSeeds);

export function defineGrpo(command: Command, { signal }: Context): void {
  addGrpoOptions(command)
    .requiredOption('--output <file>', 'the file to write; the card, README.md, is written beside it')
    .addOption(
      new Option('--format <name>', 'the format of --output (default: by its ending)').choices(FORMAT_NAMES),
    );
  addEngineOptions(command.addOption(OPTIONS.shard))
    .addHelpText('after', HELP)
    .action((options: GrpoOptions) => runGrpo(options, signal));
}

interface GrpoOptions extends EngineOptions, Omit<DatasetOptions, 'grader'> {
  readonly format?: string;
  readonly grader: string;
  readonly output: string;
  readonly shard?: Shard;
}

/**
 * Writes the rows and the card, or neither; with `shard` only the rows of the shard.
 * @throws UsageError for unusable options, paths and formats; InputError for an invalid grader or plan; the signal's reason.
 */
async function runGrpo(options: GrpoOptions, signal: AbortSignal): Promise<void> {
  checkEngineOptions(options);
  const plan = toPlan({ ...options, grader: await readGrader(options.grader) });
  checkNotGrader('--output', options.output, options.grader);
  const grader = basename(options.grader);
  if (options.shard === undefined)
    await writeGrpo(plan, { ...options, grader }, grpoRowsAsync(plan, options), signal);
  else await runGrpoShard(plan, { ...options, grader, shard: options.shard }, signal);
}

/**
 * Writes rows and their card, or neither.
 * @param target the file, and the grader's name in the command of the card. @param source the rows of the plan, in the batches
 *   of `grpoRowsAsync`.
 * @throws UsageError for unusable paths and formats; the signal's reason.
 */
export async function writeGrpo(
  plan: DatasetPlan,
  target: Pick<GrpoOptions, 'output' | 'format' | 'grader'>,
  source: AsyncIterable<GrpoState[]>,
  signal: AbortSignal,
): Promise<void> {
  const format = formatOfRows(target);
  const paths = { rows: target.output, card: join(dirname(target.output), 'README.md') };
  checkPaths(paths);
  await using outputs = new Outputs();
  const rows = await outputs.open(paths.rows);
  const tally = await writeRows(rows, plan, format, source, signal);
  const card = await outputs.open(paths.card);
  const file = basename(paths.rows);
  const command = commandOf(plan, format, file, target.grader);
  await card.write(cardText({ provenance: provenanceOf(plan), tally, file, command }));
  signal.throwIfAborted();
  await outputs.commit();
  process.stderr.write(`${counted(plan.rows, 'row')} written to ${paths.rows}, the card to ${paths.card}.\n`);
}

async function writeRows(
  output: Output,
  plan: DatasetPlan,
  format: RowFormat,
  source: AsyncIterable<GrpoState[]>,
  signal: AbortSignal,
): Promise<GrpoTally> {
  using progress = createProgress('rows');
  const tally = new GrpoTally(plan);
  const encoder = await format.open(provenanceOf(plan), GRPO_COLUMNS);
  let done = 0;
  for await (const rows of source) {
    signal.throwIfAborted();
    await output.write(encoder.add(rows));
    tally.add(rows);
    done += rows.length;
    progress.update(done, plan.rows);
  }
  await output.write(encoder.end());
  return tally;
}

/** Returns the format of --format, or else of the file's ending. @throws UsageError if neither names one, or they differ. */
function formatOfRows({ format, output }: Pick<GrpoOptions, 'format' | 'output'>): RowFormat {
  const chosen = formatOf('--output', output, format);
  if (chosen !== undefined) return chosen;
  const endings = FORMAT_NAMES.map((name) => `.${name}`).join(' or ');
  throw new UsageError(
    `Expected --output to end with ${endings}, got ${output}. Change the name, or add --format.`,
  );
}

/**
 * Refuses an output that is not a writable file or is named README.md, and a card that would replace another README.md.
 * @throws UsageError.
 */
function checkPaths({ rows, card }: { rows: string; card: string }): void {
  checkOutput('--output', rows);
  const existing = stat(rows);
  const name = basename(existing === null ? rows : realpathSync(rows)).toLowerCase();
  if (rows === '-' || (existing !== null && !existing.isFile()) || name === 'readme.md') {
    throw new UsageError(
      `Expected --output to name a file other than its card README.md, got ${rows}. Name another file.`,
    );
  }
  const existingCard = stat(card);
  if (existingCard === null || (existingCard.isFile() && isReplaceable(readFileSync(card, 'utf8'), rows)))
    return;
  throw new UsageError(
    `Expected ${card} to be absent or the card of ${rows}, got another file. Write --output to a directory of its own.`,
  );
}

/**
 * Returns whether a README.md may be replaced: it must be a card whose header lists files, and none of these files may exist,
 * except the file of these rows.
 */
function isReplaceable(text: string, rows: string): boolean {
  const files = filesOfCard(text);
  const isOwn = (file: string): boolean =>
    file === basename(rows) || stat(join(dirname(rows), file)) === null;
  return isCard(text) && files.length > 0 && files.every(isOwn);
}

/** Returns the command that reproduces the dataset, defaults included. */
const commandOf = (plan: DatasetPlan, format: RowFormat, file: string, grader: string): string =>
  commandText('grpo', [
    ...given('--rows', plan.rows),
    ...given('--seeds', rangeText(plan.seeds)),
    ...given('--profiles', plan.profiles.join(',')),
    ...given('--steps', rangeText(plan.steps)),
    ...given('--seed', plan.seed),
    ...given('--grader', grader),
    ...given('--format', format.name),
    ...flag('--allow-eval-seeds', plan.allowEvalSeeds),
    ...given('--output', file),
  ]);

/** Writes the rows of a shard as JSON lines, unless the shard is complete. */
async function runGrpoShard(
  plan: DatasetPlan,
  options: GrpoOptions & { readonly shard: Shard },
  signal: AbortSignal,
): Promise<void> {
  const { output: path, format, shard, backend, kernel, threads } = options;
  checkShardFile('--output', path, formatOf('--output', path, format) ?? LINES);
  checkOutput('--output', path);
  const job = grpoJob(plan, options.grader);
  const { first, end } = partOf(plan.rows, shard, 'rows');
  const file = { job, shard, path, part: `rows ${first}-${end - 1}`, option: '--output' };
  async function* pieces() {
    for await (const rows of grpoRowsAsync(plan, { backend, kernel, threads }, undefined, { first, end }))
      yield { text: rows.map((row) => `${JSON.stringify(row)}\n`).join(''), work: rows.length };
  }
  await writeShard(file, { unit: 'rows', total: end - first, row: 'row' }, pieces(), signal);
}

/** Returns the job of a plan. @param grader the value of --grader without its folder, for the card. */
const grpoJob = (plan: DatasetPlan, grader: string): DatasetJob =>
  createJob<DatasetJob>('dataset', plan.grader, {
    dataset: 'grpo',
    rows: plan.rows,
    seeds: plan.seeds,
    profiles: plan.profiles,
    steps: plan.steps,
    seed: plan.seed,
    allow_eval_seeds: plan.allowEvalSeeds,
    grader,
  });

/** Returns the plan of a job. */
export function planOf({ grader, options }: DatasetJob): DatasetPlan {
  const { rows, seeds, profiles, steps, seed, allow_eval_seeds: allowEvalSeeds } = options;
  return { rows, seeds, profiles, steps, seed, grader, allowEvalSeeds };
}
