/** Schemas of the fields that trajectory lines and compact episodes (compact-episode.ts) share. */

import { isModelName, isPrintable, MODEL_NAME, PRINTABLE } from '../../shared/printable-names.js';
import { expect, flag, isU32, object, oneOf, printableName } from '../../shared/row-schemas.js';
import { COMPONENT_NAMES, MAX_U32, NUM_BELIEFS } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import {
  SAMPLING_NAMES,
  type StoredBelief,
  type TrajectoryEpisode,
  USAGE_NAMES,
} from './trajectory-episode.js';

const nameOrNull = expect<string | null>(
  `null or a name of ${PRINTABLE}`,
  (value) => value === null || isPrintable(value),
);
const modelOrNull = expect<string | null>(
  `null or a name of ${MODEL_NAME}`,
  (value) => value === null || isModelName(value),
);
/** A schema of texts, and of null. */
export const textOrNull = expect<string | null>(
  'null or a text',
  (value) => value === null || typeof value === 'string',
);
/** A schema of float32 numbers. Files contain the shortest decimal. */
export const float = expect<number>('a finite number', Number.isFinite).transform(Math.fround);
const amount = expect<number>('a number from 0 on', (value) => Number.isFinite(value) && Number(value) >= 0);
/** A schema of lists of `count` float32 numbers. */
export const floats = (count: number) =>
  expect<number[]>(
    `${count} finite numbers`,
    (value) => Array.isArray(value) && value.length === count && value.every(Number.isFinite),
  ).transform((values) => values.map(Math.fround));
const isFraction = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;
/** A schema of beliefs, rounded to float32, and of null. */
export const belief = expect<StoredBelief | null>(
  'null or three numbers from 0 to 1',
  (value) =>
    value === null || (Array.isArray(value) && value.length === NUM_BELIEFS && value.every(isFraction)),
).transform((values) => values && (values.map(Math.fround) as unknown as StoredBelief));

/** A schema of objects with a float32 under each of these keys. */
export const floatsBy = (keys: readonly string[]) =>
  object(Object.fromEntries(keys.map((key) => [key, float])));

/** The names of the fields of `final`, in their order. */
export const FINAL_NAMES: readonly string[] = [
  ...COMPONENT_NAMES,
  ...['belief_mae', 'early_mean', 'late_mean', 'final_score'],
];

/** The schema of `final`. */
export const FINAL = floatsBy(FINAL_NAMES);

/** The first fields of an episode: the package's version, those that identify the episode, and its grader. */
export const FIRST = {
  version: printableName,
  teacher: printableName,
  model: modelOrNull,
  objective: nameOrNull,
  oracle: flag,
  condition: printableName,
  profile_mode: oneOf(PROFILE_CHOICES),
  seed: expect<number>(`an integer from 0 to ${MAX_U32}`, isU32),
  grader: expect<TrajectoryEpisode['grader']>(
    'a grader with name and weights',
    (value) => typeof value === 'object' && value !== null,
  ),
};

/** The optional fields that no replay computes. */
export const OPTIONAL = {
  usage: object(Object.fromEntries(USAGE_NAMES.map((name) => [name, amount.optional()]))).optional(),
  sampling: object({
    ...Object.fromEntries(SAMPLING_NAMES.map((name) => [name, amount.optional()])),
    max_tokens: amount,
  }).optional(),
};
