/** Generalised advantage estimation (Schulman et al. 2016, arXiv:1506.02438). */

import { InputError } from '../../shared/errors.js';
import {
  checkBoolean,
  checkFinite,
  checkInteger,
  checkLength,
  checkRecord,
  isList,
  readOptions,
  wrongType,
} from '../../shared/values.js';
import { MAX_STEPS, toEnds, toFirsts } from './rollout-arguments.js';
import { toDiscount } from './step-advantages.js';

/**
 * Steps of n environments or rollouts, with a value of each step's observation; for example `{ ...rollouts, values }`,
 * where `rollouts` is a result of `rolloutGroups`. Other keys are ignored.
 */
export interface ValueRollouts {
  /** `[n, steps]`: the reward of each step. */
  readonly rewards: ArrayLike<number>;
  /** `[n, steps]`: the value of the observation before each step, as a critic estimates it. */
  readonly values: ArrayLike<number>;
  /** The number of steps in a row. */
  readonly steps: number;
  /**
   * Whether arrays of `[n, steps]` are `[steps, n]` instead, as when the outputs of `step` are stored one after the other.
   * Default false.
   */
  readonly timeMajor?: boolean;
  /**
   * `[n, steps]`: whether the episode ended with the step, as `terminated` of a StepResult. Later steps belong to the next
   * episode. Default: each row is one episode, which ends with the row's last step.
   */
  readonly terminated?: ArrayLike<number | boolean>;
  /** `[n]`: the values of the observations after the last step. Needed unless every row ends with an episode's end. */
  readonly lastValues?: ArrayLike<number>;
  /**
   * `[n, steps]`: whether the environment stepped. 0 for an environment outside the step's mask, and for one that the
   * step only reset (autoreset 'next-step', in the step after the episode's end). Default: all stepped.
   */
  readonly taken?: ArrayLike<number | boolean>;
  /** `[n]`: the index of each row's first step, as `rolloutGroups` returns it. Default 0. */
  readonly firstSteps?: ArrayLike<number>;
  /** `[n]`: the number of steps from the first one on. Default: up to `steps`. */
  readonly lengths?: ArrayLike<number>;
}

/** Validated steps, read from the caller's arrays. */
interface ValidSteps {
  /** The number of rows, and of steps of a row. */
  readonly numRows: number;
  readonly steps: number;
  /** Returns the index of a step in the arrays. */
  readonly at: (row: number, step: number) => number;
  readonly reward: (i: number) => number;
  readonly value: (i: number) => number;
  readonly isTaken: (row: number, step: number) => boolean;
  /** Whether an episode ended with the step at index i; undefined if each row is one episode. */
  readonly hasEnded: ((i: number) => boolean) | undefined;
  /** The value after a row's last step. */
  readonly lastValue: (row: number) => number;
}

/**
 * Validates steps. Their numbers are validated when they are read.
 * @throws InputError `wrong_type`, `wrong_length` or `out_of_range`.
 */
function toValidSteps(rollouts: ValueRollouts): ValidSteps {
  const checked = checkRecord('rollouts', rollouts, 'rewards');
  const { rewards, values, terminated, taken, lastValues, firstSteps, lengths } = checked;
  const steps = checkInteger('steps', checked.steps, 1, MAX_STEPS);
  const timeMajor = checkBoolean('timeMajor', checked.timeMajor ?? false);
  const total = toList('rewards', rewards).length;
  if (total % steps !== 0) {
    throw new InputError('wrong_length', {
      expected: `a multiple of ${steps} rewards (steps)`,
      got: `${total}`,
      remedy: 'Pass whole rows.',
    });
  }
  const numRows = total / steps;
  for (const [name, list] of Object.entries({ values, terminated, taken })) {
    if (list === undefined && name !== 'values') continue;
    checkLength(name, toList(name, list).length, total, 'one for each reward');
  }
  if (lastValues !== undefined)
    checkLength('lastValues', toList('lastValues', lastValues).length, numRows, 'one for each row');
  const firsts = toFirsts(firstSteps, numRows, steps);
  const ends = toEnds(lengths, firsts, steps);
  const at = (row: number, step: number): number => (timeMajor ? step * numRows + row : row * steps + step);
  return {
    ...{ numRows, steps, at },
    reward: (i) => numberAt('rewards', rewards, i),
    value: (i) => numberAt('values', values, i),
    isTaken: (row, step) =>
      step >= firsts[row] && step < ends[row] && (taken === undefined || Boolean(taken[at(row, step)])),
    hasEnded: terminated && ((i) => Boolean(terminated[i])),
    lastValue: (row) => numberAt('lastValues', lastValues ?? refuseOpenRow(row), row),
  };
}

