/** Counts episodes of former worlds (versions of the world with fewer components), and describes how they were compared. */

import { NUM_COMPONENTS } from '../../world/fields.js';
import { FORMER_WORLDS, type FormerWorld } from '../../world/former-worlds.js';
import { counted } from '../format-results.js';

/** The number of episodes of each former world. */
export class FormerEpisodes {
  readonly #counts = new Map<FormerWorld, number>();

  /** Adds an episode if it is of a former world. @param digest the digest of its world. */
  add(digest: string): void {
    const world = FORMER_WORLDS.get(digest);
    if (world !== undefined) this.#counts.set(world, (this.#counts.get(world) ?? 0) + 1);
  }

  /** The number of episodes by version of the world. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(Array.from(this.#counts, ([{ version }, count]) => [version, count]));
  }

  /** A sentence for each former world. */
  get sentences(): string[] {
    return Array.from(this.#counts, ([world, count]) => {
      const episodes = `${counted(count, 'episode')} ${count === 1 ? 'is' : 'are'} of ${worldText(world)}.`;
      return `${episodes} Its rules are those of this world. Only its ${world.numComponents} components were compared.`;
    });
  }
}

/** Names a former world: "world 1.0.0 (6 of 8 components)". */
export const worldText = ({ version, numComponents }: FormerWorld): string =>
  `world ${version} (${numComponents} of ${NUM_COMPONENTS} components)`;
