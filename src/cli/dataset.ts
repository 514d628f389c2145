/** `rhythm-vec dataset`: rows to train on. */
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { cardText, fileOfCard, isCard } from '../dataset/card.js';
import { FORMATS, type RowFormat } from '../dataset/formats.js';
import { type DatasetOptions, type DatasetPlan, MIX, rangeText, toPlan } from '../dataset/options.js';
import { provenanceOf } from '../dataset/provenance.js';
import { grpoRows } from '../dataset/rows.js';
import { RowTally } from '../dataset/tally.js';
import { PROFILE_NAMES } from '../world/fields.js';
import type { Context } from './context.js';
import { UsageError } from './failure.js';
import {
  addEngineOptions,
  checkEngineOptions,
  type EngineOptions,
  parseInteger,
  parseNames,
  parseSeeds,
} from './options.js';
import { checkOutput, type Output, openOutput, stat } from './output-file.js';
import { createProgress } from './progress.js';

interface Options extends EngineOptions, DatasetOptions {
  readonly format?: string;
  readonly output: string;
}

const FORMAT_NAMES = FORMATS.map(({ name }) => name);

const HELP = `
A row is a prompt and what replays it:
  {"messages":[{"role":"system","content":...},{"role":"user","content":...}],"seed":8000,"profile_mode":"sampled",
   "step_index":2,"action_history":["sleep","deep_work"],"policy":"random"}
States are reached by a mix of policies (random, heuristic, blind tape, deviations from them, habits); no person, week and
time come up again before all have. The card, README.md beside the rows, has their shares, the columns, how to train on
them, and the command: the same one gives the same bytes on every machine, and a longer dataset begins with a shorter one.
Profiles: sampled, discrete, ${PROFILE_NAMES.join(', ')}; ${MIX} is sampled,discrete.
  Those named come up equally often.
Seeds 0-99 and from 10000 on are kept for evaluation: they are refused, unless --allow-eval-seeds says that it is meant.

Examples:
  mkdir grpo grpo-late
  rhythm-vec dataset grpo --rows 3000 --output grpo/train.jsonl
  rhythm-vec dataset grpo --rows 3000 --profiles mix --steps 8-27 --seed 1 --output grpo-late/train.parquet
`;

export function addDatasetCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('dataset')
    .description('Write rows to train on: see "dataset grpo".')
    .addHelpText('after', '\nExample:\n  rhythm-vec dataset grpo --help\n')
    .command('grpo')
    .description(
      'Write rows for GRPO: prompts of diverse states, and what replays them, as JSON lines or Parquet.',
    )
    .requiredOption('--rows <n>', 'how many', parseInteger)
    .requiredOption('--output <file>', 'where they go, whole or not at all; the card goes beside it')
    .addOption(new Option('--format <name>', "default: by the file's name").choices(FORMAT_NAMES))
    .option('--seeds <A-B>', 'of the weeks (default: 100-9999)', parseSeeds)
    .option('--profiles <names>', 'comma-separated: whose weeks (default: sampled)', parseNames)
    .option('--steps <A-B>', 'steps taken before a row (default: 0-27)', parseSteps)
    .option('--seed <n>', 'of the draw (default: 0)', parseInteger)
    .option('--allow-eval-seeds', 'let --seeds hold seeds that results are reported on; the card says so');
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action((options: Options) => runGrpo(options, signal));
}

async function runGrpo(options: Options, signal: AbortSignal): Promise<void> {
  checkEngineOptions(options);
  const plan = toPlan(options);
  const format = formatOf(options);
  const paths = { rows: options.output, card: join(dirname(options.output), 'README.md') };
  checkPaths(paths);
  const outputs: Output[] = [];
  const open = async (path: string) => {
    const output = await openOutput(path);
    outputs.push(output);
    return output;
  };
  try {
    const rows = await open(paths.rows);
    const tally = await writeRows(rows, plan, format, options, signal);
    const card = await open(paths.card);
    const file = basename(paths.rows);
    const command = commandOf(plan, format, file);
    await card.write(cardText({ provenance: provenanceOf(plan), tally, file, command }));
    signal.throwIfAborted();
    for (const output of outputs) await output.commit();
  } finally {
    for (const output of outputs) await output.discard();
  }
  process.stderr.write(
    `${plan.rows} ${plan.rows === 1 ? 'row' : 'rows'} in ${paths.rows}, its card in ${paths.card}.\n`,
  );
}

async function writeRows(
  output: Output,
  plan: DatasetPlan,
  format: RowFormat,
  engine: EngineOptions,
  signal: AbortSignal,
): Promise<RowTally> {
  const progress = createProgress('rows');
  const tally = new RowTally(plan);
  try {
    const encoder = await format.open(provenanceOf(plan));
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
function formatOf({ format, output }: Options): RowFormat {
  const ending = extname(output).slice(1).toLowerCase();
  const named = FORMATS.find(({ name }) => name === ending);
  const asked = FORMATS.find(({ name }) => name === format) ?? named;
  if (asked === undefined) {
    const endings = FORMAT_NAMES.map((name) => `.${name}`).join(' or ');
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
    `--output ${/^[\w.-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`}`,
  ];
  return `rhythm-vec dataset grpo ${options.join(' ')}`;
}

/** "8-27" as a range of steps; which there are is checked with the other options. */
function parseSteps(text: string): { first: number; last: number } {
  const match = /^(\d{1,2})-(\d{1,2})$/.exec(text);
  const [first, last] = match?.slice(1).map(Number) ?? [];
  if (match !== null && first <= last) return { first, last };
  throw new InvalidArgumentError('Expected A-B, two integers from 0 to 27 with A not above B, such as 8-27.');
}