function toList(what: string, list: unknown): ArrayLike<unknown> {
  if (isList(list)) return list;
  throw wrongType(what, 'an array', list, 'Pass an array or a typed array.');
}

function numberAt(what: string, list: ArrayLike<number>, i: number): number {
  const number: unknown = list[i];
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw new InputError('out_of_range', {
    expected: `a finite number at ${what}[${i}]`,
    got: `${String(number)}`,
    remedy: 'Pass finite numbers, and taken, firstSteps or lengths for steps that were not taken.',
  });
}

function refuseOpenRow(row: number): never {
  throw new InputError('wrong_length', {
    expected: 'lastValues',
    got: `none, and the last step of row ${row} ends no episode`,
    remedy: 'Pass the values of the observations after the last step.',
  });
}

/** Options of `generalisedAdvantages`. */
export interface GeneralisedAdvantageOptions {
  /** The discount factor per step, in [0, 1]. Default 0.99. */
  gamma?: number;
  /**
   * The weight of longer sums of rewards, in [0, 1]. 0 uses the step's reward and the value of the next observation; 1 uses all
   * rewards of the episode from the step on. Default 0.95.
   */
  lambda?: number;
}

/**
 * Advantages and returns, in the order of `rewards`. The arrays are new, computed in float64 and rounded to float32 once.
 * Entries of steps that were not taken are 0.
 */
export interface GeneralisedAdvantages {
  /** f32 [n, steps]: the advantage of each step. */
  readonly advantages: Float32Array;
  /** f32 [n, steps]: advantage plus value, the target of the critic. */
  readonly returns: Float32Array;
}

const OPTIONS: readonly (keyof GeneralisedAdvantageOptions)[] = ['gamma', 'lambda'];
const GAMMA = 0.99;
const LAMBDA = 0.95;

/**
 * Computes generalised advantages for methods with a critic, such as PPO. Rewards and values of an episode do not affect the
 * episode before it. An episode of this world terminates with its 28th step, so no value follows its last reward.
 * @throws InputError `wrong_type`, `wrong_length` (also for missing `lastValues`), `out_of_range` (also for a reward or value
 *   of a taken step that is not finite) or `unknown_option`.
 */
export function generalisedAdvantages(
  rollouts: ValueRollouts,
  options: GeneralisedAdvantageOptions = {},
): GeneralisedAdvantages {
  const { gamma = GAMMA, lambda = LAMBDA } = readOptions(
    'options of generalisedAdvantages',
    options,
    OPTIONS,
  );
  const factors = { gamma: toDiscount('gamma', gamma), lambda: toLambda(lambda) };
  const steps = toValidSteps(rollouts);
  const length = steps.numRows * steps.steps;
  const arrays = { advantages: new Float32Array(length), returns: new Float32Array(length) };
  for (let row = 0; row < steps.numRows; row++) writeRow(arrays, steps, row, factors);
  return arrays;
}

/** Writes the advantages of one row, from the last step to the first. */
function writeRow(
  { advantages, returns }: GeneralisedAdvantages,
  { steps, at, reward, value, isTaken, hasEnded, lastValue }: ValidSteps,
  row: number,
  { gamma, lambda }: Required<GeneralisedAdvantageOptions>,
): void {
  let advantage = 0;
  /** The value of the observation after the step: 0 if the episode ended; null until the row's last taken step is found. */
  let next: number | null = hasEnded === undefined ? 0 : null; // undefined: each row is one episode
  for (let step = steps - 1; step >= 0; step--) {
    if (!isTaken(row, step)) continue;
    const i = at(row, step);
    if (hasEnded?.(i)) [advantage, next] = [0, 0];
    next ??= lastValue(row);
    const own = value(i);
    advantage = reward(i) + gamma * next - own + gamma * lambda * advantage;
    advantages[i] = advantage;
    returns[i] = advantage + own;
    next = own;
  }
}

function toLambda(lambda: number): number {
  if (checkFinite('lambda', lambda) >= 0 && lambda <= 1) return lambda;
  throw new InputError('out_of_range', {
    expected: 'lambda to be from 0 to 1',
    got: `${lambda}`,
    remedy: `Leave it out for ${LAMBDA}.`,
  });
}
