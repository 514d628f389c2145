/** Describes steps and profiles in words. */

import { phrasesOf } from '../../../src/agents/inference/inference-words.js';
import { signed as signedTo } from '../../../src/figures/theme.js';
import {
  ACTION_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_STEPS,
  NUM_TRAITS,
  TRAIT_NAMES,
} from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { isPersonal, LUCK } from './luck.js';
import { type Transition, timeOf } from './transitions.js';

/** Formats a name as words: "deep work". */
export const plain = (name: string): string => name.replaceAll('_', ' ');

/** Formats a name as words with a capital: "Deep work". */
export const title = (name: string): string => {
  const words = plain(name);
  return words[0].toUpperCase() + words.slice(1);
};

/** Formats a number with a sign: "+0.12", "−0.05", "0.00". */
export const signed = (value: number, digits = 2): string => signedTo(value, digits);

/** Describes the effect of an event on an average person: "vitality −0.15, cognition −0.06". @param event a code. */
export const eventEffect = (event: number): string =>
  RHYTHM.events[event].effect
    .map((change, k) => ({ change, name: METER_NAMES[k] }))
    .filter(({ change }) => change !== 0)
    .map(({ change, name }) => `${name} ${signed(change)}`)
    .join(', ');

/** Compares what the last action did to this person with what it does to most people, in a sentence. */
export function comparison({ action, typical, effect, anomalies }: Transition): string {
  const name = title(ACTION_NAMES[action]);
  // The meter whose difference exceeds luck most.
  const excess = anomalies.map((anomaly, k) => Math.abs(anomaly) / LUCK[k]);
  const k = excess.indexOf(Math.max(...excess));
  if (!isPersonal(anomalies[k], k))
    return `${name} did to them what it does to most people, give or take luck.`;
  const meter = METER_NAMES[k];
  const [them, most] = [effect[k].toFixed(2), typical[k].toFixed(2)].map(Number);
  const others =
    most === 0
      ? 'It changes nothing for most people.'
      : `Most people ${most < 0 ? 'lose' : 'gain'} ${Math.abs(most).toFixed(2)}.`;
  return them === 0
    ? `${name} left their ${meter} as it was. ${others}`
    : `${name} ${them < 0 ? 'cost' : 'gave'} them ${Math.abs(them).toFixed(2)} ${meter}. ${others}`;
}

/** Describes a step for screen readers. */
export function announce(transition: Transition): string {
  const { step, action, event, reward, meters } = transition;
  if (step === 0) return 'The week begins. All meters are at 0.70.';
  const events = event < 0 ? [] : [`Event: ${plain(EVENT_NAMES[event])}, ${eventEffect(event)}.`];
  const end = step === NUM_STEPS ? ['The week is over.'] : [];
  return [
    `${title(timeOf(step - 1))}: ${plain(ACTION_NAMES[action])}, reward ${signed(reward)}.`,
    comparison(transition),
    ...events,
    `Now ${METER_NAMES.map((name, k) => `${name} ${meters[k].toFixed(2)}`).join(', ')}.`,
    ...end,
  ].join(' ');
}

/** Percentile ranks below which a value counts as low, and above which as high. */
const [LOW, HIGH] = [1 / 3, 2 / 3];

/** One of the 16 numbers of a hidden profile, with its description. */
export interface HiddenNumber {
  /** A name of TRAIT_NAMES, or a weight, such as "weight of progress". */
  readonly name: string;
  readonly value: number;
  /** The percentile rank of the value among sampled profiles, in [0, 1]. */
  readonly rank: number;
  readonly words: string;
}

/** Describes each number of a profile. @param profile f32 [16]. */
export function profileInWords(profile: ArrayLike<number>): HiddenNumber[] {
  const traits = RHYTHM.traits.map(({ name, low, high }, k) => {
    const value = profile[k];
    return describeNumber(name, name, value, Math.min(1, Math.max(0, (value - low) / (high - low))));
  });
  const weights = METER_NAMES.map((meter, k) => {
    const value = profile[NUM_TRAITS + k];
    return describeNumber(`weight of ${meter}`, meter, value, rankOfWeight(value));
  });
  return [...traits, ...weights];
}

/** @param subject a trait or a meter, whose phrases describe the number. */
function describeNumber(name: string, subject: string, value: number, rank: number): HiddenNumber {
  const { low, middle, high } = phrasesOf(subject);
  return { name, value, rank, words: rank < LOW ? low : rank > HIGH ? high : middle };
}

/** The cumulative distribution function of Beta(2, 8): one weight of Dirichlet(2, 2, 2, 2, 2) has this distribution. */
const rankOfWeight = (weight: number): number => 1 - (1 - weight) ** 9 - 9 * weight * (1 - weight) ** 8;

/** Returns the hidden numbers with the most unusual values, the most unusual first. */
export const mostUnusual = (numbers: readonly HiddenNumber[], count: number): HiddenNumber[] =>
  [...numbers].sort((a, b) => Math.abs(b.rank - 0.5) - Math.abs(a.rank - 0.5)).slice(0, count);

/** Returns the name of a named profile; null for any other. @param profile f32 [16]. */
export function profileNameOf(profile: ArrayLike<number>): string | null {
  const found = Object.entries(RHYTHM.profiles).find(([, { traits, weights }]) => {
    const numbers = Float32Array.from([...TRAIT_NAMES.map((name) => traits[name]), ...weights]);
    return numbers.every((number, k) => number === profile[k]);
  });
  return found?.[0] ?? null;
}
