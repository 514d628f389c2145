/** Accumulates the cost of a player's episodes, and counts steps without a valid action. */
import type { TrajectoryEpisode, Usage } from '../rollouts/trajectories/trajectory-episode.js';

/** The keys of a stored `usage` that are summed: requests, tokens and dollars. */
export const USAGE_KEYS = ['requests', 'prompt_tokens', 'completion_tokens', 'cost_usd'] as const;
type Key = (typeof USAGE_KEYS)[number];

/** The cost of a player's episodes. */
export interface Spending {
  readonly steps: number;
  /** The number of steps without a valid action in the answer. */
  readonly unparsed: number;
  /** The number of episodes with usage. */
  readonly metered: number;
  /** Means over the episodes that have the number; null if no episode has it. */
  readonly perEpisode: Readonly<Record<Key, number | null>>;
  /** Sums over the same episodes. */
  readonly total: Readonly<Record<Key, number | null>>;
}

/** The sums of one player. */
export class SpendingTally {
  #steps = 0;
  #unparsed = 0;
  #metered = 0;
  readonly #sums = new Map<Key, { sum: number; count: number }>();

  add({ steps, usage }: Pick<TrajectoryEpisode, 'steps' | 'usage'>): void {
    this.#steps += steps.length;
    this.#unparsed += steps.filter(({ parsed }) => !parsed).length;
    if (usage !== undefined && this.#addUsage(usage)) this.#metered++;
  }

  /** Adds usage. Returns whether the usage has any number. */
  #addUsage(usage: Usage): boolean {
    const presentKeys = USAGE_KEYS.filter((key) => usage[key] !== undefined);
    for (const key of presentKeys) {
      const { sum, count } = this.#sums.get(key) ?? { sum: 0, count: 0 };
      this.#sums.set(key, { sum: sum + usage[key]!, count: count + 1 });
    }
    return presentKeys.length > 0;
  }

  summary(): Spending {
    const summarize = (value: (sums: { sum: number; count: number }) => number) =>
      Object.fromEntries(
        USAGE_KEYS.map((key) => {
          const sums = this.#sums.get(key);
          return [key, sums === undefined ? null : value(sums)];
        }),
      ) as Record<Key, number | null>;
    return {
      steps: this.#steps,
      unparsed: this.#unparsed,
      metered: this.#metered,
      perEpisode: summarize(({ sum, count }) => sum / count),
      total: summarize(({ sum }) => sum),
    };
  }
}
