/**
 * Groups the grades of stored trajectories by condition and policy. A condition's policies must have the same episodes in the
 * same order.
 */

import { policyName } from '../agents/policies/fixed-policies.js';
import { BUILTIN_POLICIES } from '../agents/policies/stepped-policies.js';
import { floatsOf } from '../engine/graders/grader.js';
import { finalScore } from '../engine/reference/grade.js';
import type { StoredCondition, StoredPolicy } from '../evaluation/regrade-stored.js';
import {
  type StoredFinal,
  type TrajectoryEpisode,
  teacherName,
} from '../rollouts/trajectories/trajectory-episode.js';
import { float32Decimal } from '../shared/float32-decimal.js';
import { BadRow } from '../shared/row-schemas.js';
import { describeProfiles } from '../world/conditions.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../world/fields.js';

type PolicyFields = Pick<StoredPolicy, 'policy' | 'belief' | 'sequenceGrader' | 'oracle'>;

/** The end of the name of a policy with the constant belief. */
const CONSTANT = '+constant';

/** Returns the fields that describe an episode's policy. */
function policyOf({ grader, model, oracle, steps, ...player }: TrajectoryEpisode): PolicyFields {
  const name = teacherName({ ...player, model });
  const builtin = BUILTIN_POLICIES.find((each) => each.name === name);
  const policy = name.endsWith(CONSTANT) ? name.slice(0, -CONSTANT.length) : name;
  const statesBelief = model !== null || steps.some(({ belief }) => belief !== null);
  const belief = policy === name ? (statesBelief ? 'own' : 'none') : 'constant';
  return {
    ...{ policy, oracle },
    belief: builtin?.belief ?? belief,
    sequenceGrader: builtin?.sequenceGrader(grader.name) ?? null,
  };
}

/** Returns the components of an episode's grade. @throws BadRow if the score is not that of the components. */
function componentsOf({ grader, final }: TrajectoryEpisode): Float32Array {
  const components = Float32Array.from(COMPONENT_NAMES, (component) => final[component as keyof StoredFinal]);
  const graded = finalScore(floatsOf(grader.weights), components);
  if (graded === final.final_score) return components;
  throw new BadRow(
    `final.final_score: Expected ${float32Decimal(graded)}, the score of the components under grader ${grader.name}, ` +
      `got ${float32Decimal(final.final_score)}. The numbers in the file were changed; write it again.`,
  );
}

/** Collects episodes, by condition. */
export class StoredEpisodes {
  readonly #conditions = new Map<string, ConditionRows>();

  /**
   * Adds an episode.
   * @throws BadRow if its score is not that of its components, if the seeds of a profile do not ascend, or if two policies have
   *   their episodes in different orders.
   */
  add(episode: TrajectoryEpisode): void {
    const { condition } = episode;
    const rows = this.#conditions.get(condition) ?? new ConditionRows(condition);
    this.#conditions.set(condition, rows);
    rows.add(episode);
  }

  /** Returns the conditions in order of appearance. @throws BadRow if a policy lacks an episode that another policy has. */
  conditions(): StoredCondition[] {
    return Array.from(this.#conditions.values(), (condition) => condition.stored());
  }
}

/** The rows of one condition. */
class ConditionRows {
  readonly #name: string;
  /** By the name of a policy: its fields, and its results in rows of the components, the MAE and the means of both halves. */
  readonly #policies = new Map<string, { readonly fields: PolicyFields; readonly results: FloatRows }>();
  /** The profiles and seeds of the episodes, in the order that all policies must have. */
  readonly #profiles: string[] = [];
  readonly #seeds: number[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  add(episode: TrajectoryEpisode): void {
    const { belief_mae, early_mean, late_mean } = episode.final;
    const row = [...componentsOf(episode), belief_mae, early_mean, late_mean];
    const fields = policyOf(episode);
    const name = policyName(fields);
    const policy = this.#policies.get(name) ?? { fields, results: new FloatRows(row.length) };
    this.#policies.set(name, policy);
    this.#checkEpisode(name, policy.results.length, episode.profile_mode, episode.seed);
    policy.results.push(row);
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
      this.#refuse(
        `"${name}" to continue with ${this.#episodeAt(index)}, as another policy does`,
        episodeText(profile, seed),
      );
    }
  }

  /** Requires the seeds of a profile to ascend, so that no episode repeats. */
  #requireNew(profile: string, seed: number): void {
    const before = this.#profiles.lastIndexOf(profile);
    if (before < 0 || this.#seeds[before] < seed) return;
    this.#refuse(`ascending seeds of profile ${profile}`, `${seed} after ${this.#seeds[before]}`);
  }

  #episodeAt(index: number): string {
    return episodeText(this.#profiles[index], this.#seeds[index]);
  }

  #refuse(expected: string, got: string): never {
    throw new BadRow(
      `Expected ${expected}, in condition "${this.#name}", got ${got}. Keep the episodes that eval --trajectories writes, in their order.`,
    );
  }

  stored(): StoredCondition {
    for (const [name, { results }] of this.#policies) {
      if (results.length === this.#seeds.length) continue;
      const missing = this.#episodeAt(results.length);
      this.#refuse(`"${name}" to have ${missing}, as another policy has`, 'the end of the file');
    }
    return {
      condition: this.#name,
      seeds: `${this.#seeds[0]}-${this.#seeds[this.#seeds.length - 1]}`,
      profiles: describeProfiles(this.#profiles),
      policies: Array.from(this.#policies.values(), ({ fields, results }) => ({
        ...fields,
        components: results.columns(0, NUM_COMPONENTS),
        beliefMae: results.columns(NUM_COMPONENTS),
        firstHalfMeans: results.columns(NUM_COMPONENTS + 1),
        secondHalfMeans: results.columns(NUM_COMPONENTS + 2),
      })),
    };
  }
}

const episodeText = (profile: string, seed: number): string => `seed ${seed} (${profile})`;

/** A growing list of rows of float32 numbers. */
class FloatRows {
  readonly #width: number;
  #values: Float32Array;
  /** The number of rows. */
  length = 0;

  constructor(width: number) {
    this.#width = width;
    this.#values = new Float32Array(64 * width);
  }

  push(row: readonly number[]): void {
    const start = this.length++ * this.#width;
    if (start === this.#values.length) {
      const grown = new Float32Array(2 * start);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values.set(row, start);
  }

  /** Returns `count` neighbouring columns, f32 [length, count]. */
  columns(first: number, count = 1): Float32Array {
    const columns = new Float32Array(this.length * count);
    for (let i = 0; i < this.length; i++) {
      const start = i * this.#width + first;
      columns.set(this.#values.subarray(start, start + count), i * count);
    }
    return columns;
  }
}
