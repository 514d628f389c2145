/** What a grader pays for, as the ranking under it shows. */
import type { PolicyComponents, Standing } from '../../../src/evaluate/ranking.js';
import { type Interval, intervalOf } from '../../../src/evaluate/statistics.js';
import { regrade } from '../../../src/graders/regrade.js';
import { COMPONENT_NAMES, NUM_COMPONENTS } from '../../../src/world/fields.js';
import { contestant } from './contestants.js';

/** How the best that infers stands to the best that infers nothing. */
export interface Verdict {
  /** 'ignorance': the best that infers does not lead. Else 'part' if some that infer are beaten, 'inference' if none is. */
  readonly pays: 'inference' | 'part' | 'ignorance';
  /** The best of those that infer, and of those that do not. */
  readonly inferring: string;
  readonly ignoring: string;
  /** By how much the former leads the latter: the mean of paired differences, with its 95 % interval. */
  readonly lead: Interval;
  /** Those that infer and that `ignoring` leads, surely so: the 95 % interval says it. The best first. */
  readonly beaten: readonly Beaten[];
}

export interface Beaten {
  readonly name: string;
  /** By how much it is beaten. */
  readonly by: Interval;
  /** Which weight takes most of that from it, of COMPONENT_NAMES, and how much. */
  readonly mostly: { readonly component: string; readonly part: number };
}

/** @param ranking under these six weights, of CONTESTANTS and whoever else. */
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

/** [6]: means over episodes. @param components f32 [n, 6]. */
export function meansOf(components: Float32Array): number[] {
  const sums = Array<number>(NUM_COMPONENTS).fill(0);
  components.forEach((component, i) => {
    sums[i % NUM_COMPONENTS] += component;
  });
  return sums.map((sum) => sum / (components.length / NUM_COMPONENTS));
}
