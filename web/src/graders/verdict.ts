/** Decides from a ranking whether a grader rewards inference. */

import { regrade } from '../../../src/engine/graders/regrade.js';
import type { PolicyComponents, Standing } from '../../../src/evaluation/ranking.js';
import { type Interval, intervalOf } from '../../../src/shared/statistics.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../../../src/world/fields.js';
import { contestant } from './contestants.js';

/** Comparison of the best policy that infers with the best one that does not. */
export interface Verdict {
  /**
   * 'inference': the best policy that infers leads, and no other one that infers is beaten. 'part': it leads, and others
   * are beaten. 'ignorance': it does not lead.
   */
  readonly pays: 'inference' | 'part' | 'ignorance';
  /** The best policy that infers, and the best one that does not. */
  readonly inferring: string;
  readonly ignoring: string;
  /** The lead of the former over the latter: the mean of paired differences, with its 95 % interval. */
  readonly lead: Interval;
  /** Policies that infer and score less than `ignoring`: the 95 % interval of the difference is above 0. The best first. */
  readonly beaten: readonly Beaten[];
}

export interface Beaten {
  readonly name: string;
  /** The lead of `ignoring` over it. */
  readonly by: Interval;
  /** The component with the largest part of this lead, and that part. */
  readonly mostly: { readonly component: string; readonly part: number };
}

/** Returns the verdict. @param ranking of the policies under these weights. @param weights [6]. */
export function verdictOf(
  ranking: readonly Standing[],
  policies: readonly PolicyComponents[],
  weights: readonly number[],
): Verdict {
  const infers = ({ policy }: Standing): boolean => contestant(policy).believing === 'inference';
  const inferring = ranking.filter(infers).map(({ policy }) => policy);
  const ignoring = ranking.find((standing) => !infers(standing))!.policy;
  const componentsOf = (name: string): Float32Array =>
    policies.find((policy) => policy.name === name)!.components;
  const leadOf = (a: string, b: string): Interval => paired(componentsOf(a), componentsOf(b), weights);
  const beaten = inferring
    .map((name) => ({
      name,
      by: leadOf(ignoring, name),
      mostly: mainPart(componentsOf(ignoring), componentsOf(name), weights),
    }))
    .filter(({ by }) => (by.low ?? by.mean) > 0);
  const lead = leadOf(inferring[0], ignoring);
  const pays = lead.mean <= 0 ? 'ignorance' : beaten.length > 0 ? 'part' : 'inference';
  return { pays, ignoring, beaten, inferring: inferring[0], lead };
}

function paired(a: Float32Array, b: Float32Array, weights: readonly number[]): Interval {
  const [scores, others] = [regrade(a, weights), regrade(b, weights)];
  return intervalOf(Float64Array.from(scores, (score, i) => score - others[i]));
}

function mainPart(a: Float32Array, b: Float32Array, weights: readonly number[]): Beaten['mostly'] {
  const [mine, other] = [meansOf(a), meansOf(b)];
  const parts = COMPONENT_NAMES.map((component, k) => ({
    component,
    part: weights[k] * (mine[k] - other[k]),
  }));
  return parts.reduce((most, each) => (each.part > most.part ? each : most));
}

/** Returns the mean of each component, [6]. @param components f32 [n, 6]. */
export function meansOf(components: Float32Array): number[] {
  const sums = Array<number>(NUM_COMPONENTS).fill(0);
  components.forEach((component, i) => {
    sums[i % NUM_COMPONENTS] += component;
  });
  return sums.map((sum) => sum / (components.length / NUM_COMPONENTS));
}
