/** The two shaping terms of env_reward: against cycles of two actions, and for actions not tried yet. */
import { checkOptions, toFlag } from '../../validate/values.js';

/** Each term is off by default. */
export interface RewardShaping {
  /** -0.4 once six actions were taken, this one included, of which the last six are at most two different ones. */
  repetition?: boolean;
  /** +0.2 for an action not taken before in the episode, as long as fewer than six different ones were. */
  exploration?: boolean;
}

const OPTIONS: readonly (keyof RewardShaping)[] = ['repetition', 'exploration'];

/** World page, The GRPO reward stack. */
const REPETITION = Object.freeze({ reward: Math.fround(-0.4), window: 6, distinct: 2 });
const EXPLORATION = Object.freeze({ reward: Math.fround(0.2), distinct: 6 });

/** @throws InputError `unknown_option` or `wrong_type`. */
export function toShaping(shaping: RewardShaping = {}): Required<RewardShaping> {
  checkOptions('shaping', shaping, OPTIONS);
  return {
    repetition: toFlag('shaping.repetition', shaping.repetition),
    exploration: toFlag('shaping.exploration', shaping.exploration),
  };
}

/**
 * A step's reward with the terms that apply to its action; each addition rounds to float32.
 * @param codes actions; those before this one are `codes[from]` to `codes[to - 1]`.
 */
export function shaped(
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

/** Bit a is set where action a is among them. */
function setOf(codes: Uint8Array, from: number, to: number): number {
  let set = 0;
  for (let at = from; at < to; at++) set |= 1 << codes[at];
  return set;
}

function countOf(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count++;
  return count;
}
