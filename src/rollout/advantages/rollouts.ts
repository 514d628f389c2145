/** Groups of rollouts as callers pass them, step by step, checked once. */
import { InputError } from '../../errors.js';
import {
  checkInteger,
  checkLength,
  checkRecord,
  isList,
  kindOf,
  lengthOf,
  wrongType,
} from '../../validate/values.js';
import { type RewardList, toTotals } from '../rewards/totals.js';
import { MAX_GROUP_SIZE } from './in-groups.js';

/** Groups of rollouts, step by step; what else such an object holds is ignored. */
export interface StepRollouts {
  /** [groups, groupSize, steps]: the reward of each step. None may be missing. */
  readonly rewards: RewardList;
  /** u64 [groups, groupSize, steps]: the hash of the state in which each step's action was taken. */
  readonly stateHashes: BigUint64Array;
  readonly groupSize: number;
  /** How many steps each rollout has room for. */
  readonly steps: number;
  /** [groups, groupSize]: how many of these it took, from the first on. Default: all. */
  readonly lengths?: ArrayLike<number>;
}

/** Rollouts that are known to be good. */
export interface Taken {
  /** f64 [rollouts, steps]. */
  readonly rewards: Float64Array;
  readonly hashes: BigUint64Array;
  readonly groupSize: number;
  readonly steps: number;
  /** [rollouts]: how many steps each took. */
  readonly lengths: Uint32Array;
}

/** @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
export function toTaken(rollouts: StepRollouts): Taken {
  const { rewards, stateHashes, groupSize, steps, lengths } = checkRecord('rollouts', rollouts, 'rewards');
  const size = checkInteger('groupSize', groupSize, 1, MAX_GROUP_SIZE);
  const room = checkInteger('steps', steps, 1, MAX_GROUP_SIZE);
  if (kindOf(stateHashes) !== 'BigUint64Array') {
    throw wrongType('stateHashes', 'a BigUint64Array', stateHashes, 'Pass one hash for each step.');
  }
  const total = lengthOf(stateHashes as ArrayLike<unknown>);
  if (total % (size * room) !== 0) {
    throw new InputError(
      'wrong_length',
      `Expected a multiple of ${size * room} state hashes (groupSize x steps), got ${total}. Pass whole groups.`,
    );
  }
  const values = toTotals(rewards);
  checkLength('rewards', values.length, total, 'one for each state hash');
  const taken = { groupSize: size, steps: room, lengths: toLengths(lengths, total / room, room) };
  return { rewards: allThere(values, taken), hashes: stateHashes, ...taken };
}

function toLengths(lengths: ArrayLike<number> | undefined, rollouts: number, steps: number): Uint32Array {
  if (lengths === undefined) return new Uint32Array(rollouts).fill(steps);
  if (!isList(lengths)) {
    throw wrongType('lengths', 'an array', lengths, 'Pass how many steps each rollout took.');
  }
  checkLength('lengths', lengthOf(lengths), rollouts, 'one for each rollout');
  return Uint32Array.from({ length: rollouts }, (_, i) =>
    checkInteger(`lengths[${i}]`, lengths[i], 0, steps),
  );
}

type Shape = Pick<Taken, 'steps' | 'lengths'>;

/** Whether a step, by its place in [rollouts, steps], was taken. */
export const isTaken = ({ steps, lengths }: Shape, i: number): boolean =>
  i % steps < lengths[Math.floor(i / steps)];

/** A return to go has no meaning without one of its rewards. @throws InputError `out_of_range`. */
function allThere(rewards: Float64Array, shape: Shape): Float64Array {
  const missing = rewards.findIndex((reward, i) => Number.isNaN(reward) && isTaken(shape, i));
  if (missing < 0) return rewards;
  throw new InputError(
    'out_of_range',
    `Expected a reward for each step that was taken, got none at rewards[${missing}]. ` +
      'Pass lengths if the rollout was over by then, or leave the rollout out.',
  );
}

/** f64 [rollouts]: NaN where one is missing. */
export function toWholes(episodeRewards: RewardList, { lengths }: Taken): Float64Array {
  const wholes = toTotals(episodeRewards);
  checkLength('episodeRewards', wholes.length, lengths.length, 'one for each rollout');
  return wholes;
}
