/** The two shaping terms of env_reward: repetition and exploration. */
import { checkOptions, toFlag } from '../../shared/values.js';

/** Shaping terms of `envReward`. Both are off by default. */
export interface RewardShaping {
  /** Adds -0.4 if the last six actions, this one included, contain at most two different actions. */
  repetition?: boolean;
  /** Adds 0.2 for an action not yet taken in the episode, if fewer than six different actions were taken before. */
  exploration?: boolean;
}

const OPTIONS: readonly (keyof RewardShaping)[] = ['repetition', 'exploration'];

/**
 * The shaping terms of docs/world.md, "The GRPO reward stack". `window` is a number of actions, the current one included.
 * Repetition applies if the window has at most `distinct` different actions. Exploration applies to an action that is new in the
 * episode, if fewer than `distinct` different actions were taken before.
 */
export const REPETITION = Object.freeze({ reward: Math.fround(-0.4), window: 6, distinct: 2 });
export const EXPLORATION = Object.freeze({ reward: Math.fround(0.2), distinct: 6 });

/** Validates the options. @throws InputError `unknown_option` or `wrong_type`. */
export function toShaping(shaping: RewardShaping = {}): Required<RewardShaping> {
  checkOptions('shaping', shaping, OPTIONS);
  return {
    repetition: toFlag('shaping.repetition', shaping.repetition),
    exploration: toFlag('shaping.exploration', shaping.exploration),
  };
}

/**
 * Returns a step's reward plus the shaping terms of its action. Each addition rounds to float32.
 * @param codes action codes: those before this action are `codes[from]` to `codes[to - 1]`.
 */
export function shapedReward(
  reward: number,
  action: number,
  codes: Uint8Array,
  from: number,
  to: number,
  { repetition, exploration }: Required<RewardShaping>,
): number {
  let sum = reward;
  if (repetition && repeats(action, codes, from, to)) sum = Math.fround(sum + REPETITION.reward);
  if (exploration && explores(action, codes, from, to)) sum = Math.fround(sum + EXPLORATION.reward);
  return sum;
}

function repeats(action: number, codes: Uint8Array, from: number, to: number): boolean {
  const before = REPETITION.window - 1;
  if (to - from < before) return false;
  return countOf(setOf(codes, to - before, to) | (1 << action)) <= REPETITION.distinct;
}

function explores(action: number, codes: Uint8Array, from: number, to: number): boolean {
  const used = setOf(codes, from, to);
  return (used & (1 << action)) === 0 && countOf(used) < EXPLORATION.distinct;
}

/** Returns a bit set: bit a is set if action a occurs. */
function setOf(codes: Uint8Array, from: number, to: number): number {
  let set = 0;
  for (let at = from; at < to; at++) set |= 1 << codes[at];
  return set;
}

/** Returns the number of bits that are set. Each turn of the loop clears the lowest one. */
function countOf(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count++;
  return count;
}
