/** Computes table rows from samples. */

/** The minimum length of a valid sample, in ticks of the timer. */
export const MIN_TICKS = 100;

/** The subject of a row. */
export interface Subject {
  readonly backend: string;
  readonly kernel: string | null;
  readonly name: string;
  readonly threads: number;
  readonly episodes: number;
  readonly layout: string;
  /** The outputs that are written for the caller. */
  readonly writes: string;
  readonly bytesPerStep: number;
}

export interface Row extends Subject {
  /** Whether the row is void because the timer was too coarse. */
  readonly saturated: boolean;
  /** Wall time, the median over the rounds; null in a void row. */
  readonly nsPerStep: number | null;
  /** Clock cycles, measured together with each sample; null in a void row or without a clock. */
  readonly cyclesPerStep: number | null;
}

/** The time of playing all episodes once. */
export interface Sample {
  readonly ns: number;
  readonly cycles: number | null;
}

/** Returns the median; for an even number of values the upper one. @throws RangeError for no values. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('Expected at least one value, got none.');
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

/** Computes a row. @param steps the number of steps of a sample, over all episodes. @param tick the timer's resolution, in nanoseconds. */
export function toRow(subject: Subject, samples: readonly Sample[], steps: number, tick: number): Row {
  const ns = median(samples.map((sample) => sample.ns));
  if (ns < MIN_TICKS * tick) return { ...subject, saturated: true, nsPerStep: null, cyclesPerStep: null };
  const cycles = samples.flatMap((sample) => sample.cycles ?? []);
  const cyclesPerStep = cycles.length === samples.length ? median(cycles) / steps : null;
  return { ...subject, saturated: false, nsPerStep: ns / steps, cyclesPerStep };
}
