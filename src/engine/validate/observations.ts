/** Validates raw numbers of observations. */
import type { Field } from '../../world/fields.js';

/** Fields of integers: codes and counts. */
const INTEGERS = ['step', 'day', 'slot', 'remaining', 'event', 'last_action'];

/** Neighbouring numbers of a row with the same bounds. */
interface Section {
  /** The index after the last number. */
  readonly end: number;
  readonly low: number;
  readonly high: number;
}

/** Divides the numbers of a row into sections. */
function sectionsOf(fields: readonly Field[]): readonly Section[] {
  const isLast = ({ low, high }: Field, at: number) =>
    low !== fields[at + 1]?.low || high !== fields[at + 1].high;
  return fields.flatMap((field, at) =>
    isLast(field, at) ? [{ end: at + 1, low: field.low, high: field.high }] : [],
  );
}

/** Checks rows of numbers against the bounds of their fields. */
export class RowRules {
  readonly #names: readonly string[];
  readonly #lows: Float64Array;
  readonly #highs: Float64Array;
  readonly #isInteger: Uint8Array;
  readonly #sections: readonly Section[];
  /** The indices of the integers in a row. */
  readonly #integers: Uint8Array;

  /** Takes the bounds and the kinds of numbers from fields. @param fields the field of each number of a row. */
  constructor(fields: readonly Field[]) {
    this.#names = fields.map(({ name }) => name);
    this.#lows = Float64Array.from(fields, ({ low }) => low);
    this.#highs = Float64Array.from(fields, ({ high }) => high);
    this.#isInteger = Uint8Array.from(fields, ({ name }) => Number(INTEGERS.includes(name)));
    this.#sections = sectionsOf(fields);
    this.#integers = Uint8Array.from([...this.#isInteger.keys()].filter((at) => this.#isInteger[at] === 1));
  }

  /** Returns the index of the first invalid number in the row at `base`, or -1. NaN is invalid. */
  firstWrong(rows: Float32Array, base: number): number {
    if (this.#isValid(rows, base)) return -1;
    return this.#lows.findIndex((low, at) => {
      const value = rows[base + at];
      const isWithin = value >= low && value <= this.#highs[at];
      return !isWithin || (this.#isInteger[at] === 1 && !Number.isInteger(value));
    });
  }

  /** Returns whether all numbers of a row are valid, faster than a search for the invalid one. */
  #isValid(rows: Float32Array, base: number): boolean {
    let at = 0;
    for (let k = 0; k < this.#sections.length; k++) {
      const { end, low, high } = this.#sections[k];
      for (; at < end; at++) {
        const value = rows[base + at];
        if (!(value >= low && value <= high)) return false;
      }
    }
    for (let k = 0; k < this.#integers.length; k++) {
      const value = rows[base + this.#integers[k]];
      if (value !== Math.floor(value)) return false;
    }
    return true;
  }

  nameOf(at: number): string {
    return this.#names[at];
  }

  /**
   * Returns the expected values, for an error: "an integer from 0 to 28 (step)".
   * @param more text after the field's name.
   */
  expectedAt(at: number, more = ''): string {
    const kind = this.#isInteger[at] === 1 ? 'an integer' : 'a number';
    return `${kind} from ${this.#lows[at]} to ${this.#highs[at]} (${this.#names[at]}${more})`;
  }
}

/** Returns the field of each number of a row. @param times the number of consecutive copies of each field. */
export const fieldOfEach = (fields: readonly Field[], times = 1): Field[] =>
  fields.flatMap((field) => Array<Field>(times * field.size).fill(field));
