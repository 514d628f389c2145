/** Running moments of values, and their saved states. */
import { InputError } from '../../shared/errors.js';
import { follows, otherSchema, SCHEMAS, type Schema } from '../../shared/schemas.js';
import { checkFinite, describe, isList, wrongType } from '../../shared/values.js';

/** The weight, in rows, of the initial mean (0) and variance (1), as in Gymnasium. */
const FIRST_COUNT = 1e-4;

/** The mean and the variance of each column, and their weight in rows. */
interface MomentsState {
  /** `[size]`. */
  readonly mean: readonly number[];
  /** `[size]`, not negative. */
  readonly variance: readonly number[];
  /** The number of rows so far, plus the weight of the initial mean and variance. */
  readonly count: number;
}

/** Running means and variances of columns, in float64, by Chan's batch form of Welford's method. */
export class RunningMoments {
  /** f64 [size]. */
  readonly mean: Float64Array;
  /** f64 [size]. */
  readonly variance: Float64Array;
  /** As in `MomentsState`. */
  count: number;
  /** The present batch's sums of differences from the running mean (`#sums`) and of their squares (`#squares`). */
  readonly #sums: Float64Array;
  readonly #squares: Float64Array;

  /** @param state the moments to continue from; mean 0 and variance 1 by default. */
  constructor(size: number, state?: MomentsState) {
    this.mean = Float64Array.from(state?.mean ?? new Float64Array(size));
    this.variance = Float64Array.from(state?.variance ?? new Float64Array(size).fill(1));
    this.count = state?.count ?? FIRST_COUNT;
    this.#sums = new Float64Array(size);
    this.#squares = new Float64Array(size);
  }

  get state(): MomentsState {
    return { mean: [...this.mean], variance: [...this.variance], count: this.count };
  }

  /**
   * Adds rows. Number k of row i is `values[i * rowStride + k * columnStride]`.
   * @param counted u8 [numRows]: the rows to add; null for all.
   * @throws InputError `out_of_range` for numbers that are not finite or are too large. An error changes nothing.
   */
  update(
    values: ArrayLike<number>,
    numRows: number,
    [rowStride, columnStride]: readonly [rowStride: number, columnStride: number],
    counted: Uint8Array | null,
  ): void {
    const [sums, squares] = [this.#sums.fill(0), this.#squares.fill(0)];
    let added = 0;
    for (let i = 0; i < numRows; i++) {
      if (counted !== null && counted[i] === 0) continue;
      added++;
      for (let k = 0; k < sums.length; k++) {
        const distance = values[i * rowStride + k * columnStride] - this.mean[k];
        sums[k] += distance;
        squares[k] += distance * distance;
      }
    }
    if (added > 0) this.#merge(added);
  }

  #merge(added: number): void {
    const wrong = this.#squares.findIndex((square) => !Number.isFinite(square));
    if (wrong >= 0) {
      throw new InputError('out_of_range', {
        expected: 'finite numbers to normalise',
        got: `NaN, an infinity or too large a number in column ${wrong}`,
        remedy: 'Pass observations or rewards of a StepResult.',
      });
    }
    const total = this.count + added;
    for (let k = 0; k < this.mean.length; k++) {
      const shift = this.#sums[k] / added;
      const within = Math.max(0, this.#squares[k] - added * shift * shift);
      const between = (shift * shift * this.count * added) / total;
      this.variance[k] = (this.variance[k] * this.count + within + between) / total;
      this.mean[k] += (shift * added) / total;
    }
    this.count = total;
  }
}

/** The state of a normaliser: plain data, which JSON stores without loss. */
export interface NormaliserState extends MomentsState {
  readonly schema: Schema;
  /** What is normalised. */
  readonly kind: 'observations' | 'rewards';
}

/** Returns the state to save. */
export const stateOf = (kind: NormaliserState['kind'], moments: MomentsState): NormaliserState => ({
  schema: SCHEMAS.normaliser,
  kind,
  ...moments,
});

/**
 * Validates a stored state and returns its moments. @param size the number of columns.
 * @throws InputError `wrong_type`, `wrong_length` or `out_of_range`.
 */
export function toMoments(kind: NormaliserState['kind'], size: number, state: NormaliserState): MomentsState {
  if (typeof state !== 'object' || state === null) {
    throw wrongType('the state', 'an object', state, 'Pass what `state` returned, parsed from JSON.');
  }
  if (!follows(SCHEMAS.normaliser, state.schema)) {
    throw new InputError(
      'wrong_type',
      otherSchema(SCHEMAS.normaliser, state.schema, ' at schema of the state'),
    );
  }
  if (state.kind !== kind) {
    throw wrongType(
      'kind of the state',
      `"${kind}"`,
      state.kind,
      'Pass the state of the same kind of normaliser.',
    );
  }
  const count = checkFinite('count of the state', state.count);
  if (count <= 0) throw outOfRange('count of the state to be more than 0', count);
  const variance = toColumn('variance', state.variance, size);
  const negative = variance.find((value) => value < 0);
  if (negative !== undefined) throw outOfRange('variance of the state to be at least 0', negative);
  return { mean: toColumn('mean', state.mean, size), variance, count };
}

function toColumn(name: string, list: unknown, size: number): number[] {
  if (!isList(list)) throw wrongType(`${name} of the state`, 'an array', list, 'Pass what `state` returned.');
  if (list.length !== size) {
    throw new InputError('wrong_length', {
      expected: `${size} numbers in ${name} of the state`,
      got: `${list.length}`,
      remedy: 'Pass the state of environments with the same observations.',
    });
  }
  return Array.from(list, (value, k) => checkFinite(`${name}[${k}] of the state`, value));
}

const outOfRange = (expected: string, value: unknown): InputError =>
  new InputError('out_of_range', {
    expected,
    got: describe(value),
    remedy: 'Pass what `state` returned.',
  });

/** Validates a positive option. @throws InputError `wrong_type` or `out_of_range`. */
export function toPositive(what: string, value: number): number {
  if (checkFinite(what, value) > 0) return value;
  throw new InputError('out_of_range', {
    expected: `${what} to be more than 0`,
    got: `${value}`,
    remedy: 'Leave it out for its default.',
  });
}

/** Validates `clip`: more than 0, or Infinity. @throws InputError `wrong_type` or `out_of_range`. */
export const toClip = (clip: number): number =>
  clip === Number.POSITIVE_INFINITY ? clip : toPositive('clip', clip);
