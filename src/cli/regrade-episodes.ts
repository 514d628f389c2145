/**
 * Groups the grades of stored trajectories by condition and policy. A condition's policies must have the same episodes in the
 * same order.
 */

import { type BeliefKind, policyName } from '../agents/policies/fixed-policies.js';
import { BUILTIN_POLICIES } from '../agents/policies/stepped-policies.js';
import { floatsOf } from '../engine/graders/grader.js';
import { finalScore } from '../engine/reference/grade.js';
import type { StoredCondition } from '../evaluation/regrade-stored.js';
import {
  type StoredFinal,
  type TrajectoryEpisode,
  teacherName,
} from '../rollouts/trajectories/trajectory-episode.js';
import { float32Decimal } from '../shared/float32-decimal.js';
import { BadRow } from '../shared/row-schemas.js';
import { describeProfiles } from '../world/conditions.js';
import { COMPONENT_NAMES } from '../world/fields.js';

/** The grade of one episode of a policy. */
interface GradedRow {
  readonly condition: string;
  readonly policy: string;
  readonly belief: BeliefKind;
  readonly sequenceGrader: string | null;
  readonly oracle: boolean;
  readonly profile: string;
  readonly seed: number;
  /** f32 [8]. */
  readonly components: Float32Array;
  readonly beliefMae: number;
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
}

/** The end of the name of a policy with the constant belief. */
const CONSTANT = '+constant';

/** Returns the grade of an episode. @throws BadRow if its score is not that of its components. */
function rowOf(episode: TrajectoryEpisode): GradedRow {
  const { condition, profile_mode: profile, seed, oracle, grader, final, steps } = episode;
  const name = teacherName(episode);
  const builtin = BUILTIN_POLICIES.find((each) => each.name === name);
  const policy = name.endsWith(CONSTANT) ? name.slice(0, -CONSTANT.length) : name;
  const statesBelief = episode.model !== null || steps.some(({ belief }) => belief !== null);
  const belief = policy === name ? (statesBelief ? 'own' : 'none') : 'constant';
  const components = Float32Array.from(COMPONENT_NAMES, (component) => final[component as keyof StoredFinal]);
  const graded = finalScore(floatsOf(grader.weights), components);
  if (graded !== final.final_score) {
    throw new BadRow(
      `final.final_score: Expected ${float32Decimal(graded)}, the score of the components under grader ${grader.name}, ` +
        `got ${float32Decimal(final.final_score)}. The numbers in the file were changed; write it again.`,
    );
  }
  return {
    ...{ condition, policy, oracle, profile, seed, components },
    belief: builtin?.belief ?? belief,
    sequenceGrader: builtin?.sequenceGrader(grader.name) ?? null,
    beliefMae: final.belief_mae,
    firstHalfMean: final.early_mean,
    secondHalfMean: final.late_mean,
  };
}

/** Collects episodes, by condition. */
export class StoredEpisodes {
  readonly #conditions = new Map<string, ConditionRows>();

  /**
   * Adds an episode.
   * @throws BadRow if the seeds of a profile do not ascend, or if two policies have their episodes in different orders.
   */
  add(episode: TrajectoryEpisode): void {
    const row = rowOf(episode);
    let condition = this.#conditions.get(row.condition);
    if (condition === undefined) {
      condition = new ConditionRows(row.condition);
      this.#conditions.set(row.condition, condition);
    }
    condition.add(row);
  }

  /** Returns the conditions in order of appearance. @throws BadRow if a policy lacks an episode that another policy has. */
  conditions(): StoredCondition[] {
    return Array.from(this.#conditions.values(), (condition) => condition.stored());
  }
}

/** The results of one policy, by episode. `GradedRow` describes the fields. */
interface Column {
  readonly policy: string;
  readonly belief: BeliefKind;
  readonly sequenceGrader: string | null;
  readonly oracle: boolean;
  readonly components: Floats;
  readonly beliefMae: Floats;
  readonly firstHalfMeans: Floats;
  readonly secondHalfMeans: Floats;
}

/** The rows of one condition. */
class ConditionRows {
  readonly #name: string;
  readonly #policies = new Map<string, Column>();
  /** The profiles and seeds of the episodes, in the order that all policies must have. */
  readonly #profiles: string[] = [];
  readonly #seeds: number[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  add({ policy, belief, sequenceGrader, oracle, profile, seed, ...results }: GradedRow): void {
    const name = policyName({ policy, belief });
    let column = this.#policies.get(name);
    if (column === undefined) {
      column = { policy, belief, sequenceGrader, oracle, ...emptyColumns() };
      this.#policies.set(name, column);
    }
    this.#checkEpisode(name, column.beliefMae.length, profile, seed);
    column.components.push(results.components);
    column.beliefMae.push([results.beliefMae]);
    column.firstHalfMeans.push([results.firstHalfMean]);
    column.secondHalfMeans.push([results.secondHalfMean]);
  }

  /**
   * Checks that all policies have the same episode at an index. Appends the episode if no policy has reached this index
   * before.
   */
  #checkEpisode(name: string, index: number, profile: string, seed: number): void {
    if (index === this.#seeds.length) {
      this.#requireNew(profile, seed);
      this.#profiles.push(profile);
      this.#seeds.push(seed);
    } else if (this.#profiles[index] !== profile || this.#seeds[index] !== seed) {
      const expected = episode(this.#profiles[index], this.#seeds[index]);
      this.#refuse(`"${name}" to continue with ${expected}, as another policy does`, episode(profile, seed));
    }
  }

  /** Requires the seeds of a profile to ascend, so that no episode repeats. */
  #requireNew(profile: string, seed: number): void {
    const before = this.#profiles.lastIndexOf(profile);
    if (before < 0 || this.#seeds[before] < seed) return;
    this.#refuse(`ascending seeds of profile ${profile}`, `${seed} after ${this.#seeds[before]}`);
  }

  #refuse(expected: string, got: string): never {
    throw new BadRow(
      `Expected ${expected}, in condition "${this.#name}", got ${got}. Keep the episodes that eval --trajectories writes, in their order.`,
    );
  }

  stored(): StoredCondition {
    for (const [name, { beliefMae }] of this.#policies) {
      const { length } = beliefMae;
      if (length === this.#seeds.length) continue;
      const missing = episode(this.#profiles[length], this.#seeds[length]);
      this.#refuse(`"${name}" to have ${missing}, as another policy has`, 'the end of the file');
    }
    return {
      condition: this.#name,
      seeds: `${this.#seeds[0]}-${this.#seeds[this.#seeds.length - 1]}`,
      profiles: describeProfiles(this.#profiles),
      policies: Array.from(
        this.#policies.values(),
        ({ components, beliefMae, firstHalfMeans, secondHalfMeans, ...what }) => ({
          ...what,
          firstHalfMeans: firstHalfMeans.values(),
          secondHalfMeans: secondHalfMeans.values(),
          components: components.values(),
          beliefMae: beliefMae.values(),
        }),
      ),
    };
  }
}

const emptyColumns = () => ({
  components: new Floats(),
  beliefMae: new Floats(),
  firstHalfMeans: new Floats(),
  secondHalfMeans: new Floats(),
});

const episode = (profile: string, seed: number): string => `seed ${seed} (${profile})`;

/** A growing Float32Array. */
class Floats {
  #values = new Float32Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(values: ArrayLike<number>): void {
    const length = this.#length + values.length;
    if (length > this.#values.length) {
      const grown = new Float32Array(Math.max(length, 2 * this.#values.length));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values.set(values, this.#length);
    this.#length = length;
  }

  values(): Float32Array {
    return this.#values.slice(0, this.#length);
  }
}
