/** From samples to a row of the table. */

/** A sample shorter than this many ticks of the timer says nothing. */
export const LEAST_TICKS = 100;

/** What a row is about. */
export interface Subject {
  readonly backend: string;
  readonly kernel: string | null;
  readonly name: string;
  readonly threads: number;
  readonly episodes: number;
  readonly layout: string;
  /** What is written for the caller. */
  readonly writes: string;
  readonly bytesPerStep: number;
}

export interface Row extends Subject {
  /** Whether the timer was too coarse: the row is void. */
  readonly saturated: boolean;
  /** Wall time, the median over the rounds; null in a void row. */
  readonly nsPerStep: number | null;
  /** The same in cycles of the clock measured beside each sample; null too where no clock could be measured. */
  readonly cyclesPerStep: number | null;
}

/** One play. */
export interface Sample {
  readonly ns: number;
  readonly cycles: number | null;
}

/** The upper one of an even number. @throws RangeError for none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('Expected at least one value, got none.');
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

/**
 * @param steps those that one play takes, of all episodes together.
 * @param tick the timer's resolution, in nanoseconds.
 */
export function toRow(subject: Subject, samples: readonly Sample[], steps: number, tick: number): Row {
  const ns = median(samples.map((sample) => sample.ns));
  if (ns < LEAST_TICKS * tick) return { ...subject, saturated: true, nsPerStep: null, cyclesPerStep: null };
  const cycles = samples.flatMap((sample) => sample.cycles ?? []);
  const cyclesPerStep = cycles.length === samples.length ? median(cycles) / steps : null;
  return { ...subject, saturated: false, nsPerStep: ns / steps, cyclesPerStep };
}
