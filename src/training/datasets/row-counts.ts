/** Counts the rows of a dataset for GRPO. */

import type { DatasetPlan } from './grpo/grpo-options.js';
import type { GrpoRow } from './grpo/grpo-rows.js';
import { MIX_OF_POLICIES } from './policy-mix.js';

/** Row counts by policy, profile mode and step. Every possible value has an entry. */
export interface GrpoCounts {
  readonly policies: ReadonlyMap<string, number>;
  readonly profileModes: ReadonlyMap<string, number>;
  readonly steps: ReadonlyMap<number, number>;
}

export class GrpoTally implements GrpoCounts {
  readonly policies: Map<string, number>;
  readonly profileModes: Map<string, number>;
  readonly steps: Map<number, number>;

  constructor({ profiles, steps: { first, last } }: DatasetPlan) {
    this.policies = zeros(MIX_OF_POLICIES.map(({ name }) => name));
    this.profileModes = zeros(profiles);
    this.steps = zeros(Array.from({ length: last - first + 1 }, (_, k) => first + k));
  }

  add(rows: readonly GrpoRow[]): void {
    for (const { policy, profile_mode, step_index } of rows) {
      increase(this.policies, policy);
      increase(this.profileModes, profile_mode);
      increase(this.steps, step_index);
    }
  }
}

const zeros = <Key>(keys: readonly Key[]): Map<Key, number> => new Map(keys.map((key) => [key, 0]));

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
