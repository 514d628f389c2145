/** `rhythm-vec replay`: scores stored episodes again. */

import type { Command } from 'commander';
import { type Grader, graderWeights } from '../engine/graders/grader.js';
import { counted } from '../evaluation/format-results.js';
import { ResizableAnyEnv } from '../rollouts/resizable-env.js';
import { BadRow } from '../shared/row-schemas.js';
import { SCHEMAS } from '../shared/schemas.js';
import { EXIT } from './command-errors.js';
import type { Context } from './context.js';
import { checkOutput } from './files/check-outputs.js';
import { checkedStream, checkKind, KINDS } from './files/file-kind.js';
import { checkNotGrader, readGrader } from './files/grader-file.js';
import { checkDifferentFile, checkInput, inputName, openInput, withProgress } from './files/input-file.js';
import { printable, readLines } from './files/lines.js';
import { openOutput } from './files/output-file.js';
import { parseRow, type ReplayRow, replayRows } from './replay-rows.js';
import { addEngineOptions, checkEngineOptions, type EngineOptions } from './shared-options.js';

interface Options extends EngineOptions {
  readonly input: string;
  readonly output: string;
  readonly grader?: string;
  readonly skipBad: boolean;
}

const HELP = `
Each input line is one JSON object; profile, beliefs and grader are optional:
  {"seed":0,"profile":"sampled","actions":["sleep","deep_work"],"beliefs":[null,[0.5,0.5,0.5]],"grader":"v2"}
  actions are 1 to 28 names; profile is sampled, discrete or a name; grader is v1, v2, v3, eight weights that sum to 1
  or {"name":...,"weights":{...}} as in a grader file. --grader replaces the grader of every row.
  A row may state its world and schema: "world_digest", as \`rhythm-vec info\` prints it, and
  "schema":${JSON.stringify(SCHEMAS.episode)}. A row of another world or schema is invalid.
Output lines are in the same order:
  {"seed":0,"profile":"sampled","belief_target":[...],"steps":[{"action":"sleep","event":null,...},...],"final":null}
  final holds the grade of an episode of 28 actions, and is null for fewer actions.
Invalid rows are reported with their line and left out. The exit code is then 1, or 0 with --skip-bad.

Examples:
  echo '{"seed":0,"actions":["sleep","deep_work"]}' > episodes.jsonl
  rhythm-vec replay --input episodes.jsonl --output scored.jsonl
  rhythm-vec replay --input episodes.jsonl --output scored.jsonl --grader v1
  gzip episodes.jsonl
  zcat episodes.jsonl.gz | rhythm-vec replay --input - --output - --skip-bad | gzip > scored.jsonl.gz
`;

export function defineReplay(command: Command, { signal }: Context): void {
  command
    .requiredOption('--input <file>', 'episodes, one JSON object per line; - is the standard input')
    .requiredOption('--output <file>', 'the file to write; - is the standard output')
    .option('--grader <name|file>', 'v1, v2, v3 or a grader file; replaces the grader of every row')
    .option('--skip-bad', 'exit with 0 even if rows were invalid', false);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const { invalid } = await runReplay(options, signal);
      if (invalid > 0 && !options.skipBad) process.exitCode = EXIT.failure;
    });
}

async function runReplay(options: Options, signal: AbortSignal): Promise<ReplayCounts> {
  checkEngineOptions(options);
  const accepted = { option: '--input', kinds: [KINDS.episodes] };
  checkInput('--input', options.input);
  checkKind('--input', options.input, accepted.kinds);
  checkOutput('--output', options.output);
  checkDifferentFile('--output', options.output, '--input', options.input);
  checkNotGrader('--output', options.output, options.grader);
  const grader = options.grader === undefined ? null : await readGrader(options.grader);
  const input = openInput(options.input, signal);
  const output = await openOutput(options.output);
  const name = inputName(options.input);
  try {
    const counts = await replayStream({
      input: checkedStream(withProgress(options.input, input), { ...accepted, name }),
      write: (text) => output.write(text),
      report: (line, reason) => process.stderr.write(`${name}:${line}: ${printable(reason)}\n`),
      engine: options,
      grader: grader && graderWeights(grader),
      signal,
    });
    await output.commit();
    process.stderr.write(`${summary(counts, grader)}\n`);
    return counts;
  } finally {
    input.destroy();
    await output.discard();
  }
}

function summary({ valid, invalid }: ReplayCounts, grader: Grader | null): string {
  const replayed = `${counted(valid, 'row')} replayed${grader === null ? '' : ` under grader ${grader.name}`}`;
  return invalid === 0 ? `${replayed}.` : `${replayed}, ${counted(invalid, 'row')} invalid and left out.`;
}

export interface ReplayStream {
  readonly input: AsyncIterable<Uint8Array>;
  /** Receives complete lines with line ends. */
  readonly write: (text: string) => Promise<void>;
  /** Called for every invalid row with the line's number, from 1 on, and the reason. */
  readonly report: (line: number, reason: string) => void;
  readonly engine: EngineOptions;
  /** f32 [8]: replaces the grader of every row. Default: null, each row's own grader. */
  readonly grader?: Float32Array | null;
  readonly signal?: AbortSignal;
  /** The number of rows replayed together; changes no result. Default 4096. */
  readonly batchSize?: number;
}

/** The numbers of valid and invalid rows. */
export interface ReplayCounts {
  valid: number;
  invalid: number;
}

/** The default of `batchSize`. Chosen by hand: more rows take more memory. */
const BATCH = 4096;
/** The maximum length of a line in bytes: twenty times the length of a row with all keys. */
export const MAX_LINE_BYTES = 65536;
/** The approximate number of characters that are written at a time. Chosen by hand: fewer need more writes. */
const PIECE = 2 ** 20;

/** Replays every valid row in order, and reports every invalid one. Skips blank lines. @throws the signal's reason. */
export async function replayStream(stream: ReplayStream): Promise<ReplayCounts> {
  const { input, report, engine, grader = null, signal, batchSize = BATCH } = stream;
  const { backend, kernel, threads } = engine;
  await using envs = new ResizableAnyEnv({ backend, kernel, threads });
  // A missing backend is reported before any row is read.
  await envs.of(1);
  const counts: ReplayCounts = { valid: 0, invalid: 0 };
  let rows: ReplayRow[] = [];
  const flush = async () => {
    signal?.throwIfAborted();
    if (rows.length > 0) await writeAll(replayRows(envs, rows), stream);
    rows = [];
  };
  for await (const { number, text, problem } of readLines(input, MAX_LINE_BYTES)) {
    if (text?.trim() === '') continue;
    const row = text === null ? new BadRow(problem) : tryRow(text);
    if (row instanceof BadRow) {
      counts.invalid++;
      report(number, row.message);
    } else {
      counts.valid++;
      rows.push(grader === null ? row : { ...row, grader });
    }
    if (rows.length === batchSize) await flush();
  }
  await flush();
  return counts;
}

function tryRow(text: string): ReplayRow | BadRow {
  try {
    return parseRow(text);
  } catch (error) {
    if (error instanceof BadRow) return error;
    throw error;
  }
}

async function writeAll(texts: AsyncIterable<string>, { write, signal }: ReplayStream): Promise<void> {
  let piece = '';
  for await (const text of texts) {
    piece += `${text}\n`;
    if (piece.length < PIECE) continue;
    signal?.throwIfAborted();
    await write(piece);
    piece = '';
  }
  await write(piece);
}
