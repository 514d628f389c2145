/** Stores parsed completions of all rows, four bytes each, and writes them as JSON. */
import { z } from 'zod';
import { NO_ACTION } from '../../engine/validate/actions.js';
import { BELIEF_OF_DIGIT, type ParsedCompletion } from '../../rollouts/text/parse-completions.js';
import { ACTION_NAMES, NUM_BELIEFS } from '../../world/fields.js';
import { numberText } from '../protocol/number-text.js';
import { SLICE } from './array-text.js';

/** The columns of a response. */
export const PARSED_COLUMNS = {
  actions: z
    .array(z.enum(ACTION_NAMES).nullable())
    .describe('the name of the action of each row; null for none'),
  codes: z.array(z.int()).describe('the action code of each row; -1 for none'),
  beliefs: z
    .array(z.array(z.number()).length(NUM_BELIEFS).nullable())
    .describe('social, morning, work in [0, 1]; null for no belief'),
};

const NO_DIGIT = -1;
/** The JSON text of the belief that each digit stands for. */
const LEVELS = Array.from(BELIEF_OF_DIGIT, numberText);

export class ParsedColumns {
  /** i8 [rows]: action codes, NO_ACTION for none. */
  readonly codes: Int8Array;
  /** The digits of beliefs, [rows, 3]; NO_DIGIT for none. */
  readonly #digits: Int8Array;

  constructor(rows: number) {
    this.codes = new Int8Array(rows).fill(NO_ACTION);
    this.#digits = new Int8Array(rows * NUM_BELIEFS).fill(NO_DIGIT);
  }

  /** Stores a row. */
  put(row: number, { action, digits }: ParsedCompletion): void {
    this.codes[row] = action ?? NO_ACTION;
    if (digits !== null) this.#digits.set(digits, row * NUM_BELIEFS);
  }

  /** Returns the beliefs of rows `from` up to `to` (excluded), f32 [n, 3]; NaN for none. */
  beliefs(from: number, to: number): Float32Array {
    const digits = this.#digits.subarray(from * NUM_BELIEFS, to * NUM_BELIEFS);
    return Float32Array.from(digits, (digit) => (digit === NO_DIGIT ? Number.NaN : BELIEF_OF_DIGIT[digit]));
  }

  /**
   * Yields the pieces of a JSON object of the columns, without its braces.
   * @param turn awaited before each SLICE of rows, so that other requests get their turn.
   */
  async *text(turn: () => Promise<void>): AsyncGenerator<string> {
    yield* this.#column('"actions":', turn, (row) => {
      const code = this.codes[row];
      return code === NO_ACTION ? 'null' : `"${ACTION_NAMES[code]}"`;
    });
    yield* this.#column(',"codes":', turn, (row) => String(this.codes[row]));
    yield* this.#column(',"beliefs":', turn, (row) => {
      const [social, morning, work] = this.#digits.subarray(row * NUM_BELIEFS, (row + 1) * NUM_BELIEFS);
      return social === NO_DIGIT ? 'null' : `[${LEVELS[social]},${LEVELS[morning]},${LEVELS[work]}]`;
    });
  }

  async *#column(
    head: string,
    turn: () => Promise<void>,
    entry: (row: number) => string,
  ): AsyncGenerator<string> {
    const rows = this.codes.length;
    yield `${head}[`;
    for (let from = 0; from < rows; from += SLICE) {
      await turn();
      const texts = Array.from({ length: Math.min(SLICE, rows - from) }, (_, k) => entry(from + k));
      yield (from === 0 ? '' : ',') + texts.join();
    }
    yield ']';
  }
}
