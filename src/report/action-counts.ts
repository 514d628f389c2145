/** How often each action was taken, by whose weeks they were. */
import type { ActionUse } from '../pictures/actions.js';
import { ACTION_NAMES, NUM_ACTIONS, NUM_STEPS } from '../world/fields.js';
import { PERSON_GROUPS } from './person.js';

/** A group's row; its name says how many weeks there are. */
export interface CountedUse extends ActionUse {
  readonly group: string;
  readonly weeks: number;
}

export class ActionTally {
  readonly #counts = new Map<string, Float64Array>();

  /** @param actions [28], by name. @param groups which it counts for. */
  add(actions: readonly string[], groups: readonly string[]): void {
    for (const group of groups) {
      const counts = this.#counts.get(group) ?? new Float64Array(NUM_ACTIONS);
      this.#counts.set(group, counts);
      for (const action of actions) counts[ACTION_NAMES.indexOf(action)]++;
    }
  }

  /** Those that there are, in the order of PERSON_GROUPS. */
  summary(): CountedUse[] {
    return PERSON_GROUPS.flatMap((group) => {
      const counts = this.#counts.get(group);
      if (counts === undefined) return [];
      const steps = counts.reduce((sum, count) => sum + count, 0);
      const weeks = steps / NUM_STEPS;
      return [{ group, weeks, name: `${group} (${weeks})`, shares: counts.map((count) => count / steps) }];
    });
  }
}
