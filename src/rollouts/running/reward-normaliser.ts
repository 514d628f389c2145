/** Running normalisation of rewards by the spread of discounted returns. */
import type { Mask } from '../../engine/validate/masks.js';
import { checkBoolean, readOptions } from '../../shared/values.js';
import { toDiscount } from '../advantages/returns.js';
import { type NormaliserState, stateOf, toClip, toMoments, toPositive } from './normaliser-state.js';
import { RunningMoments } from './running-moments.js';
import { type FollowedEnv, type FollowedStep, SteppedEnvs } from './stepped-envs.js';

/** Options of `RewardNormaliser`. */
export interface RewardNormaliserOptions {
  /** The discount factor of the returns, in [0, 1]. Default 0.99. */
  gamma?: number;
  /** Added to a variance before its square root is taken; more than 0. Default 1e-8, as in Gymnasium. */
  epsilon?: number;
  /** The largest magnitude of a normalised reward; more than 0. Default Infinity: no limit. CleanRL uses 10. */
  clip?: number;
  /** The state to continue from. Default: variance 1. */
  state?: NormaliserState;
  /** Whether the state stays as it is, for evaluation. Default false. */
  frozen?: boolean;
}

const OPTIONS: readonly (keyof RewardNormaliserOptions)[] = ['gamma', 'epsilon', 'clip', 'state', 'frozen'];
const GAMMA = 0.99;
const EPSILON = 1e-8;

/**
 * Divides rewards by the running standard deviation of the discounted sums of each episode's rewards so far:
 * r / sqrt(variance + epsilon). Each episode begins a new sum, also after an autoreset. A step that only resets does not
 * count. The last sum of an episode contains all its rewards, as in the VecNormalize of Stable-Baselines3; in Gymnasium 1.3
 * it contains only the last reward.
 */
export class RewardNormaliser {
  /** Whether the state stays as it is. May be set. */
  frozen: boolean;
  readonly #envs: SteppedEnvs;
  readonly #moments: RunningMoments;
  /** f64 [numEnvs]: discounted sums of the present episodes. */
  readonly #sums: Float64Array;
  readonly #gamma: number;
  readonly #epsilon: number;
  readonly #clip: number;

  /**
   * Begins with the given state, or variance 1.
   * @param env the vector environment whose steps are normalised.
   * @throws InputError `wrong_type`, `wrong_length`, `out_of_range`, `unknown_name` or `unknown_option`.
   */
  constructor(env: FollowedEnv, options: RewardNormaliserOptions = {}) {
    const checked = readOptions('normaliser options', options, OPTIONS);
    const {
      gamma = GAMMA,
      epsilon = EPSILON,
      clip = Number.POSITIVE_INFINITY,
      state,
      frozen = false,
    } = checked;
    this.#envs = new SteppedEnvs(env);
    this.#gamma = toDiscount('gamma', gamma);
    this.#epsilon = toPositive('epsilon', epsilon);
    this.#clip = toClip(clip);
    this.frozen = checkBoolean('frozen', frozen);
    this.#moments = new RunningMoments(1, state && toMoments('rewards', 1, state));
    this.#sums = new Float64Array(env.numEnvs);
  }

  /** The state, newly allocated, without the sums of unfinished episodes. */
  get state(): NormaliserState {
    return stateOf('rewards', this.#moments.state);
  }

  /**
   * Begins new sums. Call it after `env.reset`. @param mask the mask of the reset.
   * @throws InputError `wrong_type` or `wrong_length`.
   */
  reset(mask?: Mask): void {
    const chosen = this.#envs.maskOf(mask);
    this.#envs.reset(chosen);
    for (let i = 0; i < this.#sums.length; i++) if (chosen === null || chosen[i] !== 0) this.#sums[i] = 0;
  }

  /**
   * Returns the normalised rewards of a step, f32 [numEnvs], newly allocated. Call it once for every step.
   * @param mask the mask of the step.
   * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for a reward that is not finite.
   */
  normalise(result: FollowedStep, mask?: Mask): Float32Array {
    const { rewards, terminated } = result;
    const stepped = this.#envs.follow(result, mask);
    for (let i = 0; i < stepped.length; i++) {
      if (stepped[i] !== 0) this.#sums[i] = this.#gamma * this.#sums[i] + rewards[i];
    }
    // Both strides are 1: there is one column.
    if (!this.frozen) this.#moments.update(this.#sums, stepped.length, [1, 1], stepped);
    for (let i = 0; i < stepped.length; i++) if (stepped[i] !== 0 && terminated[i] !== 0) this.#sums[i] = 0;
    const scale = 1 / Math.sqrt(this.#moments.variance[0] + this.#epsilon);
    return Float32Array.from(rewards, (reward) =>
      Math.min(Math.max(reward * scale, -this.#clip), this.#clip),
    );
  }
}
