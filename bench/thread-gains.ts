/** Finds the batch sizes of a sweep at which threads pay off. */

/** The figures of a case at one size and number of threads. */
export interface SweepCell {
  readonly name: string;
  readonly threads: number;
  readonly episodes: number;
  /** Null if the timer was too coarse. */
  readonly nsPerStep: number | null;
  /** Whole episodes per second; null if the timer was too coarse. */
  readonly episodesPerSecond: number | null;
}

/** The sizes at which a number of threads pays off. */
export interface ThreadGain {
  readonly name: string;
  readonly threads: number;
  readonly episodes: readonly number[];
}

/**
 * Threads pay off if their rate is at least this multiple of the rate of one thread. Chosen by hand: a smaller gain may be
 * noise.
 */
export const MIN_GAIN = 1.1;

/** Returns the sizes at which threads pay off, for each case and number of threads above one. */
export function threadGains(cells: readonly SweepCell[]): ThreadGain[] {
  const singleThreaded = cells.filter((cell) => cell.threads === 1);
  const gains = new Map<string, { name: string; threads: number; episodes: number[] }>();
  for (const { name, threads, episodes, nsPerStep } of cells) {
    if (threads === 1) continue;
    const key = `${name} ${threads}`;
    const entry = gains.get(key) ?? { name, threads, episodes: [] };
    gains.set(key, entry);
    const single =
      singleThreaded.find((cell) => cell.name === name && cell.episodes === episodes)?.nsPerStep ?? null;
    if (single !== null && nsPerStep !== null && single / nsPerStep >= MIN_GAIN)
      entry.episodes.push(episodes);
  }
  return [...gains.values()];
}
