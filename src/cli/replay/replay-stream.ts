/** Replays a stream of stored episodes batch by batch, and writes their scores. */
import { BadRow } from '../../shared/row-schemas.js';
import { readLines } from '../files/lines.js';
import type { EngineOptions } from '../shared-options.js';
import { Replayer } from './replay-batch.js';
import { parseRow, type ReplayRow } from './replay-row.js';

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
  await using replayer = await Replayer.open(engine);
  const counts: ReplayCounts = { valid: 0, invalid: 0 };
  let rows: ReplayRow[] = [];
  const flush = async () => {
    signal?.throwIfAborted();
    if (rows.length > 0) await writeAll(await replayer.replay(rows), stream);
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

async function writeAll(texts: Iterable<string>, { write, signal }: ReplayStream): Promise<void> {
  let piece = '';
  for (const text of texts) {
    piece += `${text}\n`;
    if (piece.length < PIECE) continue;
    signal?.throwIfAborted();
    await write(piece);
    piece = '';
  }
  await write(piece);
}
