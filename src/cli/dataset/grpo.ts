/** The work of `rhythm-vec dataset grpo`: rows, and the card beside them. */

import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { cardText, fileOfCard } from '../../dataset/card.js';
import { isCard } from '../../dataset/card-parts.js';
import { FORMATS, type RowFormat } from '../../dataset/formats.js';
import { type DatasetOptions, type DatasetPlan, toPlan } from '../../dataset/options.js';
import { provenanceOf } from '../../dataset/provenance.js';
import { GRPO_COLUMNS, grpoRows } from '../../dataset/rows.js';
import { rangeText } from '../../dataset/seeds.js';
import { GrpoTally } from '../../dataset/tally.js';
import { counted } from '../../evaluate/figures.js';
import { UsageError } from '../failure.js';
import { checkOutput, type Output, Outputs, stat } from '../files/output-file.js';
import { checkEngineOptions, type EngineOptions } from '../options.js';
import { createProgress } from '../progress.js';
import { shellWord } from '../shell-word.js';

export interface GrpoOptions extends EngineOptions, DatasetOptions {
  readonly format?: string;
  readonly output: string;
}

/**
 * Writes both files, or neither.
 * @throws UsageError for paths and formats; InputError for a plan that cannot be; the signal's reason.
 */
export async function runGrpo(options: GrpoOptions, signal: AbortSignal): Promise<void> {
  checkEngineOptions(options);
  const plan = toPlan(options);
  const format = formatOf(options);
  const paths = { rows: options.output, card: join(dirname(options.output), 'README.md') };
  checkPaths(paths);
  await using outputs = new Outputs();
  const rows = await outputs.open(paths.rows);
  const tally = await writeRows(rows, plan, format, options, signal);
  const card = await outputs.open(paths.card);
  const file = basename(paths.rows);
  const command = commandOf(plan, format, file);
  await card.write(cardText({ provenance: provenanceOf(plan), tally, file, command }));
  signal.throwIfAborted();
  await outputs.commit();
  process.stderr.write(`${counted(plan.rows, 'row')} in ${paths.rows}, its card in ${paths.card}.\n`);
}

async function writeRows(
  output: Output,
  plan: DatasetPlan,
  format: RowFormat,
  engine: EngineOptions,
  signal: AbortSignal,
): Promise<GrpoTally> {
  const progress = createProgress('rows');
  const tally = new GrpoTally(plan);
  try {
    const encoder = await format.open(provenanceOf(plan), GRPO_COLUMNS);
    let done = 0;
    for (const rows of grpoRows(plan, engine)) {
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

/** The format asked for, else the one that the file's name ends with: readers go by that. */
function formatOf({ format, output }: GrpoOptions): RowFormat {
  const ending = extname(output).slice(1).toLowerCase();
  const named = FORMATS.find(({ name }) => name === ending);
  const asked = FORMATS.find(({ name }) => name === format) ?? named;
  if (asked === undefined) {
    const endings = FORMATS.map(({ name }) => `.${name}`).join(' or ');
    throw new UsageError(
      `Expected --output to end with ${endings}, got ${output}. Name it so, or add --format.`,
    );
  }
  if (named !== undefined && named !== asked) {
    throw new UsageError(
      `Expected --output to end with .${asked.name}, as --format says, got ${output}. Leave out one of them.`,
    );
  }
  return asked;
}

/** Refuses, before any work is done, what could not be written, and a README.md that is another's or another dataset's. */
function checkPaths({ rows, card }: { rows: string; card: string }): void {
  checkOutput('--output', rows);
  const there = stat(rows);
  const name = basename(there === null ? rows : realpathSync(rows)).toLowerCase();
  if (rows === '-' || (there !== null && !there.isFile()) || name === 'readme.md') {
    throw new UsageError(
      `Expected --output to name a file beside which its card, README.md, can stand, got ${rows}. Name another.`,
    );
  }
  const beside = stat(card);
  if (beside === null || (beside.isFile() && isFree(readFileSync(card, 'utf8'), rows))) return;
  throw new UsageError(
    `Expected ${card} to be free for the card, or to be that of ${rows}, got another. Give --output a folder of its own.`,
  );
}

/** Whether the card of rows may replace a README.md: one of these rows, or of rows that are gone. */
function isFree(text: string, rows: string): boolean {
  if (!isCard(text)) return false;
  const file = fileOfCard(text);
  return file === null || file === basename(rows) || stat(join(dirname(rows), file)) === null;
}

/** What makes the dataset again, whatever was left to defaults. */
function commandOf(plan: DatasetPlan, format: RowFormat, file: string): string {
  const options = [
    `--rows ${plan.rows}`,
    `--seeds ${rangeText(plan.seeds)}`,
    `--profiles ${plan.profiles.join(',')}`,
    `--steps ${rangeText(plan.steps)}`,
    `--seed ${plan.seed}`,
    `--format ${format.name}`,
    ...(plan.allowEvalSeeds ? ['--allow-eval-seeds'] : []),
    `--output ${shellWord(file)}`,
  ];
  return `rhythm-vec dataset grpo ${options.join(' ')}`;
}
