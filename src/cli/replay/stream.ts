/** Stored episodes from a stream of bytes to a stream of scores, a batch at a time. */
import { BadRow } from '../../validate/rows.js';
import { readLines } from '../files/lines.js';
import type { EngineOptions } from '../options.js';
import { Replayer } from './batch.js';
import { parseRow, type ReplayRow } from './row.js';

export interface ReplayStream {
  readonly input: AsyncIterable<Uint8Array>;
  /** Takes whole lines, each with its end. */
  readonly write: (text: string) => Promise<void>;
  /** Told of every bad row: the line's number, from 1, and the reason. */
  readonly report: (line: number, reason: string) => void;
  readonly engine: EngineOptions;
  /** f32 [6]: grades every row, whatever grader it names. Null or left out: each row its own. */
  readonly grader?: Float32Array | null;
  readonly signal?: AbortSignal;
  /** Rows replayed together, which changes no result. Default 4096. */
  readonly batchSize?: number;
}

export interface ReplayCounts {
  good: number;
  bad: number;
}

const BATCH = 4096;
/** Twenty times a row with everything in it. */
export const MAX_LINE_BYTES = 65536;
/** A replayed row is long; text is handed on in pieces of about this many characters. */
const PIECE = 2 ** 20;

/** Re-scores every good row, in order, and reports every other one. Blank lines are neither. */
export async function replayStream(stream: ReplayStream): Promise<ReplayCounts> {
  const { input, report, engine, grader = null, signal, batchSize = BATCH } = stream;
  using replayer = new Replayer(engine);
  const counts: ReplayCounts = { good: 0, bad: 0 };
  let rows: ReplayRow[] = [];
  const flush = async () => {
    signal?.throwIfAborted();
    if (rows.length > 0) await writeAll(replayer.replay(rows), stream);
    rows = [];
  };
  for await (const { number, text, problem } of readLines(input, MAX_LINE_BYTES)) {
    if (text?.trim() === '') continue;
    const row = text === null ? new BadRow(problem) : tryRow(text);
    if (row instanceof BadRow) {
      counts.bad++;
      report(number, row.message);
    } else {
      counts.good++;
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
