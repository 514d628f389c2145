/** Validates a changed world: shape, names, the range of every number, and sums of weights. */
import { InputError } from '../shared/errors.js';
import { isPrintable, PRINTABLE } from '../shared/names.js';
import { describe } from '../shared/values.js';
import { MAX_MAGNITUDE, MAX_U32, MIN_MAGNITUDE, NUM_STEPS } from './fields.js';
import { RHYTHM, type WorldSpec } from './numbers.js';

/**
 * The largest valid difference between 1 and a sum of weights. Chosen by hand: a smaller one refuses weights with rounded
 * decimals, a larger one accepts wrong weights.
 */
export const SUM_TOLERANCE = 1e-6;

function refuse(path: string, expected: string, got: unknown): never {
  const where = path === '' ? 'world' : `world.${path}`;
  throw new InputError('bad_world', {
    expected: `${expected} at ${where}`,
    got: show(got),
    remedy: 'Start from a copy of RHYTHM and change only numbers and the name.',
  });
}

/** Formats a value for errors: the entries of a list of numbers, or what `describe` returns. */
const show = (value: unknown): string =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'number')
    ? `[${value.join(', ')}]`
    : describe(value);

/**
 * Returns whether a value is 0, or a number whose nearest float32 has a magnitude in [2^-40, 2^20]. A smaller number is
 * invalid, even if it rounds to 0.
 */
export function inDomain(value: unknown): boolean {
  if (typeof value !== 'number') return false;
  const magnitude = Math.abs(Math.fround(value));
  return value === 0 || (magnitude >= MIN_MAGNITUDE && magnitude <= MAX_MAGNITUDE);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Checks that a candidate has the model's keys, lengths, types and names. Numbers may differ. `model` is the published world
 * or a part of it.
 */
function checkShape(model: unknown, candidate: unknown, path: string): void {
  if (Array.isArray(model)) {
    if (!Array.isArray(candidate)) refuse(path, 'an array', candidate);
    if (candidate.length !== model.length) refuse(path, `${model.length} entries`, candidate);
    for (const [index, entry] of model.entries()) checkShape(entry, candidate[index], `${path}[${index}]`);
  } else if (isObject(model)) {
    if (!isObject(candidate)) refuse(path, 'an object', candidate);
    for (const key of Object.keys(candidate)) {
      if (!Object.hasOwn(model, key)) refuse(join(path, key), 'no such field', candidate[key]);
    }
    for (const key of Object.keys(model)) checkShape(model[key], candidate[key], join(path, key));
  } else if (typeof model === 'number') {
    if (typeof candidate !== 'number' || !Number.isFinite(candidate))
      refuse(path, 'a finite number', candidate);
  } else if (candidate !== model) {
    refuse(path, `${JSON.stringify(model)}, which the world's version fixes,`, candidate);
  }
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** Sizes and codes. The world's version fixes these numbers, so a changed world must have the same. */
const FIXED = /^(days|slotsPerDay|maxEpisodeSteps|heuristic\.rules\[\d+\]\.slots\[\d+\])$/;
/** The largest value of each u32. */
const U32_MAXIMA: Readonly<Record<string, number>> = {
  'constants.eventThreshold': MAX_U32,
  'constants.beliefSkillFrom': NUM_STEPS - 1,
};

function checkNumber(path: string, value: number, model: number): void {
  if (FIXED.test(path)) {
    if (value !== model) refuse(path, `${model}, which the world's version fixes,`, value);
  } else if (Object.hasOwn(U32_MAXIMA, path)) {
    if (!Number.isInteger(value) || value < 0 || value > U32_MAXIMA[path])
      refuse(path, `an integer in [0, ${U32_MAXIMA[path]}]`, value);
  } else if (!inDomain(value)) {
    refuse(path, '0 or a magnitude in [2^-40, 2^20]', value);
  }
}

function checkNumbers(model: unknown, candidate: unknown, path: string): void {
  if (typeof model === 'number') {
    checkNumber(path, candidate as number, model);
  } else if (Array.isArray(model)) {
    for (const [index, entry] of model.entries())
      checkNumbers(entry, (candidate as unknown[])[index], `${path}[${index}]`);
  } else if (isObject(model)) {
    for (const key of Object.keys(model))
      checkNumbers(model[key], (candidate as Record<string, unknown>)[key], join(path, key));
  }
}

/** Returns whether weights sum to 1, within SUM_TOLERANCE. */
export function sumsToOne(weights: ArrayLike<number>): boolean {
  return Math.abs(Array.from(weights).reduce((sum, weight) => sum + weight, 0) - 1) <= SUM_TOLERANCE;
}

function checkSum(path: string, weights: readonly number[]): void {
  if (!sumsToOne(weights)) refuse(path, 'weights that sum to 1', weights);
}

function checkSums(world: WorldSpec): void {
  for (const [name, weights] of Object.entries(world.graders)) checkSum(`graders.${name}`, weights);
  for (const [name, { weights }] of Object.entries(world.profiles))
    checkSum(`profiles.${name}.weights`, weights);
  for (const [index, { factors }] of world.belief.entries()) {
    checkSum(
      `belief[${index}].factors[].share`,
      factors.map((factor) => factor.share),
    );
  }
}

function checkRanges(world: WorldSpec): void {
  for (const [index, meter] of world.initialMeters.entries()) {
    if (meter < 0 || meter > 1) refuse(`initialMeters[${index}]`, 'a meter in [0, 1]', meter);
  }
  for (const [index, { low, high }] of world.traits.entries()) {
    // A range narrower than MIN_MAGNITUDE counts as empty.
    const width = Math.fround(Math.fround(high) - Math.fround(low));
    if (!(width >= MIN_MAGNITUDE)) refuse(`traits[${index}].high`, `more than its low, ${low}`, high);
  }
}

/**
 * Checks the strings that a changed world may change: its name, and the streams, which are numbers written as strings. Returns
 * the world with the published strings, because `checkShape` accepts no others.
 */
function checkStrings(world: Record<string, unknown>): unknown {
  const hasName = Object.hasOwn(world, 'name');
  if (hasName && !isPrintable(world.name)) refuse('name', `a name of ${PRINTABLE}`, world.name);
  const named = hasName ? { ...world, name: RHYTHM.name } : world;
  const { streams } = world;
  if (!isObject(streams)) return named;
  for (const name of Object.keys(RHYTHM.streams)) {
    const hex = streams[name];
    if (typeof hex === 'string' && /^[0-9a-fA-F]{8}$/.test(hex)) continue;
    refuse(`streams.${name}`, 'a string of eight hexadecimal digits', hex);
  }
  return { ...named, streams: { ...streams, ...RHYTHM.streams } };
}

/**
 * Checks a changed world. @returns the same object, typed.
 * @throws InputError `bad_world` that names the field: for a missing, unknown or malformed value, a number that is not
 *   finite or out of its domain, weights or shares that do not sum to 1, and a trait with an empty range.
 */
export function validateWorld(candidate: unknown): WorldSpec {
  if (!isObject(candidate)) refuse('', 'an object', candidate);
  checkShape(RHYTHM, checkStrings(candidate), '');
  checkNumbers(RHYTHM, candidate, '');
  const world = candidate as unknown as WorldSpec;
  checkRanges(world);
  checkSums(world);
  return world;
}
