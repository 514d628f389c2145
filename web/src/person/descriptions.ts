/** Reads observations into steps, and describes steps and profiles in words. */
import { phrasesOf } from '../../../src/agents/inference/inference-words.js';
import { signed as signedTo } from '../../../src/figures/theme.js';
import {
  ACTION_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  NUM_TRAITS,
  OBSERVATION,
  OBSERVATION_SIZE,
  TRAIT_NAMES,
} from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import type { EpisodeReplay } from './episode.js';

/** The state after a step and the changes of the step. The first transition of an episode is the state after reset. */
export interface Transition {
  /** Steps taken, 0 to 28. */
  readonly step: number;
  /** [5] in [0, 1]. */
  readonly meters: readonly number[];
  /** Codes of the last action and event; -1 for none. */
  readonly action: number;
  readonly event: number;
  readonly reward: number;
  /** [5]: the change of each meter. */
  readonly deltas: readonly number[];
  /** [5]: the difference of each meter's response, with noise, from a neutral profile's response. */
  readonly anomalies: readonly number[];
  /** [5]: the effect of the action on an average person, without the event, the decay and the bounds of the meters. */
  readonly typical: readonly number[];
  /** [5]: the effect of the action on this person, with noise: `typical` plus the anomalies. */
  readonly effect: readonly number[];
}

/** Returns one transition per observation. */
export function transitionsOf(replay: Pick<EpisodeReplay, 'observations' | 'typical'>): Transition[] {
  const { observations, typical } = replay;
  return Array.from({ length: observations.length / OBSERVATION_SIZE }, (_, i) => {
    const row = observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
    const [meters, deltas, anomalies] = (['meters', 'deltas', 'anomalies'] as const).map((name) =>
      Array.from(row.subarray(OBSERVATION[name], OBSERVATION[name] + NUM_METERS)),
    );
    const [step, action, event, reward] = (['step', 'lastAction', 'event', 'reward'] as const).map(
      (name) => row[OBSERVATION[name]],
    );
    const most = i === 0 ? anomalies : typicalOf(typical, i - 1, action);
    const effect = most.map((change, k) => change + anomalies[k]);
    return { step, action, event, reward, meters, deltas, anomalies, typical: most, effect };
  });
}

/** Returns the effect of an action on an average person at a step, [5]. @param typical as in EpisodeReplay. */
export function typicalOf(typical: Float32Array, step: number, action: number): number[] {
  const at = (step * NUM_ACTIONS + action) * NUM_METERS;
  return Array.from(typical.subarray(at, at + NUM_METERS));
}

/** Returns the slot (time of day) of a step, such as "evening". */
export const slotOf = (step: number): string => RHYTHM.slots[step % NUM_SLOTS];

/** Returns the day and slot of a step, such as "day 2 evening". */
export const timeOf = (step: number): string => `day ${1 + Math.floor(step / NUM_SLOTS)} ${slotOf(step)}`;

/** Describes a slot: "Day 3 evening: sleep, work crisis". @param transition undefined before the slot is played. */
export function slotInWords(step: number, transition: Transition | undefined): string {
  if (transition === undefined) return title(timeOf(step));
  const { action, event } = transition;
  const words = [ACTION_NAMES[action], ...(event < 0 ? [] : [EVENT_NAMES[event]])];
  return `${title(timeOf(step))}: ${words.map(plain).join(', ')}`;
}

/** Returns the last transition with this action; null if there is none. */
export const lastTransitionOf = (transitions: readonly Transition[], action: number): Transition | null =>
  transitions.filter((transition) => transition.action === action).at(-1) ?? null;

/** The most that luck changes each meter in a step, by METER_NAMES: the amplitude of its noise. */
export const LUCK: readonly number[] = RHYTHM.noise.meters;

/** Returns whether luck alone cannot explain an anomaly, so that a part of it comes from the person. */
export const isPersonal = (anomaly: number, meter: number): boolean => Math.abs(anomaly) > LUCK[meter];

/** Formats a name as words: "deep work". */
export const plain = (name: string): string => name.replaceAll('_', ' ');

/** Formats a name as words with a capital: "Deep work". */
export const title = (name: string): string => plain(name[0].toUpperCase() + name.slice(1));

/** Describes a choice of profiles: "anybody". */
export const profileWords = (choice: string): string =>
  choice === 'sampled' ? 'anybody' : choice === 'discrete' ? 'one of the three named people' : plain(choice);

/** Formats a number with a sign: "+0.12", "−0.05", "0.00". */
export const signed = (value: number, digits = 2): string => signedTo(value, digits);

/** Describes the effect of an event on an average person: "vitality −0.15, cognition −0.06". @param event a code. */
export const eventEffect = (event: number): string =>
  RHYTHM.events[event].effect
    .flatMap((change, k) => (change === 0 ? [] : [`${METER_NAMES[k]} ${signed(change)}`]))
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
type HiddenNumber = ReturnType<typeof describeNumber>;

/**
 * @param name of a trait, or a weight, such as "weight of progress". @param subject a trait or a meter, whose phrases describe the
 *   number. @param rank the percentile rank of the value among sampled profiles, in [0, 1].
 */
function describeNumber(name: string, subject: string, value: number, rank: number) {
  const { low, middle, high } = phrasesOf(subject);
  return { name, value, rank, words: rank < LOW ? low : rank > HIGH ? high : middle };
}

/** Describes each number of a profile. @param profile f32 [16]. */
export const profileInWords = (profile: ArrayLike<number>): HiddenNumber[] => [
  ...RHYTHM.traits.map(({ name, low, high }, k) => {
    const rank = Math.min(1, Math.max(0, (profile[k] - low) / (high - low)));
    return describeNumber(name, name, profile[k], rank);
  }),
  ...METER_NAMES.map((meter, k) => {
    const weight = profile[NUM_TRAITS + k];
    return describeNumber(`weight of ${meter}`, meter, weight, rankOfWeight(weight));
  }),
];

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
