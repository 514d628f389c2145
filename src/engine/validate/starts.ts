/** Validates the states in which episodes begin. */
import { InputError } from '../../shared/errors.js';
import {
  checkInteger,
  checkLength,
  describe,
  isFloats,
  isList,
  readOptions,
  wrongType,
} from '../../shared/values.js';
import { MAX_SUM, METER_NAMES, NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import { type FloatRange, firstOutside } from './floats.js';

/**
 * The states of episodes that begin after step 0. With a mask, only the entries of its environments are used. Numbers are
 * rounded to float32, and must be 0 or at least 2^-80 in magnitude. With exact float32 values, episodes continue exactly
 * as if they had been played from step 0.
 */
export interface StartStates {
  /** Steps taken, 0 to 27: one number for all environments, or one per environment. */
  steps: number | ArrayLike<number>;
  /** [numEnvs, 5], flat, by METER_NAMES, in [0, 1]. */
  meters: ArrayLike<number>;
  /** `[numEnvs]`: sum of the rewards of the first half, without noise; 0 before the first step. Default: 0. */
  early?: ArrayLike<number>;
  /** `[numEnvs]`: sum of the rewards of the second half, without noise; 0 up to step 14. Default: 0. */
  late?: ArrayLike<number>;
  /** `[numEnvs]`: how often a meter was below the crash threshold, at most 5 for each step. Default: 0. */
  crashes?: ArrayLike<number>;
  /**
   * `[numEnvs]`: sum of the rewards, with noise; `episodeReturns` continue from it; 0 before the first step. Default:
   * 0.
   */
  returns?: ArrayLike<number>;
}

/** Validated start states. Entries of environments that are not reset are undefined. */
export interface EnvStarts {
  /** u8 [numEnvs], 0 to 27. */
  readonly steps: Uint8Array;
  /** f32 [numEnvs, 5] in [0, 1]. */
  readonly meters: Float32Array;
  /** f32 [numEnvs] each, from -2^64 to 2^64; null for 0. */
  readonly early: Float32Array | null;
  readonly late: Float32Array | null;
  readonly returns: Float32Array | null;
  /** u8 [numEnvs]; null for 0. */
  readonly crashes: Uint8Array | null;
}

export const START_OPTIONS: readonly (keyof StartStates)[] = [
  'steps',
  'meters',
  'early',
  'late',
  'crashes',
  'returns',
];
const LAST_START = NUM_STEPS - 1;
/**
 * The smallest magnitude except 0. Its products with the means' factors and with a weight of 2^-40 are still normal
 * float32s. A device may flush subnormal ones to 0.
 */
const MIN_VALUE = 2 ** -80;
const METERS: FloatRange = { low: MIN_VALUE, high: 1, signed: false };
/** Bounds of sums of rewards in any world. */
const SUMS: FloatRange = { low: MIN_VALUE, high: MAX_SUM, signed: true };

type FloatsName = Exclude<keyof StartStates, 'steps' | 'crashes'>;

/**
 * Validates the start states of the environments of a mask. @returns copies.
 * @param mask u8 [numEnvs], null for all. It must not change during the call.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` or `unknown_option`.
 */
export function toStart(given: StartStates, numEnvs: number, mask: Uint8Array | null): EnvStarts {
  const start = readOptions('start', given, START_OPTIONS);
  const steps = toSteps(start.steps, numEnvs, mask);
  const sum = (name: 'early' | 'late' | 'returns', first: number) =>
    start[name] === undefined ? null : toSums(name, start[name], steps, mask, first);
  return {
    steps,
    meters: toMeters(start.meters, numEnvs, mask),
    early: sum('early', 1),
    late: sum('late', NUM_STEPS / 2 + 1),
    returns: sum('returns', 1),
    crashes: start.crashes === undefined ? null : toCrashes(start.crashes, steps, mask),
  };
}

function checkList(name: keyof StartStates, list: unknown, length: number, unit: string): void {
  if (!isList(list)) throw wrongType(`start.${name}`, `an array [${unit}]`, list, listRemedy(list, length));
  checkLength(`entries in start.${name}`, list.length, length, unit);
}

/** Returns the remedy for a value that is not a list. Only `steps` accepts one number for all. */
const listRemedy = (given: unknown, length: number): string =>
  typeof given === 'number'
    ? `Pass a number for each environment, such as new Float32Array(${length}).fill(${given}).`
    : 'Pass a list of numbers or a typed array.';

function toSteps(list: number | ArrayLike<number>, numEnvs: number, mask: Uint8Array | null): Uint8Array {
  const steps = new Uint8Array(numEnvs);
  if (typeof list === 'number') return steps.fill(checkInteger('start.steps', list, 0, LAST_START));
  checkList('steps', list, numEnvs, 'numEnvs');
  for (let i = 0; i < numEnvs; i++) {
    if (mask === null || mask[i] !== 0) steps[i] = toCount('steps', list[i], i, LAST_START);
  }
  return steps;
}

function toCrashes(list: ArrayLike<number>, steps: Uint8Array, mask: Uint8Array | null): Uint8Array {
  checkList('crashes', list, steps.length, 'numEnvs');
  const crashes = new Uint8Array(steps.length);
  for (let i = 0; i < steps.length; i++) {
    if (mask === null || mask[i] !== 0) crashes[i] = toCount('crashes', list[i], i, NUM_METERS * steps[i]);
  }
  return crashes;
}

/** Checks a count. Builds the entry's name only for an error. */
function toCount(name: 'steps' | 'crashes', value: unknown, i: number, max: number): number {
  if (typeof value === 'number' && (value | 0) === value && value >= 0 && value <= max) return value;
  return checkInteger(`start.${name}[${i}]`, value, 0, max);
}

/** Copies rows of floats. Rows of environments outside the mask are undefined. */
function toFloats(
  name: FloatsName,
  list: ArrayLike<number>,
  numEnvs: number,
  width: number,
  mask: Uint8Array | null,
): Float32Array {
  const unit = width === 1 ? 'numEnvs' : `numEnvs x ${width}`;
  checkList(name, list, numEnvs * width, unit);
  if (isFloats(list)) return new Float32Array(list);
  const floats = new Float32Array(numEnvs * width);
  for (let at = 0; at < floats.length; at++) {
    if (mask !== null && mask[Math.floor(at / width)] === 0) continue;
    const value: unknown = list[at];
    if (typeof value !== 'number') refuse(name, at, 'a number', value);
    floats[at] = value;
  }
  return floats;
}

function toMeters(list: ArrayLike<number>, numEnvs: number, mask: Uint8Array | null): Float32Array {
  const meters = toFloats('meters', list, numEnvs, NUM_METERS, mask);
  const outside = firstOutside(meters, METERS, NUM_METERS, mask);
  if (outside >= 0) refuse('meters', outside, 'a number from 0 to 1', meters[outside]);
  return meters;
}

/** Checks sums of rewards. @param first the first step after which a sum may differ from 0. */
function toSums(
  name: 'early' | 'late' | 'returns',
  list: ArrayLike<number>,
  steps: Uint8Array,
  mask: Uint8Array | null,
  first: number,
): Float32Array {
  const sums = toFloats(name, list, steps.length, 1, mask);
  const outside = firstOutside(sums, SUMS, 1, mask);
  if (outside >= 0) refuse(name, outside, 'a number from -2^64 to 2^64', sums[outside]);
  for (let i = 0; i < sums.length; i++) {
    if (sums[i] === 0 || steps[i] >= first || (mask !== null && mask[i] === 0)) continue;
    refuse(name, i, `0, as nothing is added to it in the first ${first - 1} steps,`, sums[i]);
  }
  return sums;
}

/** Throws the error for an invalid number, which the message shows rounded to float32. */
function refuse(name: FloatsName, at: number, expected: string, value: unknown): never {
  const [env, meter] = [Math.floor(at / NUM_METERS), METER_NAMES[at % NUM_METERS]];
  const where = `start.${name}[${at}]${name === 'meters' ? ` (${meter} of environment ${env})` : ''}`;
  throw new InputError(
    typeof value === 'number' ? 'out_of_range' : 'wrong_type',
    `Expected ${expected} at ${where}, got ${describe(value)}. No episode has begun. Pass 0 or a magnitude of at least 2^-80.`,
  );
}
