/**
 * The sizes and names of the world, and the field tables of an episode's state, observation and grade.
 *
 * The C++ header, the tables of the Python package and the layout of snapshots are derived from them.
 */
import { camelCase } from '../shared/names.js';
import { RHYTHM } from './numbers.js';

/** The type of a 32-bit word. */
export type Word = 'f32' | 'u32';

/** One field of 32-bit words: `size` words from `offset` on. */
export interface Field {
  /** In snake_case. */
  readonly name: string;
  /** Index of the field's first word. */
  readonly offset: number;
  /** Number of words. */
  readonly size: number;
  /** Type of the words. */
  readonly word: Word;
  /** Lower bound of each word, inclusive. */
  readonly low: number;
  /** Upper bound of each word, inclusive. */
  readonly high: number;
  /** Meaning of the field, in a few words. */
  readonly meaning: string;
}

/** The sizes of the world. A profile has 16 floats. */
export const NUM_METERS = RHYTHM.meters.length;
export const NUM_ACTIONS = RHYTHM.actions.length;
export const NUM_SLOTS = RHYTHM.slots.length;
export const NUM_EVENTS = RHYTHM.events.length;
export const NUM_TRAITS = RHYTHM.traits.length;
export const NUM_BELIEFS = RHYTHM.belief.length;
export const NUM_STEPS = RHYTHM.maxEpisodeSteps;
export const PROFILE_SIZE = NUM_TRAITS + NUM_METERS;
/**
 * Words of the state's field `tape`, the actions taken: four bits per action, eight actions per word.
 */
export const TAPE_WORDS = Math.ceil(NUM_STEPS / 8);
/** The largest 32-bit unsigned integer, and so the largest seed. */
export const MAX_U32 = 2 ** 32 - 1;
/** The largest numbers of environments and of threads of a batch, chosen by hand. */
export const MAX_ENVS = 2 ** 24;
export const MAX_THREADS = 256;
/** Bounds of the magnitude of every float other than 0 in a world, profile or grader (docs/world.md, Arithmetic). */
export const MIN_MAGNITUDE = 2 ** -40;
export const MAX_MAGNITUDE = 2 ** 20;

/** Names of the ten actions, by code. */
export const ACTION_NAMES: readonly string[] = Object.freeze(RHYTHM.actions.map((action) => action.name));
/** Names of the five events, by code; -1 is no event. */
export const EVENT_NAMES: readonly string[] = Object.freeze(RHYTHM.events.map((event) => event.name));
/** Names of the eleven traits: the first numbers of a profile. */
export const TRAIT_NAMES: readonly string[] = Object.freeze(RHYTHM.traits.map((trait) => trait.name));
/** Names of the five meters: the order of meters, deltas, anomalies and reward weights. */
export const METER_NAMES: readonly string[] = RHYTHM.meters;
/** Indices of the meters, and of the traits that rules name. */
export const METER = offsets<'vitality' | 'cognition' | 'progress' | 'serenity' | 'connection'>(
  METER_NAMES.map((name, offset) => ({ name, offset })),
);
export const TRAIT = offsets<'stressThreshold' | 'metabolicRate' | 'eventImpact'>(
  TRAIT_NAMES.map((name, offset) => ({ name, offset })),
);
/** Names of the three numbers of a belief. */
export const BELIEF_NAMES: readonly string[] = Object.freeze(RHYTHM.belief.map((belief) => belief.name));
/** Names of the named profiles. */
export const PROFILE_NAMES: readonly string[] = Object.freeze(Object.keys(RHYTHM.profiles));
/** Names of the built-in graders. */
export const GRADER_NAMES: readonly string[] = Object.freeze(Object.keys(RHYTHM.graders));
/** The tags of actions. They decide which traits affect an action's response (docs/world.md, rule 2). */
export const TAGS = ['productive', 'social', 'solo', 'guilty'] as const;

