/** Finds the batch sizes from which on threads pay off in a sweep. */

export interface Cell {
  readonly name: string;
  readonly threads: number;
  readonly episodes: number;
  /** Null if the timer was too coarse. */
  readonly nsPerStep: number | null;
  /** Of whole episodes. */
  readonly episodesPerSecond: number | null;
}

export interface Pays {
  readonly name: string;
  readonly threads: number;
  /** The sizes at which this number of threads pays off. */
  readonly episodes: readonly number[];
}

/** Threads pay off at this multiple of the rate of one thread; smaller gains are noise. */
export const PAYS = 1.1;

/** Returns the sizes at which threads pay off, for each case and number of threads above one. */
export function payingSizes(cells: readonly Cell[]): Pays[] {
  const alone = cells.filter((cell) => cell.threads === 1);
  const pays = new Map<string, { name: string; threads: number; episodes: number[] }>();
  for (const { name, threads, episodes, nsPerStep } of cells) {
    if (threads === 1) continue;
    const key = `${name} ${threads}`;
    const entry = pays.get(key) ?? { name, threads, episodes: [] };
    pays.set(key, entry);
    const one = alone.find((cell) => cell.name === name && cell.episodes === episodes)?.nsPerStep ?? null;
    if (one !== null && nsPerStep !== null && one / nsPerStep >= PAYS) entry.episodes.push(episodes);
  }
  return [...pays.values()];
}
