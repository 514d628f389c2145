/** What a player's episodes took, and in how many steps no action was read. */
import type { TrajectoryEpisode, Usage } from '../trajectory/episode.js';

export const USAGE_KEYS = ['requests', 'prompt_tokens', 'completion_tokens', 'cost_usd'] as const;
type Key = (typeof USAGE_KEYS)[number];

export interface Spending {
  readonly steps: number;
  readonly unparsed: number;
  /** Episodes that say what they took of anything. */
  readonly metered: number;
  /** Means over the episodes that say it, and sums over these; null where none does. */
  readonly perEpisode: Readonly<Record<Key, number | null>>;
  readonly total: Readonly<Record<Key, number | null>>;
}

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

  #addUsage(usage: Usage): boolean {
    const said = USAGE_KEYS.filter((key) => usage[key] !== undefined);
    for (const key of said) {
      const { sum, count } = this.#sums.get(key) ?? { sum: 0, count: 0 };
      this.#sums.set(key, { sum: sum + usage[key]!, count: count + 1 });
    }
    return said.length > 0;
  }

  summary(): Spending {
    const each = (value: (sums: { sum: number; count: number }) => number) =>
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
      perEpisode: each(({ sum, count }) => sum / count),
      total: each(({ sum }) => sum),
    };
  }
}