/** How an episode gets its profile: sampled from the seed, a named profile chosen by the seed, or given. */
export const PROFILE_MODES = ['sampled', 'discrete', 'given'] as const;
/** The codes of PROFILE_MODES. */
export const MODE = { sampled: 0, discrete: 1, given: 2 } as const;

type Row = [name: string, size: number, word: Word, low: number, high: number, meaning: string];

/** Returns the fields of a table, one after the other from offset 0. */
function layOut(rows: readonly Row[]): readonly Field[] {
  let offset = 0;
  const fields = rows.map(([name, size, word, low, high, meaning]) => {
    const field = Object.freeze({ name, offset, size, word, low, high, meaning });
    offset += size;
    return field;
  });
  return Object.freeze(fields);
}

/** Returns the number of words of a table's fields. */
export const sizeOf = (fields: readonly Field[]): number =>
  fields.reduce((words, field) => words + field.size, 0);

/** Returns the offsets of a table's fields, by their names in camelCase. */
function offsets<Name extends string>(
  fields: readonly Pick<Field, 'name' | 'offset'>[],
): Record<Name, number> {
  const entries = fields.map(({ name, offset }) => [camelCase(name), offset]);
  return Object.freeze(Object.fromEntries(entries)) as Record<Name, number>;
}

const U32 = MAX_U32;
const BIG = MAX_MAGNITUDE;
/**
 * Exceeds any sum of 28 rewards, weighted meters or terms of `belief_skill` in any valid world: a reward is a scale times
 * five weighted changes, less than 2^44.
 */
export const MAX_SUM = 2 ** 64;
/**
 * The largest anomaly, in the most extreme world. The change of progress is a product of effect, time of day, vitality
 * factor (a sum of two terms) and focus. The anomaly subtracts the change of a neutral profile, which may be the opposite.
 */
const ANOMALY = 2 * (BIG * BIG * (2 * BIG) * BIG);

/** An episode's state, in 32-bit words. Native batches store 16 episodes in a tile, field by field. */
export const STATE_FIELDS = layOut([
  ['seed', 1, 'u32', 0, U32, "the episode's seed"],
  ['step', 1, 'u32', 0, NUM_STEPS, 'steps taken'],
  ['mode', 1, 'u32', 0, PROFILE_MODES.length - 1, 'how the next episode gets its profile'],
  ['meters', NUM_METERS, 'f32', 0, 1, 'the five meters'],
  ['profile', PROFILE_SIZE, 'f32', -BIG, BIG, 'the traits, then the reward weights'],
  ['early', 1, 'f32', -MAX_SUM, MAX_SUM, 'sum of rewards of the first half, without noise'],
  ['late', 1, 'f32', -MAX_SUM, MAX_SUM, 'sum of rewards of the second half, without noise'],
  ['well', 1, 'f32', -MAX_SUM, MAX_SUM, 'sum of the meters, weighted by the reward weights'],
  ['skill', 1, 'f32', -MAX_SUM, MAX_SUM, 'sum of the terms of belief_skill'],
  ['return', 1, 'f32', -MAX_SUM, MAX_SUM, 'sum of the rewards given so far'],
  ['crashes', 1, 'u32', 0, NUM_STEPS * NUM_METERS, 'how often a meter was below the crash threshold'],
  ['belief', NUM_BELIEFS, 'f32', 0, 1, 'the last belief given; 0.5 each before the first'],
  ['given', 1, 'u32', 0, 1, 'whether a belief was given'],
  ['tape', TAPE_WORDS, 'u32', 0, U32, 'the actions taken, four bits each, the first in the lowest bits'],
  ['grader', 8, 'f32', -BIG, BIG, 'weights of the eight components of the grade'],
  // A step does not touch the words from here on.
  ['began', 1, 'u32', 0, NUM_STEPS - 1, 'steps taken before the episode began'],
  ['first_meters', NUM_METERS, 'f32', 0, 1, 'the meters when the episode began'],
]);
/** Number of words of a state: 52. */
export const STATE_WORDS = sizeOf(STATE_FIELDS);
/** Offsets of the fields of a state, by their names in camelCase. */
export const STATE = offsets<
  | 'seed'
  | 'step'
  | 'mode'
  | 'meters'
  | 'profile'
  | 'early'
  | 'late'
  | 'well'
  | 'skill'
  | 'return'
  | 'crashes'
  | 'belief'
  | 'given'
  | 'tape'
  | 'grader'
  | 'began'
  | 'firstMeters'
