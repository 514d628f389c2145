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
import type { Params } from '../../world/block.js';
import {
  MAX_SUM,
  METER_NAMES,
  MODE,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_STEPS,
  NUM_TRAITS,
  PROFILE_SIZE,
} from '../../world/fields.js';
import { clampBelief } from '../reference/profile.js';
import { type Bounds, firstOutside, ONLY_ZERO, skillBounds, UNBOUNDED, wellBounds } from './float-bounds.js';
import { toBeliefs, toGiven } from './steps.js';

/**
 * The states in which episodes begin, at any step. With a mask, only the entries of its environments are used. Meters and
 * sums are rounded to float32, and must be 0 or at least 2^-80 in magnitude. With exact float32 values, episodes continue
 * exactly as if they had been played from step 0.
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
  /** `[numEnvs]`: sum of the rewards, with noise, from which `episodeReturns` continue; 0 before the first step. Default: 0. */
  returns?: ArrayLike<number>;
  /**
   * `[numEnvs]`: sum of the meters after each step, weighted by the reward weights; 0 before the first step. If the weights
   * are not negative and sum to 1, it is in [0, steps]. Default: 0.
   */
  well?: ArrayLike<number>;
  /** `[numEnvs]`: sum of the terms of `belief_skill`; 0 up to step `beliefSkillFrom` of the world. Default: 0. */
  skill?: ArrayLike<number>;
  /**
   * [numEnvs, 3], flat, by BELIEF_NAMES: the last belief given, clamped to [0, 1]; three NaN if none was given, as always at
   * step 0. Default: none.
   */
  beliefs?: ArrayLike<number>;
}

/** Validated start states. Entries of environments that are not reset have no meaning. */
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
  /** f32 [numEnvs] each; null for 0. */
  readonly well: Float32Array | null;
  readonly skill: Float32Array | null;
  /** f32 [numEnvs, 3] in [0, 1] where given; null for none. */
  readonly beliefs: Float32Array | null;
  /** u8 [numEnvs]: 1 where a belief was given before the start; null if `beliefs` is null. */
  readonly given: Uint8Array | null;
}

/** The parts of a reset's request on which start states depend. */
export interface StartContext {
  readonly numEnvs: number;
  /** u8 [numEnvs], null for all. It must not change during the call. */
  readonly mask: Uint8Array | null;
  readonly params: Params;
  /** u8 [numEnvs], codes of PROFILE_MODES; null if the reset keeps the modes. */
  readonly modes: Uint8Array | null;
  /** f32 [numEnvs, 16], used for mode `given`; null if the reset keeps these profiles. */
  readonly profiles: Float32Array | null;
}

/** The names of the fields of start states. */
export const START_OPTIONS: readonly (keyof StartStates)[] = [
  'steps',
  'meters',
  'early',
  'late',
  'crashes',
  'returns',
  'well',
  'skill',
  'beliefs',
];
const LAST_START = NUM_STEPS - 1;
/**
 * The smallest magnitude, other than 0, of a meter or a sum. Its product with the factor of a mean (at least 1/28) and with a
 * weight other than 0 (magnitude at least 2^-40) is still a normal float32. A device may flush subnormal float32s to 0.
 */
export const MIN_VALUE = 2 ** -80;
/** The numbers of each environment, their range in any world, and the range in words. */
const METERS = {
  width: NUM_METERS,
  range: { low: MIN_VALUE, high: 1, signed: false },
  expected: 'a number from 0 to 1',
};
const SUMS = {
  width: 1,
  range: { low: MIN_VALUE, high: MAX_SUM, signed: true },
  expected: 'a number from -2^64 to 2^64',
};

type SumName = 'early' | 'late' | 'returns' | 'well' | 'skill';
type FloatsName = 'meters' | SumName;
/** The smallest number of steps after which each reward sum may differ from 0. */
export const FIRST_NONZERO = { early: 1, late: NUM_STEPS / 2 + 1, returns: 1 };

