/** The ranked policies, their places, and whether the grader rewards inference. */
import { regrade } from '../../../src/engine/graders/regrade.js';
import type { PolicyComponents, Standing } from '../../../src/evaluation/ranking.js';
import { type Interval, pairedInterval } from '../../../src/shared/statistics.js';
import { COMPONENT_NAMES, GRADER_NAMES, NUM_COMPONENTS } from '../../../src/world/fields.js';

export interface RankedPolicy {
  readonly name: string;
  /** The name of a fixed policy; 'student' for a student trained on the page. */
  readonly actions: string;
  /** The grader whose action sequence is played; null for other actions. */
  readonly sequenceGrader: string | null;
  /** The source of the beliefs: none, the constant belief [0.5, 0.5, 0.5], or inference from the observations. */
  readonly beliefs: 'none' | 'constant' | 'inference';
}

const SOURCES = [
  { actions: 'random', sequenceGrader: null },
  { actions: 'heuristic', sequenceGrader: null },
  ...GRADER_NAMES.map((sequenceGrader) => ({ actions: 'open-loop', sequenceGrader })),
];

/** The ranked policies without students, in the order of the tables of evaluations. */
export const RANKED_POLICIES: readonly RankedPolicy[] = (['none', 'constant', 'inference'] as const).flatMap(
  (beliefs) =>
    SOURCES.map(({ actions, sequenceGrader }) => {
      const source = sequenceGrader === null ? actions : `${actions}-${sequenceGrader}`;
      return { name: beliefs === 'none' ? source : `${source}+${beliefs}`, actions, sequenceGrader, beliefs };
    }),
);

/** Returns the ranked policy with this name. Any other name is that of a student trained on the page, which infers beliefs. */
export const rankedPolicy = (name: string): RankedPolicy =>
  RANKED_POLICIES.find((each) => each.name === name) ?? {
    name,
    actions: 'student',
    sequenceGrader: null,
    beliefs: 'inference',
  };

/** A place of the ranking, shared by policies that score exactly the same in every episode. */
export interface Place {
  /** The names of the policies. */
  readonly policies: readonly string[];
  readonly finalScore: Interval;
  /** The lead over the next place; null for the last one. */
  readonly lead: Interval | null;
}

/** Returns the places of a ranking, the best first. */
export function placesOf(ranking: readonly Standing[]): Place[] {
  const places: Place[] = [];
  let policies: string[] = [];
  for (const { policy, finalScore, lead } of ranking) {
    policies.push(policy);
    if (isTie(lead)) continue;
    places.push({ policies, finalScore, lead });
    policies = [];
  }
  return places;
}

/** Whether a lead is 0 in every episode: then its mean is 0, and its interval has no width. */
const isTie = (lead: Interval | null): boolean =>
  lead !== null && lead.mean === 0 && (lead.low ?? 0) === 0 && (lead.high ?? 0) === 0;

/** The comparison of the best policy that infers the profile with the best policy that does not. */
export interface Verdict {
  /**
   * 'inference': the best policy that infers leads, and no policy that infers is beaten. 'part': it leads, but other
   * policies that infer are beaten. 'ignorance': the best policy that infers does not lead.
   */
  readonly pays: 'inference' | 'part' | 'ignorance';
  /** The best policy that infers, and the best policy that does not. */
  readonly bestInferring: string;
  readonly bestIgnoring: string;
  /** The lead of `bestInferring` over `bestIgnoring`: the mean of paired differences, with its 95 % interval. */
  readonly lead: Interval;
  /** Policies that infer but are beaten: the 95 % interval of the lead of `bestIgnoring` lies above 0. Best first. */
  readonly beaten: readonly Beaten[];
}

export interface Beaten {
  readonly name: string;
  /** The lead of `bestIgnoring` over this policy. */
  readonly lead: Interval;
  /** The component with the largest part of this lead, and that part. */
  readonly largestPart: { readonly component: string; readonly part: number };
}

/**
 * Returns the verdict on a grader.
 * @param ranking the ranking of the policies under the weights. @param weights in the order of COMPONENT_NAMES.
 */
export function verdictOf(
  ranking: readonly Standing[],
  policies: readonly PolicyComponents[],
  weights: readonly number[],
): Verdict {
  const infers = ({ policy }: Standing): boolean => rankedPolicy(policy).beliefs === 'inference';
  const inferring = ranking.filter(infers).map(({ policy }) => policy);
  const bestIgnoring = ranking.find((standing) => !infers(standing))!.policy;
  const componentsOf = (name: string): Float32Array =>
    policies.find((policy) => policy.name === name)!.components;
  const scoresOf = (name: string): Float32Array => regrade(componentsOf(name), weights);
  const leadOf = (a: string, b: string): Interval => pairedInterval(scoresOf(a), scoresOf(b));
  const beaten = inferring
    .map((name) => ({
      name,
      lead: leadOf(bestIgnoring, name),
      largestPart: largestPartOf(componentsOf(bestIgnoring), componentsOf(name), weights),
    }))
    .filter(({ lead }) => (lead.low ?? lead.mean) > 0);
  const lead = leadOf(inferring[0], bestIgnoring);
  const pays = lead.mean <= 0 ? 'ignorance' : beaten.length > 0 ? 'part' : 'inference';
  return { pays, bestIgnoring, beaten, bestInferring: inferring[0], lead };
}

function largestPartOf(a: Float32Array, b: Float32Array, weights: readonly number[]): Beaten['largestPart'] {
  const [means, other] = [meansOf(a), meansOf(b)];
  const parts = COMPONENT_NAMES.map((component, k) => ({
    component,
    part: weights[k] * (means[k] - other[k]),
  }));
  return parts.reduce((largest, each) => (each.part > largest.part ? each : largest));
}

/** Returns the mean of each component. @param components f32 [n, NUM_COMPONENTS]. */
export function meansOf(components: Float32Array): number[] {
  const sums = Array<number>(NUM_COMPONENTS).fill(0);
  components.forEach((component, i) => {
    sums[i % NUM_COMPONENTS] += component;
  });
  return sums.map((sum) => sum / (components.length / NUM_COMPONENTS));
}