>(STATE_FIELDS);

/** The fields of an observation, in order (docs/world.md, What an agent sees). */
export const OBSERVATION_FIELDS = layOut([
  ['step', 1, 'f32', 0, NUM_STEPS, 'steps taken'],
  ['day', 1, 'f32', 0, RHYTHM.days, 'day of the week'],
  ['slot', 1, 'f32', 0, NUM_SLOTS - 1, 'slot of the day: morning, afternoon, evening, night'],
  ['remaining', 1, 'f32', 0, NUM_STEPS, 'steps left'],
  ['meters', NUM_METERS, 'f32', 0, 1, 'vitality, cognition, progress, serenity, connection'],
  ['event', 1, 'f32', -1, NUM_EVENTS - 1, 'event of the step just taken, -1 for none'],
  ['last_action', 1, 'f32', -1, NUM_ACTIONS - 1, 'action of the step just taken, -1 before the first'],
  ['reward', 1, 'f32', -MAX_SUM, MAX_SUM, 'reward of the step just taken'],
  ['deltas', NUM_METERS, 'f32', -1, 1, 'change of each meter'],
  [
    'anomalies',
    NUM_METERS,
    'f32',
    -ANOMALY,
    ANOMALY,
    'difference from the response of a neutral profile, with noise',
  ],
]);
/** Number of floats of a raw observation: 22. */
export const OBSERVATION_SIZE = sizeOf(OBSERVATION_FIELDS);
/** Offsets of the fields of a raw observation, by their names in camelCase. */
export const OBSERVATION = offsets<
  | 'step'
  | 'day'
  | 'slot'
  | 'remaining'
  | 'meters'
  | 'event'
  | 'lastAction'
  | 'reward'
  | 'deltas'
  | 'anomalies'
>(OBSERVATION_FIELDS);

/** The grade's components, in the order of a grader's weights. */
export const COMPONENT_FIELDS = layOut([
  ['crash_free', 1, 'f32', 0, 1, 'share of meter readings that were not crashes'],
  ['progress', 1, 'f32', 0, 1, 'progress at the end'],
  ['connection', 1, 'f32', 0, 1, 'connection at the end'],
  [
    'adaptation',
    1,
    'f32',
    0,
    1,
    'improvement of the second half over the first, less if the second half is poor',
  ],
  ['efficiency', 1, 'f32', 0, 1, 'mean reward, centred on 0.5'],
  ['belief_accuracy', 1, 'f32', 0, 1, '1 - belief MAE if a belief was given, else 0'],
  ['wellbeing', 1, 'f32', 0, 1, 'mean of the meters, weighted by the reward weights, above a base'],
  [
    'belief_skill',
    1,
    'f32',
    -1,
    1,
    'accuracy of beliefs from the third day on: 1 for the truth, 0 on average for [0.5, 0.5, 0.5]',
  ],
]);
/** The number of components: 8. */
export const NUM_COMPONENTS = COMPONENT_FIELDS.length;
/** Names of the eight components of a grade, in the order of weights. */
export const COMPONENT_NAMES: readonly string[] = Object.freeze(COMPONENT_FIELDS.map((field) => field.name));
/** Indices of the components that the code names. */
export const COMPONENT = offsets<'adaptation' | 'beliefAccuracy' | 'wellbeing' | 'beliefSkill'>(
  COMPONENT_FIELDS,
);
