/** A grader: a name, and a weight for each component of the grade. */
import { InputError } from '../../shared/errors.js';
import { didYouMean, isPrintable, PRINTABLE } from '../../shared/names.js';
import { follows, otherSchema, SCHEMAS } from '../../shared/schemas.js';
import { checkName, describe, isList, type NameAmong, wrongType } from '../../shared/values.js';
import { COMPONENT_NAMES, GRADER_NAMES } from '../../world/fields.js';
import { type GraderName, RHYTHM } from '../../world/numbers.js';
import { checkWeights, resolveGrader } from '../../world/resolve-names.js';
import { inDomain, SUM_TOLERANCE, sumsToOne } from '../../world/validate-world.js';
import type { World } from '../../world/world.js';

/** Weights by the names of COMPONENT_NAMES. */
export type GraderWeights = Readonly<Record<string, number>>;

/** Grades finished episodes: the grade is `clamp01` of the weighted sum of the components. */
export interface Grader {
  /** The name in results. */
  readonly name: string;
  /** A weight for each component. They sum to 1; a negative weight is a penalty. */
  readonly weights: GraderWeights;
}

/** A name of GRADER_NAMES, a Grader, or the eight weights in the order of COMPONENT_NAMES. */
export type GraderLike = NameAmong<GraderName> | Grader | ArrayLike<number>;

/** The number of significant digits of sums in errors: about those of a float32. */
const SUM_DIGITS = 7;
/** The name of a grader that was given as a list of weights. */
const UNNAMED = 'custom';
const KEYS = ['schema', 'name', 'weights'];

/** Returns weights as f32 [8], in the order of COMPONENT_NAMES. */
export const floatsOf = (weights: GraderWeights): Float32Array =>
  Float32Array.from(COMPONENT_NAMES, (name) => weights[name]);

/** Returns whether two graders have the same name and weights. */
export const isSameGrader = (one: Grader, other: Grader): boolean =>
  one.name === other.name && COMPONENT_NAMES.every((name) => one.weights[name] === other.weights[name]);

/** Returns eight weights by the names of COMPONENT_NAMES. */
export const byName = (weights: ArrayLike<number>): GraderWeights =>
  Object.freeze(Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, weights[k]])));

const BUILT_IN: readonly Grader[] = Object.entries(RHYTHM.graders).map(([name, weights]) =>
  Object.freeze({ name, weights: byName(weights) }),
);

/**
 * Checks a grader, such as one from JSON: a name, weights by component, and an optional schema. The default weight is 0.
 * @param where what errors call the grader, such as a file's name. @returns a frozen copy with all eight weights.
 * @throws InputError `bad_grader`; the message names the field.
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
  throw new InputError('bad_grader', {
    expected: `${expected} at ${place}`,
    got,
    remedy,
  });
}

function refuseKey(what: string, key: string, known: readonly string[], where: string): never {
  throw new InputError('bad_grader', {
    expected: `no ${what} but ${known.join(', ')} in ${where}`,
    got: describe(key),
    remedy: didYouMean(key, known, ' Remove it.'),
  });
}

function objectAt(field: string, value: unknown, where: string): Record<string, unknown> {
  const plain = typeof value === 'object' && value !== null && !isList(value);
  if (plain) return value as Record<string, unknown>;
  const example = field === '' ? '{"name": "calm", "weights": {"crash_free": 1}}' : '{"crash_free": 1}';
  const got = value === undefined ? 'none' : describe(value);
  return refuse(field, 'an object', got, `Pass an object such as ${example}.`, where);
}

function checkGraderName(name: unknown, where: string): string {
  if (isPrintable(name)) return name;
  const got = name === undefined ? 'none' : describe(name).replace(/\p{Cc}/gu, '\uFFFD');
  return refuse('name', `a text of ${PRINTABLE}`, got, 'Pass a name such as "calm".', where);
}

/** Checks weights by component. @returns all eight weights. */
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
      'Pass a number in that range.',
      where,
    );
  });
  // Adding 0 turns -0 into 0.
  const numbers = weights.map((weight) => (weight as number) + 0);
  requireSum(numbers, where);
  return byName(numbers);
}

/** Checks the sum of the weights after rounding to float32, as a batch uses them. */
function requireSum(numbers: readonly number[], where: string): void {
  const floats = Float32Array.from(numbers);
  if (sumsToOne(floats)) return;
  const sum = Number(floats.reduce((total, weight) => total + weight, 0).toPrecision(SUM_DIGITS));
  const remedy = sum > SUM_TOLERANCE ? `Divide each by ${sum}.` : 'Pass weights with a positive sum.';
  refuse('weights', 'weights that sum to 1', `a sum of ${sum}`, remedy, where);
}

/** Refuses a built-in grader's name with other weights, because the name identifies the grader in results. */
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
 * Returns the grader of an argument. A list of weights becomes a grader called "custom".
 * @throws InputError `unknown_name`, `wrong_type` or `bad_grader`.
 */
export function toGrader(choice: GraderLike): Grader {
  // Checks the weights, then the float32s to which the first check rounded them, because a batch gets these.
  if (isList(choice)) return { name: UNNAMED, weights: byName(checkWeights(checkWeights(choice))) };
  if (isGrader(choice)) return validateGrader(choice);
  const name = checkName('grader', choice, GRADER_NAMES);
  return BUILT_IN.find((grader) => grader.name === name)!;
}

/**
 * Returns the weights of an argument's grader in a world, f32 [8]; a changed world may have other weights for a name.
 * @param where the argument's name in errors. @throws InputError `unknown_name`, `wrong_type` or `bad_grader`.
 */
export function weightsIn(world: World, choice: GraderLike, where = 'grader'): Float32Array {
  if (typeof choice === 'string' || isList(choice)) return resolveGrader(world, choice, where);
  if (isGrader(choice)) return floatsOf(validateGrader(choice, where).weights);
  throw wrongType(where, 'a name, a grader or eight weights', choice, 'Pass one of these.');
}

/** Returns whether an argument's grader is a Grader, which is not validated, and neither a name nor weights. */
export const isGrader = (choice: unknown): choice is Grader =>
  typeof choice === 'object' && choice !== null && !isList(choice);

/**
 * Returns a grader's weights as a new f32 [8] in the order of COMPONENT_NAMES.
 * @throws InputError `unknown_name`, `wrong_type` or `bad_grader`.
 */
export const graderWeights = (grader: GraderLike): Float32Array => floatsOf(toGrader(grader).weights);
