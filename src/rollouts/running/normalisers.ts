/** Running normalisation of observations, like Gymnasium's NormalizeObservation. */
import { NO_BUFFERS } from '../../engine/validate/copy-arguments.js';
import { type Mask, toMask } from '../../engine/validate/steps.js';
import {
  checkBoolean,
  checkInteger,
  checkLength,
  isFloats,
  readOptions,
  wrongType,
} from '../../shared/values.js';
import { MAX_ENVS } from '../../world/fields.js';
import { toDiscount } from '../advantages/step-advantages.js';
import { type FollowedEnv, type FollowedStep, SteppedEnvs } from './episode-statistics.js';
import {
  type NormaliserState,
  RunningMoments,
  stateOf,
  toClip,
  toMoments,
  toPositive,
} from './running-moments.js';

/** Options of `ObservationNormaliser`. */
export interface ObservationNormaliserOptions {
  /** Added to each variance under the square root; more than 0. Default 1e-8, as in Gymnasium. */
  epsilon?: number;
  /** The largest magnitude of a normalised number; more than 0. Default Infinity: no limit. CleanRL uses 10. */
  clip?: number;
  /** The state to continue from. Default: mean 0 and variance 1. */
  state?: NormaliserState;
  /** If true, `update` of `normalise` is false by default: the state stays as it is. For evaluation. Default: false. */
  frozen?: boolean;
}

/** Options of `normalise`. */
export interface NormaliseOptions {
  /** The environments whose observations update the state. The observations of all are normalised. Default: all. */
  mask?: Mask;
  /** Whether the observations update the state. Pass false for `finalObservations`. Default: true unless `frozen`. */
  update?: boolean;
  /** `columnStride` of the result, for the layout 'column-major'. Default 0: row-major. */
  columnStride?: number;
  /** The number of environments. 'column-major' needs it: columns are padded. Row-major default: computed from the length. */
  numEnvs?: number;
  /** f32, as long as the observations: where to write. The observations themselves are allowed. Default: a new array. */
  out?: Float32Array;
}

const OPTIONS: readonly (keyof ObservationNormaliserOptions)[] = ['epsilon', 'clip', 'state', 'frozen'];
const CALL_OPTIONS: readonly (keyof NormaliseOptions)[] = [
  'mask',
  'update',
  'columnStride',
  'numEnvs',
  'out',
];
const EPSILON = 1e-8;
/** More than any stride. A stride is the number of environments, padded by at most 31. */
const MAX_STRIDE = 2 * MAX_ENVS;
const NONE: NormaliseOptions = Object.freeze({});

/**
 * Normalises observations by their running mean and standard deviation: (x - mean) / sqrt(variance + epsilon). Each call
 * first adds its observations to the state, if its option `update` is true.
 */
export class ObservationNormaliser {
  /** The option `frozen`. May be set. */
  frozen: boolean;
  readonly #size: number;
  readonly #moments: RunningMoments;
  readonly #epsilon: number;
  readonly #clip: number;

  /**
   * Begins with the given state, or mean 0 and variance 1.
   * @param size the length of an observation: `env.observationSpace.shape[0]`.
   * @throws InputError `wrong_type`, `wrong_length` (a state of other observations), `out_of_range` or `unknown_option`.
   */
  constructor(size: number, options: ObservationNormaliserOptions = {}) {
    const {
      epsilon = EPSILON,
      clip = Number.POSITIVE_INFINITY,
      state,
      frozen = false,
    } = readOptions('normaliser options', options, OPTIONS);
    this.#size = checkInteger('size', size, 1, MAX_ENVS);
    this.#epsilon = toPositive('epsilon', epsilon);
    this.#clip = toClip(clip);
    this.frozen = checkBoolean('frozen', frozen);
    this.#moments = new RunningMoments(size, state && toMoments('observations', size, state));
  }

  /** The state, newly allocated. Store it with `JSON.stringify`, and pass the parsed object as the option `state`. */
  get state(): NormaliserState {
    return stateOf('observations', this.#moments.state);
  }

  /**
   * Returns normalised observations, f32, in the layout of `observations`.
   * @param observations f32 [numEnvs, size], finite. @throws InputError `wrong_type`, `wrong_length`, `out_of_range` or
   *   `unknown_option`.
   */
  normalise(observations: Float32Array, options: NormaliseOptions = NONE): Float32Array {
    const {
      mask,
      update = !this.frozen,
      out,
      ...shape
    } = readOptions('normalise options', options, CALL_OPTIONS);
    const { numRows, strides } = this.#shapeOf(observations, shape);
    const target = out ?? new Float32Array(observations.length);
    if (!isFloats(target))
      throw wrongType('out', 'a Float32Array', target, 'Pass a Float32Array, or leave out the option.');
    checkLength('numbers in out', target.length, observations.length, 'as many as observations');
    const counted = mask === undefined ? null : toMask(mask, numRows, NO_BUFFERS);
    if (checkBoolean('update', update)) this.#moments.update(observations, numRows, strides, counted);
    this.#write(observations, target, numRows, strides);
    return target;
  }

  /** Returns the number of environments, and the index distances between environments and between columns. */
  #shapeOf(
    observations: Float32Array,
    { columnStride = 0, numEnvs }: Pick<NormaliseOptions, 'columnStride' | 'numEnvs'>,
  ) {
    if (!isFloats(observations)) {
      throw wrongType('observations', 'a Float32Array', observations, 'Pass the observations of a result.');
    }
    const stride = checkInteger('columnStride', columnStride, 0, MAX_STRIDE);
    const most = stride === 0 ? MAX_ENVS : stride;
    const given = numEnvs ?? (stride === 0 ? Math.floor(observations.length / this.#size) : undefined);
    const numRows = checkInteger('numEnvs', given, 0, most);
    const expected = (stride === 0 ? numRows : stride) * this.#size;
    checkLength(
      'numbers in observations',
      observations.length,
      expected,
      `${this.#size} for each environment`,
    );
    return { numRows, strides: stride === 0 ? ([this.#size, 1] as const) : ([1, stride] as const) };
  }

  #write(
    observations: Float32Array,
    target: Float32Array,
    numRows: number,
    [rowStride, columnStride]: readonly [number, number],
  ): void {
    const { mean, variance } = this.#moments;
    for (let k = 0; k < this.#size; k++) {
      const scale = 1 / Math.sqrt(variance[k] + this.#epsilon);
      for (let i = 0; i < numRows; i++) {
        const at = i * rowStride + k * columnStride;
        const value = (observations[at] - mean[k]) * scale;
        target[at] = Math.min(Math.max(value, -this.#clip), this.#clip);
      }
    }
  }
}

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

const REWARD_OPTIONS: readonly (keyof RewardNormaliserOptions)[] = [
  'gamma',
  'epsilon',
  'clip',
  'state',
  'frozen',
];
const GAMMA = 0.99;

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
    const checked = readOptions('normaliser options', options, REWARD_OPTIONS);
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
