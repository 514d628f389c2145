/** Describes the differences between a stored episode and its replay. */

import { float32Decimal } from '../../shared/float32-decimal.js';

/** A value of a stored episode. */
export type StoredValue = string | number | boolean | null;

/** A field whose stored value differs from the recomputed value. */
export interface Mismatch {
  /** The step; null for fields outside steps. */
  readonly step: number | null;
  /** "observation.meters[2]", "final.progress", ... */
  readonly field: string;
  readonly recorded: StoredValue;
  readonly recomputed: StoredValue;
}

/** Formats the place of a mismatch: "step 4, reward", "final.progress". */
export const whereOf = ({ step, field }: Mismatch): string =>
  step === null ? field : `step ${step}, ${field}`;

/** Gathers the mismatches of one episode. */
export class Comparison {
  readonly mismatches: Mismatch[] = [];
  /** The step whose fields are compared; null for fields outside steps. */
  step: number | null = null;

  /** Compares values exactly: -0 differs from 0. */
  compare(field: string, recorded: StoredValue, recomputed: StoredValue): void {
    if (Object.is(recorded, recomputed)) return;
    this.mismatches.push({
      step: this.step,
      field,
      recorded: withDecimal(recorded),
      recomputed: withDecimal(recomputed),
    });
  }

  /** Compares texts. A mismatch has an excerpt around the first difference. */
  compareText(field: string, recorded: string | null, recomputed: string | null): void {
    if (recorded === recomputed) return;
    const from = Math.max(0, firstDifference(recorded ?? '', recomputed ?? '') - BEFORE);
    const excerpt = (text: string | null) =>
      text && `${from > 0 ? '...' : ''}${text.slice(from, from + EXCERPT)}`;
    this.compare(field, excerpt(recorded), excerpt(recomputed));
  }

  /** Compares numbers. @param names [n]: their fields. @param from the index of the first recomputed number. */
  compareNumbers(
    names: readonly string[],
    recorded: readonly number[],
    recomputed: ArrayLike<number>,
    from = 0,
  ): void {
    for (let k = 0; k < names.length; k++) this.compare(names[k], recorded[k], recomputed[from + k]);
  }

  /** Compares the values of all keys of the recomputed object. */
  compareObject(field: string, recorded: object, recomputed: object): void {
    const values = recorded as Record<string, StoredValue>;
    for (const [key, value] of Object.entries(recomputed))
      this.compare(`${field}.${key}`, values[key], value);
  }
}

/** Returns a float32 as its shortest decimal, and other values unchanged. */
const withDecimal = (value: StoredValue): StoredValue =>
  typeof value === 'number' ? float32Decimal(value) : value;

/** The maximum length of an excerpt in characters, without the dots before it. Chosen by hand, to keep lines short. */
const EXCERPT = 60;
/** The number of characters of an excerpt before the first difference. Chosen by hand. */
const BEFORE = 20;

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}
