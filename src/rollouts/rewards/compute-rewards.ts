/** Computes the reward stack of validated rows: five rewards per completion and their weighted sum. */
import { NO_ACTION } from '../../engine/validate/steps.js';
import { checkOptions } from '../../shared/values.js';
import { COMPONENT, NUM_STEPS } from '../../world/fields.js';
import type { CheckedRows, Histories } from './reward-rows.js';
import { type RewardShaping, shapedReward, toShaping } from './shaping.js';
import { checkWeight } from './weighted-totals.js';

/** The numbers of the reward stack (docs/world.md, "The GRPO reward stack"). They are not part of a world (`WorldSpec`). */
export const REWARD_STACK = Object.freeze({
  formatValid: { yes: 1, no: -2 },
  actionLegal: { yes: 0.5, no: -1 },
  envReward: { noAction: -3 },
  beliefAccuracy: { best: 0.5, noBelief: -0.5 },
  beliefSkill: { noBelief: -1 },
});

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

/** The validated options of the stack. */
export interface StackSettings {
  /** The weights, by REWARD_NAMES. */
  readonly factors: readonly number[];
  /** Null without shaping. Histories are then not read. */
  readonly shaping: Required<RewardShaping> | null;
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
  const shapingTerms = toShaping(shaping);
  return { factors, shaping: shapingTerms.repetition || shapingTerms.exploration ? shapingTerms : null };
}

/** Computes the stack. @param histories not null if there is shaping. */
export function stackRewards(
  rows: CheckedRows,
  histories: Histories | null,
  settings: StackSettings,
): RewardStack {
  const stack = allocateStack(rows.actions.length);
  fillStack(stack, rows, histories, settings, 0, rows.actions.length);
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

/** Computes the stack of rows `first` to `end - 1`, in one pass. @param histories not null if there is shaping. */
export function fillStack(
  { formatValid, actionLegal, envReward, beliefAccuracy, beliefSkill, total }: RewardStack,
  { actions, given, stepRewards, beliefMae, beliefSkill: skillTerms }: CheckedRows,
  histories: Histories | null,
  { factors: [valid, legal, env, accuracy, skill], shaping }: StackSettings,
  first: number,
  end: number,
): void {
  const { formatValid: format, actionLegal: legality, beliefAccuracy: belief } = REWARD_STACK;
  for (let row = first; row < end; row++) {
    const hasAction = actions[row] !== NO_ACTION;
    const hasGivenBelief = given[row] !== 0;
    const validReward = hasAction && hasGivenBelief ? format.yes : format.no;
    const legalReward = hasAction ? legality.yes : legality.no;
    let stepReward = hasAction ? Math.fround(stepRewards[row]) : REWARD_STACK.envReward.noAction;
    if (hasAction && shaping !== null && histories !== null) {
      stepReward = shaped(stepReward, actions[row], histories, row, shaping);
    }
    const accuracyReward = hasGivenBelief ? Math.fround(belief.best - beliefMae[row]) : belief.noBelief;
    const skillReward = skillTerms === null ? Number.NaN : skillRewardOf(hasGivenBelief, skillTerms[row]);
    formatValid[row] = validReward;
    actionLegal[row] = legalReward;
    envReward[row] = stepReward;
    beliefAccuracy[row] = accuracyReward;
    beliefSkill[row] = skillReward;
    // In float64, rounded once. Missing rewards are left out.
    let sum = valid * validReward + legal * legalReward;
    if (!Number.isNaN(stepReward)) sum += env * stepReward;
    if (!Number.isNaN(accuracyReward)) sum += accuracy * accuracyReward;
    // Skips a weight of 0, because adding 0 would turn a sum of -0 into +0.
    if (skill !== 0 && !Number.isNaN(skillReward)) sum += skill * skillReward;
    total[row] = sum;
  }
}

const skillRewardOf = (hasGivenBelief: boolean, term: number): number =>
  hasGivenBelief ? Math.fround(term) : REWARD_STACK.beliefSkill.noBelief;

/** Returns a step's reward plus the shaping terms of its action. */
function shaped(
  reward: number,
  action: number,
  { codes, steps }: Histories,
  row: number,
  terms: Required<RewardShaping>,
): number {
  const from = row * NUM_STEPS;
  return shapedReward(reward, action, codes, from, from + steps(row), terms);
}

/**
 * Returns whether a row's rewards show that its completion stated a belief. Without an action, a belief with an error of 1
 * has the same rewards as no belief; the result is then false.
 */
export const hasBelief = ({ formatValid, beliefAccuracy }: RewardStack, row: number): boolean =>
  formatValid[row] === REWARD_STACK.formatValid.yes ||
  beliefAccuracy[row] !== REWARD_STACK.beliefAccuracy.noBelief;
