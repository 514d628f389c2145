/** A set of episodes, by profile mode and seed. */
import { describeProfiles } from '../../world/conditions.js';
import type { EpisodeIdentity } from './baselines.js';

/** The maximum number of seed ranges in a description. Chosen by hand: more make a table's title too long. */
const MAX_RANGES = 3;

/** A set of episodes. */
export class EpisodeSet {
  readonly #seeds = new Map<string, Set<number>>();

  add({ profile_mode, seed }: EpisodeIdentity): void {
    const seeds = this.#seeds.get(profile_mode) ?? new Set();
    this.#seeds.set(profile_mode, seeds);
    seeds.add(seed);
  }

  /** The profiles of the episodes, as `describeProfiles` describes them. */
  get profiles(): string {
    return describeProfiles(this.#seeds.keys());
  }

  sameAs(other: EpisodeSet): boolean {
    if (this.#seeds.size !== other.#seeds.size) return false;
    return [...this.#seeds].every(([profile, seeds]) => {
      const others = other.#seeds.get(profile);
      return others?.size === seeds.size && [...seeds].every((seed) => others.has(seed));
    });
  }

  /** Describes the seeds: "0-99, 200-299"; with more than three ranges, "500 from 0 to 9999". */
  get text(): string {
    const all = new Set([...this.#seeds.values()].flatMap((seeds) => [...seeds]));
    const sorted = Uint32Array.from(all).sort();
    const starts = Array.from(sorted.keys()).filter((i) => i === 0 || sorted[i] !== sorted[i - 1] + 1);
    if (starts.length > MAX_RANGES)
      return `${sorted.length} from ${sorted[0]} to ${sorted[sorted.length - 1]}`;
    const runs = starts.map((from, k) => [sorted[from], sorted[(starts[k + 1] ?? sorted.length) - 1]]);
    return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
  }
}
