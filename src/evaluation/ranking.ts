/** Ranks policies under a grader, from the components of their episodes. */

import { type GraderLike, graderWeights } from '../engine/graders/grader.js';
import { checkComponents, gradeAll } from '../engine/graders/regrade.js';
import { InputError } from '../shared/errors.js';
import { type Interval, intervalOf, pairedInterval } from '../shared/statistics.js';
import { checkLength, describe, wrongType } from '../shared/values.js';

/** A policy's components by episode. All compared policies have the same seeds in the same order. */
export interface PolicyComponents {
  /** The name of the policy. */
  readonly name: string;
  /** f32 [n, 8], row-major: COMPONENT_FIELDS. */
  readonly components: Float32Array;
}

/** A policy's place in a ranking. */
export interface Standing {
  /** The name of the policy. */
  readonly policy: string;
  /** The mean final score with its 95 % interval. */
  readonly finalScore: Interval;
  /** Its lead over the next policy: the mean of paired differences with its 95 % interval. Null for the last policy. */
  readonly lead: Interval | null;
}

/** A policy and its scores under a grader. */
export interface GradedPolicy extends PolicyComponents {
  /** f32 [n]: final scores. */
  readonly scores: Float32Array;
  readonly finalScore: Interval;
}

/**
 * Sorts policies by mean final score under a grader, the best first. Equal means keep their order.
 * @throws InputError `wrong_type`; `wrong_length` for no policy, no episode or different lengths; `out_of_range` for an
 *   invalid component; `unknown_name` for a duplicate policy; as `graderWeights`.
 */
export function rankPolicies(policies: readonly PolicyComponents[], grader: GraderLike): Standing[] {
  const ranked = gradePolicies(policies, graderWeights(grader));
  return ranked.map(({ name, scores, finalScore }, place) => ({
    policy: name,
    finalScore,
    lead: place + 1 < ranked.length ? pairedInterval(scores, ranked[place + 1].scores) : null,
  }));
}

/** Returns ranked policies with their scores. @param weights f32 [8]. @throws InputError as `rankPolicies`. */
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
    throw wrongType('policies', 'a list', policies, 'Pass { name, components } of each.');
  }
  if (policies.length === 0)
    refuseLength('at least one policy', 'none', 'Pass { name, components } of each.');
  const names = new Set<string>();
  for (const { name, components } of policies) {
    const { count } = checkComponents(`components of ${describe(name)}`, components);
    if (count === 0)
      refuseLength(`at least one episode of ${describe(name)}`, 'none', 'Pass its components.');
    checkLength(
      `components of ${describe(name)}`,
      components.length,
      policies[0].components.length,
      'like the first policy',
    );
    if (names.has(name)) refuseDuplicate(name);
    names.add(name);
  }
}

function refuseLength(expected: string, got: string, remedy: string): never {
  throw new InputError('wrong_length', { expected, got, remedy });
}

function refuseDuplicate(name: string): never {
  throw new InputError('unknown_name', {
    expected: 'policies of different names',
    got: `${describe(name)} twice`,
    remedy: 'Use another name for one of the two.',
  });
}
