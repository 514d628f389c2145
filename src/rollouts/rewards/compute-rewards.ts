/** Computes the reward stack of validated rows: five rewards per completion and their weighted sum. */
import { arrays } from '../../engine/arrays.js';
import { NO_ACTION } from '../../engine/validate/steps.js';
import { checkOptions, readOptions, toFlag } from '../../shared/values.js';
import { COMPONENT, NUM_STEPS } from '../../world/fields.js';
import {
  type CheckedRows,
  checkRewardRows,
  type Histories,
  historiesOf,
  type RewardRows,
} from './reward-rows.js';
import { checkWeight } from './weighted-totals.js';

/** The numbers of the reward stack (docs/world.md, "The GRPO reward stack"). They are not part of a world (`WorldSpec`). */
export const REWARD_STACK = Object.freeze({
  formatValid: { yes: 1, no: -2 },
  actionLegal: { yes: 0.5, no: -1 },
  envReward: { noAction: -3 },
  beliefAccuracy: { best: 0.5, noBelief: -0.5 },
  beliefSkill: { noBelief: -1 },
});

/** Shaping terms of `envReward`. Both are off by default. */
export interface RewardShaping {
  /** Adds -0.4 if the last six actions, this one included, contain at most two different actions. */
  repetition?: boolean;
  /** Adds 0.2 for an action not yet taken in the episode, if fewer than six different actions were taken before. */
  exploration?: boolean;
}

const SHAPING: readonly (keyof RewardShaping)[] = ['repetition', 'exploration'];

/**
 * The shaping terms of docs/world.md, "The GRPO reward stack". `window` is a number of actions, the current one included.
 * Repetition applies if the window has at most `distinct` different actions. Exploration applies to an action that is new in the
 * episode, if fewer than `distinct` different actions were taken before.
 */
export const REPETITION = Object.freeze({ reward: Math.fround(-0.4), window: 6, distinct: 2 });
export const EXPLORATION = Object.freeze({ reward: Math.fround(0.2), distinct: 6 });

/** Validates the options. @throws InputError `unknown_option` or `wrong_type`. */
function toShaping(shaping: RewardShaping = {}): Required<RewardShaping> {
  checkOptions('shaping', shaping, SHAPING);
  return {
    repetition: toFlag('shaping.repetition', shaping.repetition),
    exploration: toFlag('shaping.exploration', shaping.exploration),
  };
}

/** A name of REWARD_NAMES. */
export type RewardName = keyof typeof REWARD_STACK;

/** The five rewards in reporting order. */
export const REWARD_NAMES: readonly RewardName[] = Object.freeze(Object.keys(REWARD_STACK) as RewardName[]);

/** Options of `rewardStack`. */
export interface RewardStackOptions {
  /**
   * The weight of each reward in `total`, by REWARD_NAMES. Default 1 each, but in `scoreReplay` 0 for `beliefSkill` if
   * the grader's weight of belief_skill is 0.
   */
  weights?: Partial<Readonly<Record<RewardName, number>>>;
  /** Shaping terms of `envReward`. Default none. */
  shaping?: RewardShaping;
}

/**
 * The rewards of n completions and their weighted sum, in new arrays f32 [n]. `envReward`, `beliefAccuracy` and `beliefSkill`
 * are NaN where the replay's value is missing (`RewardRows` in reward-rows.ts).
 */
export interface RewardStack extends Readonly<Record<RewardName, Float32Array>> {
  /** 1 if belief and action both parsed, else -2. */
  readonly formatValid: Float32Array;
  /** 0.5 if the action is one of the ten, else -1. */
  readonly actionLegal: Float32Array;
  /** The step's reward plus the shaping terms; -3 if no action parsed. */
  readonly envReward: Float32Array;
  /** 0.5 minus the belief's mean absolute error; -0.5 if no belief was given. */
  readonly beliefAccuracy: Float32Array;
  /**
   * In [-1, 1]: 1 minus `beliefSkillScale` times the belief's mean squared error, clamped; -1 if no belief was given.
   * Computed at every step, also at those that belief_skill leaves out.
   */
  readonly beliefSkill: Float32Array;
  /** The weighted sum of the rewards that are not missing, in float64, rounded once. */
  readonly total: Float32Array;
}

/** The numbers that do not depend on settings, in the order of `RewardNumbers` in native/rewards.h. */
const NUMBERS = [
  ...[REWARD_STACK.formatValid.yes, REWARD_STACK.formatValid.no],
  ...[REWARD_STACK.actionLegal.yes, REWARD_STACK.actionLegal.no, REWARD_STACK.envReward.noAction],
  ...[REWARD_STACK.beliefAccuracy.best, REWARD_STACK.beliefAccuracy.noBelief],
  REWARD_STACK.beliefSkill.noBelief,
  ...[REPETITION.reward, REPETITION.window, REPETITION.distinct, EXPLORATION.reward, EXPLORATION.distinct],
];

