/** Counts each player's actions, by group of profiles. */
import type { ActionUse } from '../figures/action-shares.js';
import { ACTION_NAMES, NUM_ACTIONS, NUM_STEPS } from '../world/fields.js';
import { PROFILE_GROUPS } from './profile-group.js';

/** The action shares of one group. `name` includes the number of episodes. */
export interface CountedUse extends ActionUse {
  readonly group: string;
  readonly episodes: number;
}

/** The action counts of one player, by group of profiles. */
export class ActionTally {
  readonly #counts = new Map<string, Float64Array>();

  /** Counts an episode. @param actions names, [28]. @param groups the groups of the episode's profile. */
  add(actions: readonly string[], groups: readonly string[]): void {
    for (const group of groups) {
      const counts = this.#counts.get(group) ?? new Float64Array(NUM_ACTIONS);
      this.#counts.set(group, counts);
      for (const action of actions) counts[ACTION_NAMES.indexOf(action)]++;
    }
  }

  /** Returns the groups with episodes, in the order of PROFILE_GROUPS. */
  summary(): CountedUse[] {
    return PROFILE_GROUPS.flatMap((group) => {
      const counts = this.#counts.get(group);
      if (counts === undefined) return [];
      const steps = counts.reduce((sum, count) => sum + count, 0);
      const episodes = steps / NUM_STEPS;
      return [
        { group, episodes, name: `${group} (${episodes})`, shares: counts.map((count) => count / steps) },
      ];
    });
  }
}
