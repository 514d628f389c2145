/** What a sweep's figures say: from which size on threads pay. */

export interface Cell {
  readonly name: string;
  readonly threads: number;
  readonly episodes: number;
  /** Null where the timer was too coarse. */
  readonly nsPerStep: number | null;
  /** Whole episodes. */
  readonly episodesPerSecond: number | null;
}

export interface Pays {
  readonly name: string;
  readonly threads: number;
  /** The sizes at which so many threads pay. */
  readonly episodes: readonly number[];
}

/** Threads pay where they reach this many times the rate of one: less is in the noise. */
export const PAYS = 1.1;

/** For each way of playing and each number of threads above one. */
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
