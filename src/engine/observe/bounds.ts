/**
 * Computes bounds of rewards and anomalies for one world, to scale observations. The bounds in the field table hold for
 * any world and any profile, so they are too wide to scale by. The computation is interval arithmetic, for profiles
 * whose traits are in the world's ranges and whose weights sum to 1. The bounds hold for exact arithmetic: float32
 * values may exceed them by the rounding error, which is negligible unless a world's numbers have very different
 * magnitudes.
 */

import type { Params } from '../../world/block.js';
import {
  METER,
  METER_NAMES,
  NUM_ACTIONS,
  NUM_EVENTS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_TRAITS,
  TRAIT,
} from '../../world/fields.js';
import { effectAndResponse } from '../reference/rules.js';

const METER_INDICES = METER_NAMES.map((_, k) => k);
/** Codes of events, and -1 for no event. */
const EVENTS = Array.from({ length: NUM_EVENTS + 1 }, (_, code) => code - 1);

/** The largest magnitudes, each a float32 above 0. */
export interface Magnitudes {
  readonly reward: number;
  readonly anomalies: number;
}

type Interval = readonly [low: number, high: number];
const ZERO: Interval = [0, 0];
/** Returns the interval of a sum. */
const sum = (parts: readonly Interval[]): Interval =>
  parts.reduce(([low, high], part) => [low + part[0], high + part[1]], ZERO);
/** Returns the smallest interval that contains all parts. */
const hull = (parts: readonly Interval[]): Interval => [
  Math.min(...parts.map(([low]) => low)),
  Math.max(...parts.map(([, high]) => high)),
];
/** Returns the interval of a product with a constant. */
const times = (factor: number, [low, high]: Interval): Interval =>
  factor < 0 ? [factor * high, factor * low] : [factor * low, factor * high];
/** Returns the interval of a term that may be absent. */
const optional = (value: number): Interval => times(value, [0, 1]);
/** Returns the interval of a term of either sign. */
const symmetric = (value: number): Interval => times(value, [-1, 1]);
const magnitude = ([low, high]: Interval): number => Math.max(Math.abs(low), Math.abs(high));

/**
 * The response to an action at a time of day, by meter: the response of the neutral profile, and the interval of the
 * differences between other profiles' responses and this one.
 */
interface Response {
  readonly neutral: readonly number[];
  readonly difference: readonly Interval[];
}

/** Returns a magnitude as a float32 that can be a divisor: 1 in place of 0. */
const positive = (value: number): number => Math.fround(value) || 1;

/** Returns the largest magnitudes of any reward, including the last step's, and of an anomaly of any meter. */
export function largestMagnitudes(params: Params): Magnitudes {
  const responses = [];
  for (let slot = 0; slot < NUM_SLOTS; slot++) {
    for (let action = 0; action < NUM_ACTIONS; action++) {
      // The response is affine in vitality, so its extremes are at the extremes of vitality.
      for (const vitality of [0, 1]) responses.push(responseAt(params, slot, action, vitality));
    }
  }
  const anomalies = responses.flatMap((response) => METER_INDICES.map((k) => anomalyOf(params, response, k)));
  const rewards = responses.flatMap((response) => EVENTS.map((event) => rewardOf(params, response, event)));
  return { reward: positive(magnitude(hull(rewards))), anomalies: positive(magnitude(hull(anomalies))) };
}

const rangeOf = (params: Params, trait: number): Interval => [
  params.traitLow[trait],
  params.traitLow[trait] + params.traitSpan[trait],
];

/**
 * Returns the response at a vitality. The response is affine in each trait and multiplies no two of them, so the function
 * varies one trait at a time between the ends of its range. The callers add stress, which depends on a threshold.
 */
function responseAt(params: Params, slot: number, action: number, vitality: number): Response {
  // Serenity is 1, which keeps stress out of the response.
  const meters = new Float32Array(NUM_METERS).fill(1);
  meters[METER.vitality] = vitality;
  const responseOf = (profile: ArrayLike<number>): number[] => {
    const d = new Float32Array(NUM_METERS);
    effectAndResponse(params, profile, slot, action, meters, d);
    return [...d];
  };
  const neutral = responseOf(params.traitNeutral);
  const parts: Interval[][] = [];
  for (let trait = 0; trait < NUM_TRAITS; trait++) {
    if (trait === TRAIT.stressThreshold) continue;
    const ends = rangeOf(params, trait).map((value) => {
      const profile = Float32Array.from(params.traitNeutral);
      profile[trait] = value;
      return responseOf(profile);
    });
    parts.push(METER_INDICES.map((k) => hull(ends.map((d) => [d[k] - neutral[k], d[k] - neutral[k]]))));
  }
  return { neutral, difference: METER_INDICES.map((k) => sum(parts.map((part) => part[k]))) };
}

/**
 * Returns the interval of a meter's anomaly (rules 3 and 4 of docs/world.md): the profile's difference, noise, and stress if
 * only one of the two profiles is stressed.
 */
function anomalyOf(params: Params, { difference }: Response, k: number): Interval {
  return sum([difference[k], symmetric(params.stress[k]), symmetric(params.noiseMeters[k])]);
}

/** Returns the interval of a meter's change (rules 1 to 7). Clamping the meter only moves its change toward 0. */
function deltaOf(params: Params, { neutral, difference }: Response, event: number, k: number): Interval {
  const rate = k === METER.vitality ? rangeOf(params, TRAIT.metabolicRate) : ([1, 1] as const);
  const effect = event < 0 ? 0 : params.eventEffect[event * NUM_METERS + k];
  const [low, high] = sum([
    [neutral[k], neutral[k]],
    difference[k],
    optional(params.stress[k]),
    symmetric(params.noiseMeters[k]),
    times(-params.decay[k], rate),
    times(effect, rangeOf(params, TRAIT.eventImpact)),
  ]);
  return [Math.max(-1, Math.min(0, low)), Math.min(1, Math.max(0, high))];
}

/**
 * Returns the interval of a reward (rules 8 and 10). Weights sum to 1, so the weighted sum of the deltas lies between the
 * smallest and the largest delta.
 */
function rewardOf(params: Params, response: Response, event: number): Interval {
  const deltas = METER_INDICES.map((k) => deltaOf(params, response, event, k));
  const biased = METER_INDICES.map((k) => times(params.rewardBias[k], deltas[k]));
  return sum([
    times(params.rewardScale, sum([hull(deltas), ...biased])),
    optional(-params.crashPenalty * NUM_METERS),
    symmetric(params.noiseReward),
    // The last step's terminal term: terminalScale times (final score - 0.5).
    symmetric(params.terminalScale / 2),
  ]);
}
