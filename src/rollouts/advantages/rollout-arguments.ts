/** Validates groups of rollouts with rewards and state hashes per step. */
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkLength, checkRecord, isList, kindOf, wrongType } from '../../shared/values.js';
import { type RewardList, toTotals } from '../rewards/weighted-totals.js';
import { MAX_GROUP_SIZE } from './group-advantages.js';

/** The maximum of `steps`, chosen by hand. */
export const MAX_STEPS = MAX_GROUP_SIZE;

/** Groups of rollouts with rewards and state hashes per step. Other keys are ignored. */
export interface StepRollouts {
  /** `[groups, groupSize, steps]`: the reward of each step. Every step of a rollout must have one. */
  readonly rewards: RewardList;
  /** u64 [groups, groupSize, steps]: the hash of the state in which each step's action was taken. */
  readonly stateHashes: BigUint64Array;
  /** The number of rollouts in a group. */
  readonly groupSize: number;
  /** The number of steps in a row of the arrays. A rollout may have fewer. */
  readonly steps: number;
  /**
   * `[groups, groupSize]`: the index of each rollout's first step, or `steps` for a rollout without steps; as
   * `rolloutGroups` returns it. Default: 0.
   */
  readonly firstSteps?: ArrayLike<number>;
  /** `[groups, groupSize]`: the number of steps from the first one on. Default: up to `steps`. */
  readonly lengths?: ArrayLike<number>;
}

/** Validated rollouts. */
export interface ValidRollouts {
  /** f64 [rollouts, steps]. NaN is missing. */
  readonly rewards: Float64Array;
  readonly hashes: BigUint64Array;
  readonly groupSize: number;
  readonly steps: number;
  /** u32 [rollouts]: the index of each rollout's first step. */
  readonly firsts: Uint32Array;
  /** u32 [rollouts]: the index after each rollout's last step. */
  readonly ends: Uint32Array;
}

/** Validates rollouts. @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
export function validateRollouts(rollouts: StepRollouts): ValidRollouts {
  const checked = checkRecord('rollouts', rollouts, 'rewards');
  const { rewards, stateHashes, groupSize, steps, firstSteps, lengths } = checked;
  const size = checkInteger('groupSize', groupSize, 1, MAX_GROUP_SIZE);
  const width = checkInteger('steps', steps, 1, MAX_STEPS);
  if (kindOf(stateHashes) !== 'BigUint64Array') {
    throw wrongType('stateHashes', 'a BigUint64Array', stateHashes, 'Pass one hash for each step.');
  }
  const total = (stateHashes as ArrayLike<unknown>).length;
  if (total % (size * width) !== 0) {
    throw new InputError('wrong_length', {
      expected: `a multiple of ${size * width} state hashes (groupSize x steps)`,
      got: `${total}`,
      remedy: 'Pass whole groups.',
    });
  }
  const values = toTotals(rewards);
  checkLength('rewards', values.length, total, 'one for each state hash');
  const firsts = toFirsts(firstSteps, total / width, width);
  const shape = { groupSize: size, steps: width, firsts, ends: toEnds(lengths, firsts, width) };
  checkNoneMissing(values, shape);
  return { rewards: values, hashes: stateHashes, ...shape };
}

/** Validates the indices of first steps, u32 [rollouts]; 0 by default. */
export function toFirsts(
  firstSteps: ArrayLike<number> | undefined,
  numRollouts: number,
  steps: number,
): Uint32Array {
  if (firstSteps === undefined) return new Uint32Array(numRollouts);
  checkList('firstSteps', firstSteps, numRollouts, 'Pass the index of the first step of each rollout.');
  return Uint32Array.from({ length: numRollouts }, (_, i) =>
    checkInteger(`firstSteps[${i}]`, firstSteps[i], 0, steps),
  );
}

/** Validates lengths, and returns the index after each last step, u32 [rollouts]; `steps` by default. */
export function toEnds(
  lengths: ArrayLike<number> | undefined,
  firsts: Uint32Array,
  steps: number,
): Uint32Array {
  if (lengths === undefined) return new Uint32Array(firsts.length).fill(steps);
  checkList('lengths', lengths, firsts.length, 'Pass the number of steps of each rollout.');
  return firsts.map((first, i) => first + checkInteger(`lengths[${i}]`, lengths[i], 0, steps - first));
}

function checkList(what: string, list: unknown, numRollouts: number, remedy: string): void {
  if (!isList(list)) {
    throw wrongType(what, 'an array', list, remedy);
  }
  checkLength(what, list.length, numRollouts, 'one for each rollout');
}

type Shape = Pick<ValidRollouts, 'steps' | 'firsts' | 'ends'>;

/** Returns whether a rollout has the step at index i of [rollouts, steps]. */
export function isTaken({ steps, firsts, ends }: Shape, i: number): boolean {
  const [row, step] = [Math.floor(i / steps), i % steps];
  return step >= firsts[row] && step < ends[row];
}

/**
 * Checks that every step of a rollout has a reward, because a return-to-go sums all later rewards.
 * @throws InputError `out_of_range`.
 */
function checkNoneMissing(rewards: Float64Array, shape: Shape): void {
  const missing = rewards.findIndex((reward, i) => Number.isNaN(reward) && isTaken(shape, i));
  if (missing < 0) return;
  throw new InputError('out_of_range', {
    expected: 'a reward for each step that was taken',
    got: `none at rewards[${missing}]`,
    remedy:
      'Pass firstSteps if the rollout began after this step, or lengths if the rollout ended before this step.',
  });
}

/** Validates one reward per rollout, f64 [rollouts]; NaN is missing. */
export function toEpisodeRewards(episodeRewards: RewardList, { ends }: ValidRollouts): Float64Array {
  const totals = toTotals(episodeRewards);
  checkLength('episodeRewards', totals.length, ends.length, 'one for each rollout');
  return totals;
}