/**
 * Validates the start states of the environments of a mask. @returns copies.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `bad_belief` or `unknown_option`.
 */
export function toStart(states: StartStates, context: StartContext): EnvStarts {
  const start = readOptions('start', states, START_OPTIONS);
  const { numEnvs, mask, params } = context;
  const steps =
    typeof start.steps === 'number'
      ? new Uint8Array(numEnvs).fill(checkInteger('start.steps', start.steps, 0, LAST_START))
      : toCounts('steps', start.steps, numEnvs, mask, () => LAST_START);
  const discrete = discreteWeights(params);
  const sum = (name: SumName, boundsAt: (env: number) => Bounds) =>
    start[name] === undefined ? null : toSums(name, start[name], steps, mask, boundsAt);
  const rewards = (name: keyof typeof FIRST_NONZERO) =>
    sum(name, (env) => (steps[env] < FIRST_NONZERO[name] ? ONLY_ZERO : UNBOUNDED));
  return {
    steps,
    meters: toFloats('meters', start.meters, numEnvs, mask),
    early: rewards('early'),
    late: rewards('late'),
    returns: rewards('returns'),
    crashes:
      start.crashes === undefined
        ? null
        : toCounts('crashes', start.crashes, numEnvs, mask, (env) => NUM_METERS * steps[env]),
    well: sum('well', (env) => wellBounds(steps[env], weightsAt(context, discrete, env))),
    skill: sum('skill', (env) => skillBounds(params, steps[env])),
    ...(start.beliefs === undefined ? NO_BELIEFS : toStartBeliefs(start.beliefs, steps, context)),
  };
}

/**
 * Weights that sum to 1, none negative. All such weights have the same `wellBounds`, so these stand for any of them. A
 * sampled profile has such weights.
 */
const UNIT_SUM_WEIGHTS = Float32Array.of(1, 0, 0, 0, 0);

/**
 * Returns weights with the same `wellBounds` as an environment's reward weights; null if these are unknown.
 * @param discrete the result of `discreteWeights`.
 */
function weightsAt(
  { modes, profiles }: StartContext,
  discrete: Float32Array | null,
  env: number,
): Float32Array | null {
  if (modes === null) return null;
  if (modes[env] === MODE.sampled) return UNIT_SUM_WEIGHTS;
  if (modes[env] === MODE.discrete) return discrete;
  return profiles?.subarray(env * PROFILE_SIZE + NUM_TRAITS, (env + 1) * PROFILE_SIZE) ?? null;
}

/**
 * Returns weights with the same `wellBounds` as the weights of every named profile, which sum to 1. Returns null if a named
 * profile has a negative weight, which is possible in a changed world.
 */
function discreteWeights({ namedProfiles }: Params): Float32Array | null {
  const numbers = Array.from(namedProfiles);
  return numbers.some((number, at) => at % PROFILE_SIZE >= NUM_TRAITS && number < 0)
    ? null
    : UNIT_SUM_WEIGHTS;
}

const NO_BELIEFS = { beliefs: null, given: null };

