/** A grader: a name, and what each component of the grade weighs. */
import { InputError } from '../errors.js';
import { follows, otherSchema, SCHEMAS } from '../schemas.js';
import { didYouMean } from '../suggest.js';
import { isPrintable, PRINTABLE } from '../validate/names.js';
import { checkName, describe, isList } from '../validate/values.js';
import { COMPONENT_NAMES, GRADER_NAMES } from '../world/fields.js';
import { checkWeights } from '../world/resolve.js';
import { RHYTHM } from '../world/spec.js';
import { inDomain, SUM_TOLERANCE, sumsToOne } from '../world/validate.js';

/** Weights by component, as COMPONENT_NAMES calls them. */
export type GraderWeights = Readonly<Record<string, number>>;

/** How finished episodes are graded: `clamp01` of the weighted sum of the components. */
export interface Grader {
  /** What results call it. */
  readonly name: string;
  /** One for each component. They sum to 1; one may be negative, to punish. */
  readonly weights: GraderWeights;
}

/** What a caller may call a grader by: a name of GRADER_NAMES, a Grader, or six weights by COMPONENT_NAMES. */
export type GraderLike = string | Grader | ArrayLike<number>;

/** As many as a float32 has. */
const SUM_DIGITS = 7;
/** Weights that are only a list. */
const UNNAMED = 'custom';
const KEYS = ['schema', 'name', 'weights'];

/** f32 [6] of weights that are known to be good, in the order of COMPONENT_NAMES. */
export const floatsOf = (weights: GraderWeights): Float32Array =>
  Float32Array.from(COMPONENT_NAMES, (name) => weights[name]);

/** Whether two are called the same and weigh alike. */
export const isSameGrader = (one: Grader, other: Grader): boolean =>
  one.name === other.name && COMPONENT_NAMES.every((name) => one.weights[name] === other.weights[name]);

/** Six weights by name. */
export const byName = (weights: ArrayLike<number>): GraderWeights =>
  Object.freeze(Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, weights[k]])));

const BUILT_IN: readonly Grader[] = Object.entries(RHYTHM.graders).map(([name, weights]) =>
  Object.freeze({ name, weights: byName(weights) }),
);

/**
 * Checks a grader, from JSON for instance: a name, weights by component, and perhaps its schema. Components that are left
 * out weigh 0.
 * @param where what an error calls it: a file's name. @returns a frozen copy, with all six weights.
 * @throws InputError `bad_grader` that names the field.
 */
export function validateGrader(candidate: unknown, where = 'grader'): Grader {
  const { schema, name, weights, ...others } = objectAt('', candidate, where);
  for (const key of Object.keys(others)) refuseKey('keys', key, KEYS, where);
  if (schema !== undefined && !follows(SCHEMAS.grader, schema)) {
    throw new InputError('bad_grader', otherSchema(SCHEMAS.grader, schema, ` at schema of ${where}`));
  }
  const grader = Object.freeze({ name: checkGraderName(name, where), weights: checkNamed(weights, where) });
  requireOwnName(grader, where);
  return grader;
}

function refuse(field: string, expected: string, got: string, remedy: string, where: string): never {
  const place = field === '' ? where : `${field} of ${where}`;
  throw new InputError('bad_grader', `Expected ${expected} at ${place}, got ${got}. ${remedy}`);
}

function refuseKey(what: string, key: string, known: readonly string[], where: string): never {
  throw new InputError(
    'bad_grader',
    `Expected no ${what} but ${known.join(', ')} in ${where}, got ${describe(key)}.${didYouMean(key, known, ' Remove it.')}`,
  );
}

function objectAt(field: string, value: unknown, where: string): Record<string, unknown> {
  const plain = typeof value === 'object' && value !== null && !isList(value);
  if (plain) return value as Record<string, unknown>;
  const example = field === '' ? '{"name": "calm", "weights": {"crash_free": 1}}' : '{"crash_free": 1}';
  const got = value === undefined ? 'none' : describe(value);
  return refuse(field, 'an object', got, `Pass one, such as ${example}.`, where);
}

function checkGraderName(name: unknown, where: string): string {
  if (isPrintable(name)) return name;
  const got = name === undefined ? 'none' : describe(name).replace(/\p{Cc}/gu, '\uFFFD');
  return refuse('name', `a text of ${PRINTABLE}`, got, 'Pass one.', where);
}

function checkNamed(value: unknown, where: string): GraderWeights {
  const given = objectAt('weights', value, where);
  for (const key of Object.keys(given)) {
    if (!COMPONENT_NAMES.includes(key)) refuseKey('weights', key, COMPONENT_NAMES, where);
  }
  const weights = COMPONENT_NAMES.map((name) => (Object.hasOwn(given, name) ? given[name] : 0));
  weights.forEach((weight, k) => {
    if (inDomain(weight)) return;
    const field = `weights.${COMPONENT_NAMES[k]}`;
    refuse(
      field,
      '0 or a magnitude in [2^-40, 2^20]',
      describe(weight),
      'Pass a number of that range.',
      where,
    );
  });
  // A negative zero is a zero.
  const numbers = weights.map((weight) => (weight as number) + 0);
  requireSum(numbers, where);
  return byName(numbers);
}

/** Of the float32s, which is what a batch sees. */
function requireSum(numbers: readonly number[], where: string): void {
  const floats = Float32Array.from(numbers);
  if (sumsToOne(floats)) return;
  const sum = Number(floats.reduce((total, weight) => total + weight, 0).toPrecision(SUM_DIGITS));
  const remedy = sum > SUM_TOLERANCE ? `Divide each by ${sum}.` : 'Pass weights that pay for something.';
  refuse('weights', 'weights that sum to 1', `a sum of ${sum}`, remedy, where);
}

/** Results are told apart by their grader's name: v2 is v2. */
function requireOwnName({ name, weights }: Grader, where: string): void {
  const known = BUILT_IN.find((grader) => grader.name === name);
  if (known === undefined) return;
  const published = floatsOf(known.weights);
  if (floatsOf(weights).every((weight, k) => weight === published[k])) return;
  refuse(
    'name',
    'a name of its own',
    `${describe(name)}, which has other weights`,
    'Pass another name.',
    where,
  );
}

/**
 * A grader by its name, checked as it is, or of six weights that have no name.
 * @throws InputError `unknown_name`, `wrong_type` or `bad_grader`.
 */
export function toGrader(choice: GraderLike): Grader {
  // Twice: a batch sees the weights as float32s, and must not refuse what has passed here.
  if (isList(choice)) return { name: UNNAMED, weights: byName(checkWeights(checkWeights(choice))) };
  if (typeof choice === 'object' && choice !== null) return validateGrader(choice);
  const name = checkName('grader', choice, GRADER_NAMES);
  return BUILT_IN.find((grader) => grader.name === name)!;
}

/**
 * f32 [6], newly allocated: a grader's weights in the order of COMPONENT_FIELDS, as `createVecEnv`, `reset` and `Episode`
 * take them. @throws InputError `unknown_name`, `wrong_type` or `bad_grader`.
 */
export const graderWeights = (grader: GraderLike): Float32Array => floatsOf(toGrader(grader).weights);
