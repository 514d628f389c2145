/** Which policy a grader puts before which, from components alone. */
import { InputError } from '../errors.js';
import { type GraderLike, graderWeights } from '../graders/grader.js';
import { checkComponents, gradeAll } from '../graders/regrade.js';
import { checkLength, describe } from '../validate/values.js';
import { type Interval, intervalOf } from './statistics.js';

/** What a policy earned, episode by episode. All that are compared have played the same seeds in the same order. */
export interface PolicyComponents {
  readonly name: string;
  /** f32 [n, 6], row-major: COMPONENT_FIELDS. */
  readonly components: Float32Array;
}

/** A place in a ranking. */
export interface Standing {
  readonly policy: string;
  /** The mean final score with its 95 % interval. */
  readonly finalScore: Interval;
  /** By how much it leads the next: the mean of paired differences, with its 95 % interval. Null for the last. */
  readonly lead: Interval | null;
}

/** A policy with what a grader makes of it. */
export interface GradedPolicy extends PolicyComponents {
  /** f32 [n]: final scores. */
  readonly scores: Float32Array;
  readonly finalScore: Interval;
}

/**
 * Policies by their mean final score under a grader, the best first; where means are equal, in the order given.
 * @throws InputError `wrong_type`; `wrong_length` for no policy, no episode or unlike lengths; `out_of_range` for a
 *   component that is none; `unknown_name` for a policy that is there twice; for a grader as `graderWeights`.
 */
export function rankPolicies(policies: readonly PolicyComponents[], grader: GraderLike): Standing[] {
  const ranked = gradePolicies(policies, graderWeights(grader));
  return ranked.map(({ name, scores, finalScore }, place) => ({
    policy: name,
    finalScore,
    lead: place + 1 < ranked.length ? pairedInterval(scores, ranked[place + 1].scores) : null,
  }));
}

/** Ranked policies with their scores. @param weights f32 [6]. @throws InputError as `rankPolicies`. */
export function gradePolicies(policies: readonly PolicyComponents[], weights: Float32Array): GradedPolicy[] {
  checkPolicies(policies);
  return policies
    .map(({ name, components }) => {
      const scores = gradeAll(components, weights);
      return { name, components, scores, finalScore: intervalOf(scores) };
    })
    .sort((a, b) => b.finalScore.mean - a.finalScore.mean);
}

function checkPolicies(policies: readonly PolicyComponents[]): void {
  if (!Array.isArray(policies)) {
    throw new InputError(
      'wrong_type',
      `Expected policies to be a list, got ${describe(policies)}. Pass { name, components } of each.`,
    );
  }
  if (policies.length === 0) refuseLength('at least one policy', 'none', 'Pass one.');
  const names = new Set<string>();
  for (const { name, components } of policies) {
    const { count } = checkComponents(`components of ${describe(name)}`, components);
    if (count === 0) refuseLength(`at least one episode of ${describe(name)}`, 'none', 'Pass one.');
    checkLength(
      `components of ${describe(name)}`,
      components.length,
      policies[0].components.length,
      'as the first',
    );
    if (names.has(name)) refuseTwice(name);
    names.add(name);
  }
}

function refuseLength(expected: string, got: string, remedy: string): never {
  throw new InputError('wrong_length', `Expected ${expected}, got ${got}. ${remedy}`);
}

function refuseTwice(name: string): never {
  throw new InputError(
    'unknown_name',
    `Expected policies of different names, got ${describe(name)} twice. Use another name for one of them.`,
  );
}

/** Of values that belong together: by how much one exceeds the other, with the mean's 95 % interval. */
export function pairedInterval(values: Float32Array, others: Float32Array): Interval {
  // In float64 a difference of float32s loses next to nothing.
  return intervalOf(Float64Array.from(values, (value, i) => value - others[i]));
}
