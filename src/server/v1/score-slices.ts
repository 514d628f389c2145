/** Scores the rows of a request slice by slice, from JSON and from binary frames alike. */
import type { RowFault } from '../../rollouts/replay/row-faults.js';
import type { ReplayScores } from '../../rollouts/replay/score-replay.js';
import type { StackSettings } from '../../rollouts/rewards/compute-rewards.js';
import type { ParsedCompletion } from '../../rollouts/text/parse-completions.js';
import { ParsedColumns } from './parsed-columns.js';
import { SCORE_NAMES, ScoreColumns } from './score-columns.js';

/** The scores of some rows. */
export interface ScoredSlice {
  readonly scores: ReplayScores;
  /** The invalid rows. Indices and messages have the row numbers of the request. */
  readonly faults: readonly RowFault[];
  /** The parsed completions if the rows have completions; null for a row without text. */
  readonly answers?: readonly (ParsedCompletion | null)[];
}

/** The rows of a request. */
export interface RowSource {
  /** The number of rows. */
  readonly rows: number;
  /** Returns the end (excluded) of the slice from row `from` on. @param limit the maximum number of rows. */
  endOf(from: number, limit: number): number;
  /** Scores rows `from` up to `to` (excluded). @throws InvalidRequestError. */
  score(from: number, to: number): ScoredSlice;
}

/** What to compute for each row. */
export interface ScoreChoice {
  readonly scores?: readonly string[];
  /** Whether to keep the parsed completions. */
  readonly parsed?: boolean;
}

/** The scores of all rows. */
export interface Scored {
  readonly columns: ScoreColumns;
  readonly parsed: ParsedColumns | null;
  /** The invalid rows of each slice that has some. */
  readonly faulty: readonly FaultySlice[];
}

/** The faults of a slice. */
export interface FaultySlice {
  readonly count: number;
  /** Returns the faults as JSON, without brackets. Scores the slice again if its JSON was not kept (MAX_KEPT). */
  readonly text: () => string;
}

/** The maximum number of rows per turn of the event loop: about four milliseconds of work. */
const SLICE = 2048;
/**
 * The maximum for the first turn, and for a turn after many invalid rows: an error message takes longer than a score. For any
 * other turn the maximum is twice that of the turn before, at most SLICE.
 */
const FAULTY_SLICE = 128;
/**
 * The maximum number of characters of error messages in memory. Chosen by hand: with fewer, more messages are computed twice.
 */
const MAX_KEPT = 2 ** 22;

/** Scores all rows. @param turn awaited before each slice. @throws InvalidRequestError as `RowSource.score`. */
export async function scoreSlices(
  source: RowSource,
  { scores = SCORE_NAMES, parsed }: ScoreChoice,
  settings: StackSettings,
  turn: () => Promise<void>,
): Promise<Scored> {
  const { rows } = source;
  const columns = new ScoreColumns(rows, scores, settings);
  const kept = parsed ? new ParsedColumns(rows) : null;
  const faulty: FaultySlice[] = [];
  let keptLength = 0;
  let size = FAULTY_SLICE;
  for (let from = 0, to = 0; from < rows; from = to) {
    await turn();
    to = source.endOf(from, size);
    const slice = source.score(from, to);
    columns.put(slice.scores, from);
    slice.answers?.forEach((answer, k) => {
      if (answer !== null) kept?.put(from + k, answer);
    });
    const { length: count } = slice.faults;
    if (count > 0) {
      const text = textOf(slice);
      keptLength += text.length;
      const again = [from, to] as const;
      faulty.push({ count, text: keptLength < MAX_KEPT ? () => text : () => textOf(source.score(...again)) });
    }
    size = count > FAULTY_SLICE / 2 ? FAULTY_SLICE : Math.min(2 * size, SLICE);
  }
  return { columns, parsed: kept, faulty };
}

const textOf = ({ faults }: ScoredSlice): string => JSON.stringify(faults).slice(1, -1);

/** Runs `act` without recording the stacks of errors. Recording them takes half of the time of creating thousands of errors. */
export function withoutStacks<T>(act: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
