/** What happens in a week in words: for who listens, and for who reads. */
import { signed as signedTo } from '../../../src/pictures/numbers.js';
import { phrasesOf } from '../../../src/policies/inference/phrases.js';
import {
  ACTION_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_STEPS,
  NUM_TRAITS,
  TRAIT_NAMES,
} from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/spec.js';
import { type Moment, timeOf } from './reading.js';

/** "deep work". */
export const plain = (name: string): string => name.replaceAll('_', ' ');

/** "Deep work". */
export const title = (name: string): string => {
  const words = plain(name);
  return words[0].toUpperCase() + words.slice(1);
};

/** With a sign, and a minus as typeset: "+0.12", "−0.05", "0.00". */
export const signed = (value: number, digits = 2): string => signedTo(value, digits);

/** One sentence a fact: what the step just taken brought. */
export function announce(moment: Moment): string {
  const { step, action, event, reward, meters, deltas } = moment;
  if (step === 0) return 'The week begins. All meters are at 0.70.';
  const changes = METER_NAMES.map((name, k) => `${name} ${meters[k].toFixed(2)}, ${signed(deltas[k])}`);
  const struck = event < 0 ? [] : [`Event: ${plain(EVENT_NAMES[event])}.`];
  const end = step === NUM_STEPS ? ['The week is over.'] : [];
  return [
    `${title(timeOf(step - 1))}: ${plain(ACTION_NAMES[action])}, reward ${signed(reward)}.`,
    ...struck,
    `${changes.join('; ')}.`,
    ...end,
  ].join(' ');
}

/** Shares of all people below which somebody has little of a number, and above which much. */
const [LITTLE, MUCH] = [1 / 3, 2 / 3];

/** What is said of one of the 16 hidden numbers. */
export interface Trait {
  /** Of TRAIT_NAMES, or "weight of progress". */
  readonly name: string;
  readonly value: number;
  /** What share of all people have less of it. */
  readonly share: number;
  readonly words: string;
}

/** Who the person was, number by number. @param profile f32 [16]. */
export function personInWords(profile: ArrayLike<number>): Trait[] {
  const traits = RHYTHM.traits.map(({ name, low, high }, k) => {
    const value = profile[k];
    return trait(name, name, value, Math.min(1, Math.max(0, (value - low) / (high - low))));
  });
  const weights = METER_NAMES.map((meter, k) => {
    const value = profile[NUM_TRAITS + k];
    return trait(`weight of ${meter}`, meter, value, shareOfWeight(value));
  });
  return [...traits, ...weights];
}

function trait(name: string, phrases: string, value: number, share: number): Trait {
  const { low, middle, high } = phrasesOf(phrases);
  return { name, value, share, words: share < LITTLE ? low : share > MUCH ? high : middle };
}

/** Of five weights that are Dirichlet(2, 2, 2, 2, 2) one is Beta(2, 8): this is its distribution function. */
const shareOfWeight = (weight: number): number => 1 - (1 - weight) ** 9 - 9 * weight * (1 - weight) ** 8;

/** What is most particular about somebody, the most particular first. */
export const mostParticular = (traits: readonly Trait[], count: number): Trait[] =>
  [...traits].sort((a, b) => Math.abs(b.share - 0.5) - Math.abs(a.share - 0.5)).slice(0, count);

/** Which of the named persons it was; null for anybody else. @param profile f32 [16]. */
export function namedPerson(profile: ArrayLike<number>): string | null {
  const found = Object.entries(RHYTHM.profiles).find(([, { traits, weights }]) => {
    const numbers = Float32Array.from([...TRAIT_NAMES.map((name) => traits[name]), ...weights]);
    return numbers.every((number, k) => number === profile[k]);
  });
  return found?.[0] ?? null;
}
