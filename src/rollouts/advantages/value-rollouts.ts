/** Validates steps with rewards and values, of rollouts or of a vector environment. */
import { InputError } from '../../shared/errors.js';
import {
  checkBoolean,
  checkInteger,
  checkLength,
  checkRecord,
  isList,
  wrongType,
} from '../../shared/values.js';
import { MAX_STEPS, toEnds, toFirsts } from './rollout-arguments.js';

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
export interface ValidSteps {
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
export function toValidSteps(rollouts: ValueRollouts): ValidSteps {
  const checked = checkRecord('rollouts', rollouts, 'rewards');
  const { rewards, values, terminated, taken, lastValues, firstSteps, lengths } = checked;
  const steps = checkInteger('steps', checked.steps, 1, MAX_STEPS);
  const timeMajor = checkBoolean('timeMajor', checked.timeMajor ?? false);
  const total = toList('rewards', rewards).length;
  if (total % steps !== 0) {
    throw new InputError(
      'wrong_length',
      `Expected a multiple of ${steps} rewards (steps), got ${total}. Pass whole rows.`,
    );
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
  throw new InputError(
    'out_of_range',
    `Expected a finite number at ${what}[${i}], got ${String(number)}. ` +
      'Pass finite numbers, and taken, firstSteps or lengths for steps that were not taken.',
  );
}

function refuseOpenRow(row: number): never {
  throw new InputError(
    'wrong_length',
    `Expected lastValues, got none, and the last step of row ${row} ends no episode. ` +
      'Pass the values of the observations after the last step.',
  );
}
