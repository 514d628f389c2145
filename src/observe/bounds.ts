/**
 * How far rewards and anomalies can go. Their bounds in the field table hold for any world and any person, so they
 * say nothing; these follow from one world's numbers by interval arithmetic, for persons whose traits are in the
 * world's ranges and whose weights are shares of 1. They are of exact numbers: what float32 rounds may lie beyond them,
 * by as much as it rounds, which is next to nothing unless a world's numbers are of magnitudes far apart.
 */
import { respond } from '../reference/step.js';
import type { Params } from '../world/block.js';
import {
  METER_NAMES,
  NUM_ACTIONS,
  NUM_EVENTS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_TRAITS,
  TRAIT_NAMES,
} from '../world/fields.js';

const VITALITY = METER_NAMES.indexOf('vitality');
const STRESS_THRESHOLD = TRAIT_NAMES.indexOf('stress_threshold');
const METABOLIC_RATE = TRAIT_NAMES.indexOf('metabolic_rate');
const EVENT_IMPACT = TRAIT_NAMES.indexOf('event_impact');
const METERS = METER_NAMES.map((_, k) => k);
/** Codes of events, and -1 for none. */
const EVENTS = Array.from({ length: NUM_EVENTS + 1 }, (_, code) => code - 1);

/** The largest magnitudes, each a float32 above 0. */
export interface Reach {
  readonly reward: number;
  readonly anomalies: number;
}

type Interval = readonly [low: number, high: number];
const NOTHING: Interval = [0, 0];
const sum = (parts: readonly Interval[]): Interval =>
  parts.reduce(([low, high], part) => [low + part[0], high + part[1]], NOTHING);
const hull = (parts: readonly Interval[]): Interval => [
  Math.min(...parts.map(([low]) => low)),
  Math.max(...parts.map(([, high]) => high)),
];
const times = (factor: number, [low, high]: Interval): Interval =>
  factor < 0 ? [factor * high, factor * low] : [factor * low, factor * high];
/** Of what may come or not, and of what may point either way. */
const perhaps = (value: number): Interval => times(value, [0, 1]);
const eitherWay = (value: number): Interval => times(value, [-1, 1]);
const magnitude = ([low, high]: Interval): number => Math.max(Math.abs(low), Math.abs(high));

/** What an action does in a slot, by meter: to the neutral person, and how much of it is personal. */
interface Response {
  readonly neutral: readonly number[];
  readonly personal: readonly Interval[];
}

/** A reach of 0 stays usable as a divisor. */
const positive = (reach: number): number => Math.fround(reach) || 1;

/** @returns how far from 0 a reward (the last step's too) and an anomaly of any meter can be. */
export function reachOf(params: Params): Reach {
  const all = [];
  for (let slot = 0; slot < NUM_SLOTS; slot++) {
    for (let action = 0; action < NUM_ACTIONS; action++) {
      // Progress grows with vitality, so its ends are met at the ends of vitality.
      for (const vitality of [0, 1]) all.push(responseAt(params, slot, action, vitality));
    }
  }
  const anomalies = all.flatMap((response) => METERS.map((k) => anomalyOf(params, response, k)));
  const rewards = all.flatMap((response) => EVENTS.map((event) => rewardOf(params, response, event)));
  return { reward: positive(magnitude(hull(rewards))), anomalies: positive(magnitude(hull(anomalies))) };
}

const rangeOf = (params: Params, trait: number): Interval => [
  params.traitLow[trait],
  params.traitLow[trait] + params.traitSpan[trait],
];

/**
 * The response is affine in each trait and multiplies no two of them, so one trait at a time tells all, at its two
 * ends. The stress threshold is left to `perhaps`.
 */
function responseAt(params: Params, slot: number, action: number, vitality: number): Response {
  const meters = new Float32Array(NUM_METERS).fill(1);
  meters[VITALITY] = vitality;
  const responseOf = (who: ArrayLike<number>): number[] => {
    const d = new Float32Array(NUM_METERS);
    respond(params, who, slot, action, meters, d);
    return [...d];
  };
  const neutral = responseOf(params.traitNeutral);
  const parts: Interval[][] = [];
  for (let trait = 0; trait < NUM_TRAITS; trait++) {
    if (trait === STRESS_THRESHOLD) continue;
    const ends = rangeOf(params, trait).map((value) => {
      const who = Float32Array.from(params.traitNeutral);
      who[trait] = value;
      return responseOf(who);
    });
    parts.push(METERS.map((k) => hull(ends.map((d) => [d[k] - neutral[k], d[k] - neutral[k]]))));
  }
  return { neutral, personal: METERS.map((k) => sum(parts.map((part) => part[k]))) };
}

/** Rules 3 and 4: what is personal, luck, and stress that only one of the person and the neutral one feels. */
function anomalyOf(params: Params, { personal }: Response, k: number): Interval {
  return sum([personal[k], eitherWay(params.stress[k]), eitherWay(params.noiseMeters[k])]);
}

/** Rules 1 to 7: a meter moves as far as it is pushed or less, never the other way, and stays in [0, 1]. */
function deltaOf(params: Params, { neutral, personal }: Response, event: number, k: number): Interval {
  const rate = k === VITALITY ? rangeOf(params, METABOLIC_RATE) : ([1, 1] as const);
  const effect = event < 0 ? 0 : params.eventEffect[event * NUM_METERS + k];
  const [low, high] = sum([
    [neutral[k], neutral[k]],
    personal[k],
    perhaps(params.stress[k]),
    eitherWay(params.noiseMeters[k]),
    times(-params.decay[k], rate),
    times(effect, rangeOf(params, EVENT_IMPACT)),
  ]);
  return [Math.max(-1, Math.min(0, low)), Math.min(1, Math.max(0, high))];
}

/** Rules 8 and 10. Shares of 1 weigh the deltas to no more than the best and no less than the worst of them. */
function rewardOf(params: Params, response: Response, event: number): Interval {
  const deltas = METERS.map((k) => deltaOf(params, response, event, k));
  const biased = METERS.map((k) => times(params.rewardBias[k], deltas[k]));
  return sum([
    times(params.rewardScale, sum([hull(deltas), ...biased])),
    perhaps(-params.crashPenalty * NUM_METERS),
    eitherWay(params.noiseReward),
    eitherWay(params.terminalScale / 2),
  ]);
}
