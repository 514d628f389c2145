/** The weeks that a player has played: each once, whichever order they come in. */
import type { Week } from './baselines.js';

/** How many runs of seeds a name lists. */
const LISTED = 3;

export class Weeks {
  readonly #seeds = new Map<string, Set<number>>();

  add({ profile_mode, seed }: Week): void {
    const seeds = this.#seeds.get(profile_mode) ?? new Set();
    this.#seeds.set(profile_mode, seeds);
    seeds.add(seed);
  }

  /** Whose they are: one kind of person's, or 'named' for those of several. */
  get profiles(): string {
    const [first, ...others] = this.#seeds.keys();
    return others.length === 0 ? first : 'named';
  }

  sameAs(other: Weeks): boolean {
    if (this.#seeds.size !== other.#seeds.size) return false;
    return [...this.#seeds].every(([profile, seeds]) => {
      const others = other.#seeds.get(profile);
      return others?.size === seeds.size && [...seeds].every((seed) => others.has(seed));
    });
  }

  /** "0-99"; of many runs of seeds the ends, and how many. */
  get text(): string {
    const all = new Set([...this.#seeds.values()].flatMap((seeds) => [...seeds]));
    const sorted = Uint32Array.from(all).sort();
    const starts = Array.from(sorted.keys()).filter((i) => i === 0 || sorted[i] !== sorted[i - 1] + 1);
    if (starts.length > LISTED) return `${sorted.length} from ${sorted[0]} to ${sorted[sorted.length - 1]}`;
    const runs = starts.map((from, k) => [sorted[from], sorted[(starts[k + 1] ?? sorted.length) - 1]]);
    return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
  }
}
