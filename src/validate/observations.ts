/** Raw numbers of observations, as environments show them: what each may be. */
import type { Field } from '../world/fields.js';

/** Fields of which every number is whole: codes and counts. */
const WHOLE = ['step', 'day', 'slot', 'remaining', 'event', 'last_action'];

/** The rules of a row of numbers, by the field of each. */
export class RowRules {
  readonly #names: readonly string[];
  readonly #lows: Float64Array;
  readonly #highs: Float64Array;
  readonly #whole: Uint8Array;

  /** @param fields one after the other, each as many times as it has numbers. */
  constructor(fields: readonly Field[]) {
    this.#names = fields.map(({ name }) => name);
    this.#lows = Float64Array.from(fields, ({ low }) => low);
    this.#highs = Float64Array.from(fields, ({ high }) => high);
    this.#whole = Uint8Array.from(fields, ({ name }) => Number(WHOLE.includes(name)));
  }

  /** The place in the row at `base` of the first number that no observation holds, NaN among them; -1 if all are fine. */
  firstWrong(rows: Float32Array, base: number): number {
    for (let at = 0; at < this.#lows.length; at++) {
      const value = rows[base + at];
      const within = value >= this.#lows[at] && value <= this.#highs[at];
      if (!within || (this.#whole[at] === 1 && !Number.isInteger(value))) return at;
    }
    return -1;
  }

  nameOf(at: number): string {
    return this.#names[at];
  }

  /** What an error expects there: "an integer from 0 to 28 (step)". @param more is said behind the name. */
  expectedAt(at: number, more = ''): string {
    const kind = this.#whole[at] === 1 ? 'an integer' : 'a number';
    return `${kind} from ${this.#lows[at]} to ${this.#highs[at]} (${this.#names[at]}${more})`;
  }
}

/** The field of each number, where each has `times` rows of its size, one after the other. */
export const fieldOfEach = (fields: readonly Field[], times = 1): Field[] =>
  fields.flatMap((field) => Array<Field>(times * field.size).fill(field));
