/** Computes table rows from samples. */

/**
 * The minimum median time of a row's samples, in ticks of the timer, so that a tick is at most 1 % of it. A row with a lower
 * median is void.
 */
export const MIN_TICKS = 100;
/** The report names a row if its `core` is below this share. Chosen by hand. */
export const MIN_CORE = 0.8;

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

/** The least work that a step demands of the core, and the core's rates for it. */
export interface Demand {
  /** Operations of the rules (operations.ts); null if they are not counted. */
  readonly operationsPerStep: number | null;
  /** Bytes of outputs and state that a step writes. */
  readonly writtenPerStep: number;
  /** Bytes per nanosecond that the core stores in a buffer about as large as the batch. */
  readonly store: number;
  /** The best rate of this run, in operations per nanosecond. */
  readonly best: number;
}

export interface Row extends Subject {
  /** Whether the row is void because the timer was too coarse. */
  readonly saturated: boolean;
  /** Wall time, the median over the rounds; null in a void row. */
  readonly nsPerStep: number | null;
  /** Half the distance between the quartiles of the wall time, divided by the median; null in a void row. */
  readonly spread: number | null;
  /** Cycles of the processor's clock, measured with each sample; null in a void row, or if not measured. */
  readonly cyclesPerStep: number | null;
  /**
   * The share of the bound: the least time of a step, divided by its measured time. The least time is the longer of two: for
   * the operations of the rules, and for the written bytes. Null in a void row, and where the least time is not known.
   */
  readonly share: number | null;
  /** Which of the two times of `share` is the longer one; null without a share. */
  readonly boundBy: 'operations' | 'bytes' | null;
  /** The median `rate` of the samples, divided by the best rate in this run; null in a void row, or if not measured. */
  readonly core: number | null;
}

/** The time of playing all episodes once. */
export interface Sample {
  readonly ns: number;
  readonly cycles: number | null;
  /** The core's rate in operations per nanosecond, measured before and after the sample; null if not measured. */
  readonly rate: number | null;
}

/** Returns the median; of an even number of values, the greater of the two middle values. @throws RangeError for no values. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Returns the value below which a share of the values lies. @throws RangeError for no values. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('Expected at least one value, got none.');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(values.length * share))];
}

/** Returns half the distance between the quartiles, divided by the median. */
export const spreadOf = (values: readonly number[]): number =>
  (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / median(values);

const VOID = { nsPerStep: null, spread: null, cyclesPerStep: null, share: null, boundBy: null, core: null };

/**
 * Computes a row.
 * @param steps the number of steps of a sample, over all episodes. @param tick the timer's resolution, in nanoseconds.
 * @param demand null if the core's rates were not measured.
 */
export function toRow(
  subject: Subject,
  samples: readonly Sample[],
  steps: number,
  tick: number,
  demand: Demand | null = null,
): Row {
  const times = samples.map((sample) => sample.ns);
  const ns = median(times);
  if (ns < MIN_TICKS * tick) return { ...subject, saturated: true, ...VOID };
  const cycles = samples.flatMap((sample) => sample.cycles ?? []);
  return {
    ...subject,
    saturated: false,
    nsPerStep: ns / steps,
    spread: spreadOf(times),
    cyclesPerStep: cycles.length === samples.length ? median(cycles) / steps : null,
    ...boundOf(samples, steps, demand),
  };
}

function boundOf(samples: readonly Sample[], steps: number, demand: Demand | null) {
  const none = { share: null, boundBy: null };
  const rates = samples.flatMap((sample) => sample.rate ?? []);
  if (demand === null || rates.length < samples.length) return { ...none, core: null };
  const { operationsPerStep, writtenPerStep, store, best } = demand;
  const core = median(rates) / best;
  if (operationsPerStep === null) return { ...none, core };
  const operations = median(samples.map(({ ns, rate }) => (operationsPerStep * steps) / rate! / ns));
  const bytes = (writtenPerStep * steps) / store / median(samples.map(({ ns }) => ns));
  return {
    share: Math.max(operations, bytes),
    boundBy: operations >= bytes ? ('operations' as const) : ('bytes' as const),
    core,
  };
}