/** Validates and clamps the beliefs given before the start. */
function toStartBeliefs(
  list: ArrayLike<number>,
  steps: Uint8Array,
  { numEnvs, mask, params }: StartContext,
): Pick<EnvStarts, 'beliefs' | 'given'> {
  const beliefs = Float32Array.from(toBeliefs(list, numEnvs, 'numEnvs', null, mask, 'start.beliefs'));
  const given = toGiven(beliefs, numEnvs, new Uint8Array(numEnvs), mask, 'start.beliefs');
  for (let at = 0; at < beliefs.length; at++) {
    const env = Math.floor(at / NUM_BELIEFS);
    beliefs[at] = given[env] ? clampBelief(beliefs[at], params.smallestBelief) : 0.5;
    if (given[env] === 0 || steps[env] > 0 || mask?.[env] === 0) continue;
    throw new InputError('bad_belief', {
      expected: `three NaN (no belief) in start.beliefs row ${env}, which begins at step 0`,
      got: 'a belief',
      remedy: 'No episode has begun. Pass the belief with the first action.',
    });
  }
  return { beliefs, given };
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

/** Returns integers from 0 to `maxAt` of each environment. `value | 0` is the integer part. */
function toCounts(
  name: 'steps' | 'crashes',
  list: ArrayLike<number>,
  numEnvs: number,
  mask: Uint8Array | null,
  maxAt: (env: number) => number,
): Uint8Array {
  checkList(name, list, numEnvs, 'numEnvs');
  const counts = new Uint8Array(numEnvs);
  for (let i = 0; i < numEnvs; i++) {
    if (mask !== null && mask[i] === 0) continue;
    const [value, max]: [unknown, number] = [list[i], maxAt(i)];
    const isCount = typeof value === 'number' && (value | 0) === value && value >= 0 && value <= max;
    // The entry's name is built only for an error.
    counts[i] = isCount ? value : checkInteger(`start.${name}[${i}]`, value, 0, max);
  }
  return counts;
}

/** Copies rows of floats, and checks their range. Rows of environments outside the mask have no meaning. */
function toFloats(
  name: FloatsName,
  list: ArrayLike<number>,
  numEnvs: number,
  mask: Uint8Array | null,
): Float32Array {
  const { width, range, expected } = name === 'meters' ? METERS : SUMS;
  checkList(name, list, numEnvs * width, width === 1 ? 'numEnvs' : `numEnvs x ${width}`);
  const given: ArrayLike<number> | null = isFloats(list) ? list : null;
  const floats = given === null ? new Float32Array(numEnvs * width) : new Float32Array(given);
  for (let at = 0; given === null && at < floats.length; at++) {
    if (mask !== null && mask[Math.floor(at / width)] === 0) continue;
    const value: unknown = list[at];
    if (typeof value !== 'number') refuse(name, at, 'a number', value);
    floats[at] = value;
  }
  const outside = firstOutside(floats, range, width, mask);
  if (outside >= 0) refuse(name, outside, expected, floats[outside]);
  return floats;
}

/** Checks sums against the bounds of each environment, which all contain 0. */
function toSums(
  name: SumName,
  list: ArrayLike<number>,
  steps: Uint8Array,
  mask: Uint8Array | null,
  boundsAt: (env: number) => Bounds,
): Float32Array {
  const sums = toFloats(name, list, steps.length, mask);
  for (let i = 0; i < sums.length; i++) {
    if (sums[i] === 0 || (mask !== null && mask[i] === 0)) continue;
    const [low, high] = boundsAt(i);
    if (sums[i] >= low && sums[i] <= high) continue;
    const expected =
      low === high
        ? `0, because the episode begins at step ${steps[i]}, before anything was added to it,`
        : `a number from ${low} to ${high}, as ${steps[i]} steps were taken,`;
    refuse(name, i, expected, sums[i]);
  }
  return sums;
}

/** Throws the error for an invalid entry. The message shows a number rounded to float32. */
function refuse(name: FloatsName, at: number, expected: string, value: unknown): never {
  const isTiny = value !== 0 && Math.abs(Number(value)) < MIN_VALUE;
  const remedy = isTiny ? 'Pass 0 or a magnitude of at least 2^-80.' : 'Pass the expected number.';
  const [env, meter] = [Math.floor(at / NUM_METERS), METER_NAMES[at % NUM_METERS]];
  const where = `start.${name}[${at}]${name === 'meters' ? ` (${meter} of environment ${env})` : ''}`;
  throw new InputError(typeof value === 'number' ? 'out_of_range' : 'wrong_type', {
    expected: `${expected} at ${where}`,
    got: describe(value),
    remedy: `No episode has begun. ${remedy}`,
  });
}
