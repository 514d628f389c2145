/** Running normalisation of observations, like Gymnasium's NormalizeObservation. */
import { NO_BUFFERS } from '../../engine/validate/aliased-memory.js';
import { type Mask, toMask } from '../../engine/validate/masks.js';
import {
  checkBoolean,
  checkInteger,
  checkLength,
  isFloats,
  readOptions,
  wrongType,
} from '../../shared/values.js';
import { MAX_ENVS } from '../../world/fields.js';
import { type NormaliserState, stateOf, toClip, toMoments, toPositive } from './normaliser-state.js';
import { RunningMoments } from './running-moments.js';

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
