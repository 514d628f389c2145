/** Validates groups of rollouts with rewards and state hashes per step. */
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkLength, checkRecord, isList, kindOf, wrongType } from '../../shared/values.js';
import { type RewardList, toTotals } from '../rewards/totals.js';
import { MAX_GROUP_SIZE } from './in-groups.js';

/** Groups of rollouts with rewards and state hashes per step. Other keys are ignored. */
export interface StepRollouts {
  /** `[groups, groupSize, steps]`: the reward of each step. None may be missing. */
  readonly rewards: RewardList;
  /** u64 [groups, groupSize, steps]: the hash of the state in which each step's action was taken. */
  readonly stateHashes: BigUint64Array;
  /** Rollouts of a group. */
  readonly groupSize: number;
  /** The number of steps that each rollout has room for. */
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
export interface Taken {
  /** f64 [rollouts, steps]. */
  readonly rewards: Float64Array;
  readonly hashes: BigUint64Array;
  readonly groupSize: number;
  readonly steps: number;
  /** `[rollouts]`: the steps of each rollout are from `firsts` up to `ends` (excluded). */
  readonly firsts: Uint32Array;
  readonly ends: Uint32Array;
}

/** @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
export function toTaken(rollouts: StepRollouts): Taken {
  const checked = checkRecord('rollouts', rollouts, 'rewards');
  const { rewards, stateHashes, groupSize, steps, firstSteps, lengths } = checked;
  const size = checkInteger('groupSize', groupSize, 1, MAX_GROUP_SIZE);
  const room = checkInteger('steps', steps, 1, MAX_GROUP_SIZE);
  if (kindOf(stateHashes) !== 'BigUint64Array') {
    throw wrongType('stateHashes', 'a BigUint64Array', stateHashes, 'Pass one hash for each step.');
  }
  const total = (stateHashes as ArrayLike<unknown>).length;
  if (total % (size * room) !== 0) {
    throw new InputError(
      'wrong_length',
      `Expected a multiple of ${size * room} state hashes (groupSize x steps), got ${total}. Pass whole groups.`,
    );
  }
  const values = toTotals(rewards);
  checkLength('rewards', values.length, total, 'one for each state hash');
  const firsts = toFirsts(firstSteps, total / room, room);
  const taken = { groupSize: size, steps: room, firsts, ends: toEnds(lengths, firsts, room) };
  return { rewards: allThere(values, taken), hashes: stateHashes, ...taken };
}

function toFirsts(firstSteps: ArrayLike<number> | undefined, rollouts: number, steps: number): Uint32Array {
  if (firstSteps === undefined) return new Uint32Array(rollouts);
  checkList('firstSteps', firstSteps, rollouts, 'Pass the step that each rollout took first.');
  return Uint32Array.from({ length: rollouts }, (_, i) =>
    checkInteger(`firstSteps[${i}]`, firstSteps[i], 0, steps),
  );
}

function toEnds(lengths: ArrayLike<number> | undefined, firsts: Uint32Array, steps: number): Uint32Array {
  if (lengths === undefined) return new Uint32Array(firsts.length).fill(steps);
  checkList('lengths', lengths, firsts.length, 'Pass how many steps each rollout took.');
  return firsts.map((first, i) => first + checkInteger(`lengths[${i}]`, lengths[i], 0, steps - first));
}

function checkList(what: string, list: unknown, rollouts: number, remedy: string): void {
  if (!isList(list)) {
    throw wrongType(what, 'an array', list, remedy);
  }
  checkLength(what, list.length, rollouts, 'one for each rollout');
}

type Shape = Pick<Taken, 'steps' | 'firsts' | 'ends'>;

/** Returns whether the step at index i of [rollouts, steps] was taken. */
export function isTaken({ steps, firsts, ends }: Shape, i: number): boolean {
  const [row, step] = [Math.floor(i / steps), i % steps];
  return step >= firsts[row] && step < ends[row];
}

/** Refuses missing rewards: a return to go needs all of them. @throws InputError `out_of_range`. */
function allThere(rewards: Float64Array, shape: Shape): Float64Array {
  const missing = rewards.findIndex((reward, i) => Number.isNaN(reward) && isTaken(shape, i));
  if (missing < 0) return rewards;
  throw new InputError(
    'out_of_range',
    `Expected a reward for each step that was taken, got none at rewards[${missing}]. ` +
      'Pass firstSteps if the rollout began later, lengths if it was over by then, or leave it out.',
  );
}

/** f64 [rollouts]: the reward of each whole rollout; NaN is missing. */
export function toWholes(episodeRewards: RewardList, { ends }: Taken): Float64Array {
  const wholes = toTotals(episodeRewards);
  checkLength('episodeRewards', wholes.length, ends.length, 'one for each rollout');
  return wholes;
}
