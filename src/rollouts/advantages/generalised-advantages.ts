/** Generalised advantage estimation (Schulman et al. 2016, arXiv:1506.02438). */
import { InputError } from '../../shared/errors.js';
import { checkFinite, readOptions } from '../../shared/values.js';
import { toDiscount } from './returns.js';
import { toValidSteps, type ValidSteps, type ValueRollouts } from './value-rollouts.js';

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
  throw new InputError(
    'out_of_range',
    `Expected lambda to be from 0 to 1, got ${lambda}. Leave it out for ${LAMBDA}.`,
  );
}
