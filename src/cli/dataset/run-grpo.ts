/** Runs `rhythm-vec dataset grpo`: rows and their dataset card. */

import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { counted } from '../../evaluation/format-results.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { FORMAT_NAMES } from '../../shared/row-files/file-formats.js';
import { GrpoTally, isCard } from '../../training/datasets/card-parts.js';
import { cardText, filesOfCard } from '../../training/datasets/grpo/grpo-card.js';
import {
  GRPO_COLUMNS,
  type GrpoRow,
  grpoRowsAsync,
  provenanceOf,
} from '../../training/datasets/grpo/grpo-rows.js';
import {
  type DatasetOptions,
  type DatasetPlan,
  rangeText,
  toPlan,
} from '../../training/datasets/state-sampler.js';
import { UsageError } from '../command-errors.js';
import { checkOutput, formatOf } from '../files/check-outputs.js';
import { checkNotGrader, readGrader } from '../files/grader-file.js';
import { type Output, Outputs } from '../files/output-file.js';
import { stat } from '../files/paths.js';
import { createProgress } from '../progress.js';
import type { Shard } from '../shards/shard.js';
import { checkEngineOptions, type EngineOptions } from '../shared-options.js';
import { shellWord } from '../shell-word.js';
import { runGrpoShard } from './grpo-shard.js';

export interface GrpoOptions extends EngineOptions, Omit<DatasetOptions, 'grader'> {
  readonly format?: string;
  readonly grader: string;
  readonly output: string;
  readonly shard?: Shard;
}

/**
 * Writes the rows and the card, or neither; with `shard` only the rows of the shard.
 * @throws UsageError for unusable options, paths and formats; InputError for an invalid grader or plan; the signal's reason.
 */
export async function runGrpo(options: GrpoOptions, signal: AbortSignal): Promise<void> {
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
  source: AsyncIterable<GrpoRow[]>,
  signal: AbortSignal,
): Promise<void> {
  const { format, ...paths } = checkGrpoOutput(target);
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
  source: AsyncIterable<GrpoRow[]>,
  signal: AbortSignal,
): Promise<GrpoTally> {
  const progress = createProgress('rows');
  const tally = new GrpoTally(plan);
  try {
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
  } finally {
    progress.stop();
  }
}

/**
 * Checks the file before any work is done. @returns its format, and the paths of the rows and the card.
 * @throws UsageError for unusable paths and formats.
 */
function checkGrpoOutput(target: Pick<GrpoOptions, 'output' | 'format'>): {
  readonly format: RowFormat;
  readonly rows: string;
  readonly card: string;
} {
  const format = formatOfRows(target);
  const paths = { rows: target.output, card: join(dirname(target.output), 'README.md') };
  checkPaths(paths);
  return { format, ...paths };
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
function commandOf(plan: DatasetPlan, format: RowFormat, file: string, grader: string): string {
  const options = [
    `--rows ${plan.rows}`,
    `--seeds ${rangeText(plan.seeds)}`,
    `--profiles ${plan.profiles.join(',')}`,
    `--steps ${rangeText(plan.steps)}`,
    `--seed ${plan.seed}`,
    `--grader ${shellWord(grader)}`,
    `--format ${format.name}`,
    ...(plan.allowEvalSeeds ? ['--allow-eval-seeds'] : []),
    `--output ${shellWord(file)}`,
  ];
  return `rhythm-vec dataset grpo ${options.join(' ')}`;
}
