/** The runner of all measurements: the timer, statistics, progress, and samples that are taken in turn. */
import { Bench } from 'tinybench';

/** Nanoseconds of a monotonic clock. core/core.ts measures the processor's clock. */
export const now = (): number => Number(process.hrtime.bigint());

/** Returns the value below which a share of the values lies. @throws RangeError for no values. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('Expected at least one value, got none.');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(values.length * share))];
}

/** Returns the median; of an even number of values, the greater of the two middle values. @throws RangeError for no values. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Returns half the distance between the quartiles, divided by the median. */
export const spreadOf = (values: readonly number[]): number =>
  (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / median(values);

/** Returns the timer's resolution in nanoseconds. */
export function timerTick(): number {
  const ticks = Array.from({ length: 100 }, () => {
    const start = now();
    let end = start;
    while (end === start) end = now();
    return end - start;
  });
  return median(ticks);
}

/** The minimum of a measured time, in ticks of the timer, so that a tick is at most 1 % of it. A shorter time is void. */
export const MIN_TICKS = 100;

/** Returns a time in nanoseconds; null if it is void. */
export const orVoid = (ns: number, tick: number): number | null => (ns < MIN_TICKS * tick ? null : ns);

/** Shows progress on one line of a terminal; '' clears it. */
export function showProgress(what: string): void {
  const { isTTY, columns } = process.stderr;
  if (isTTY) process.stderr.write(`\r\x1b[K${what.slice(0, columns - 1)}`);
}

/** Shows progress, and yields to the event loop, so that signals are handled. */
export function progress(what: string): Promise<void> {
  showProgress(what);
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Takes a sample of each case in every round, so that a slow moment of the machine does not slow down one case alone.
 * @param titleOf names a case in the progress. @param take takes a sample of the case with this index.
 * @returns the samples of each case.
 */
export async function inTurn<Case, Sample>(
  cases: readonly Case[],
  rounds: number,
  titleOf: (each: Case) => string,
  take: (each: Case, index: number, round: number) => Sample | Promise<Sample>,
): Promise<Sample[][]> {
  const samples: Sample[][] = cases.map(() => []);
  for (let round = 1; round <= rounds; round++) {
    for (const [k, each] of cases.entries()) {
      await progress(`${titleOf(each)}, round ${round} of ${rounds}`);
      samples[k].push(await take(each, k, round));
    }
  }
  return samples;
}

/** Returns the nanoseconds that some work takes. */
export async function timeOf(work: () => unknown): Promise<number> {
  const start = now();
  await work();
  return now() - start;
}

/** The length of a sample. */
export interface Length {
  /** The minimum number of plays. */
  readonly plays: number;
  /** The minimum duration in milliseconds. */
  readonly ms: number;
}

/** Work that is timed: `begin` is not timed, and prepares `play`. */
export interface Playable {
  begin(): void;
  play(): void;
}

/** Returns the nanoseconds of one play: the median of several plays. */
export function timePlay(work: Playable, { plays, ms }: Length): number {
  const options = { time: ms, iterations: plays, warmup: false, throws: true, now: () => now() / 1e6 };
  const bench = new Bench(options);
  bench.add('play', () => work.play(), { async: false, beforeEach: () => work.begin() });
  const [{ result }] = bench.runSync();
  if (result.state !== 'completed') throw new Error(`Expected a play to complete, got: ${result.state}.`);
  return result.latency.p50 * 1e6;
}