/** The validated options of the stack. */
export interface StackSettings {
  /** f64 [20]: `RewardNumbers` in native/rewards.h. */
  readonly numbers: Float64Array;
  /** Whether there is shaping. Histories are read only then. */
  readonly isShaped: boolean;
}

/**
 * Validates the options.
 * @param grader f32 [8]: if its weight of belief_skill is 0, so is the default weight of `beliefSkill`; null without a grader.
 * @throws InputError `wrong_type`, `out_of_range` or `unknown_option`.
 */
export function toStackSettings(
  { weights = {}, shaping }: RewardStackOptions,
  grader: Float32Array | null,
): StackSettings {
  checkOptions('weights', weights, REWARD_NAMES);
  const factors = REWARD_NAMES.map((name) => {
    const byDefault = name === 'beliefSkill' && grader?.[COMPONENT.beliefSkill] === 0 ? 0 : 1;
    const { [name]: weight = byDefault } = weights;
    return checkWeight(`weights.${name}`, weight);
  });
  const { repetition, exploration } = toShaping(shaping);
  const numbers = [...NUMBERS, Number(repetition), Number(exploration), ...factors];
  return { numbers: new Float64Array(numbers), isShaped: repetition || exploration };
}

const OPTIONS: readonly (keyof RewardStackOptions)[] = ['weights', 'shaping'];

/**
 * Computes the rewards of completions that were parsed and replayed.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `illegal_action` or `unknown_option`. The message
 *   names the index of an invalid entry.
 */
export function rewardStack(rows: RewardRows, options: RewardStackOptions = {}): RewardStack {
  const settings = toStackSettings(readOptions('options of rewardStack', options, OPTIONS), null);
  const checked = checkRewardRows(rows);
  const histories = settings.isShaped ? historiesOf(rows, checked.actions.length) : null;
  const stack = allocateStack(checked.actions.length);
  fillStack(stack, checked, histories, settings, 0, checked.actions.length);
  return stack;
}

/** Allocates the stack of a number of rows, for `fillStack`. */
export const allocateStack = (numRows: number): RewardStack => ({
  formatValid: new Float32Array(numRows),
  actionLegal: new Float32Array(numRows),
  envReward: new Float32Array(numRows),
  beliefAccuracy: new Float32Array(numRows),
  beliefSkill: new Float32Array(numRows),
  total: new Float32Array(numRows),
});

/** Computes the stack of rows `first` to `end - 1`. @param histories not null if there is shaping. */
export function fillStack(
  { formatValid, actionLegal, envReward, beliefAccuracy, beliefSkill, total }: RewardStack,
  rows: CheckedRows,
  histories: Histories | null,
  { numbers, isShaped }: StackSettings,
  first: number,
  end: number,
): void {
  const count = end - first;
  if (count === 0) return;
  const part = <T extends Int8Array | Uint8Array | Float32Array | Float64Array>(column: T): T =>
    count === rows.actions.length ? column : (column.subarray(first, end) as T);
  const doubles = (column: Float32Array | Float64Array): Float64Array =>
    column instanceof Float64Array ? part(column) : new Float64Array(part(column));
  const past = isShaped ? histories : null;
  const stops = past && new Uint8Array(count);
  for (let k = 0; stops && past && k < count; k++)
    if (rows.actions[first + k] !== NO_ACTION) stops[k] = past.steps(first + k);
  arrays().stackRewards(
    ...([count, numbers, part(rows.actions), part(rows.given)] as const),
    ...([doubles(rows.stepRewards), doubles(rows.beliefMae)] as const),
    rows.beliefSkill && doubles(rows.beliefSkill),
    past === null ? null : past.codes.subarray(first * NUM_STEPS, end * NUM_STEPS),
    stops,
    ...[formatValid, actionLegal, envReward, beliefAccuracy, beliefSkill, total].map(part),
  );
}

/**
 * Returns whether a row's rewards show that its completion stated a belief. Without an action, a belief with an error of 1
 * has the same rewards as no belief; the result is then false.
 */
export const hasBelief = ({ formatValid, beliefAccuracy }: RewardStack, row: number): boolean =>
  formatValid[row] === REWARD_STACK.formatValid.yes ||
  beliefAccuracy[row] !== REWARD_STACK.beliefAccuracy.noBelief;
