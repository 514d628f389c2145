/** What a line says otherwise than its replay. */

export type StoredValue = string | number | boolean | null;

export interface Mismatch {
  /** Steps taken before; null for what is no step's. */
  readonly step: number | null;
  /** "observation.meters[2]", "final.progress", ... */
  readonly field: string;
  readonly recorded: StoredValue;
  readonly recomputed: StoredValue;
}

/** "step 4, reward", "final.progress": where it is, for people. */
export const whereOf = ({ step, field }: Mismatch): string =>
  step === null ? field : `step ${step}, ${field}`;

/** Gathers the mismatches of one episode. */
export class Comparison {
  readonly mismatches: Mismatch[] = [];
  /** Of the step that is compared. */
  step: number | null = null;

  /** Bit for bit: -0 is no 0, and no NaN passes. */
  same(field: string, recorded: StoredValue, recomputed: StoredValue): void {
    if (Object.is(recorded, recomputed)) return;
    this.mismatches.push({ step: this.step, field, recorded, recomputed });
  }

  /** A text, shown from where the two part. */
  sameText(field: string, recorded: string | null, recomputed: string | null): void {
    if (recorded === recomputed) return;
    const from = Math.max(0, firstDifference(recorded ?? '', recomputed ?? '') - BEFORE);
    const shown = (text: string | null) =>
      text && `${from > 0 ? '...' : ''}${text.slice(from, from + SHOWN)}`;
    this.same(field, shown(recorded), shown(recomputed));
  }

  /** @param names of the numbers. @param from where the recomputed ones begin. */
  sameNumbers(
    names: readonly string[],
    recorded: readonly number[],
    recomputed: ArrayLike<number>,
    from = 0,
  ): void {
    for (let k = 0; k < names.length; k++) {
      if (!Object.is(recorded[k], recomputed[from + k]))
        this.same(names[k], recorded[k], recomputed[from + k]);
    }
  }

  /** By key. */
  sameObject(field: string, recorded: object, recomputed: object): void {
    const values = recorded as Record<string, StoredValue>;
    for (const [key, value] of Object.entries(recomputed)) this.same(`${field}.${key}`, values[key], value);
  }
}

/** Of a text: enough to see what differs, and of what is before it. */
const SHOWN = 60;
const BEFORE = 20;

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}
