/** The state of a normaliser as JSON, and its validation. */
import { InputError } from '../../shared/errors.js';
import { follows, otherSchema, SCHEMAS, type Schema } from '../../shared/schemas.js';
import { checkFinite, describe, isList, wrongType } from '../../shared/values.js';
import type { MomentsState } from './running-moments.js';

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
    throw new InputError(
      'wrong_length',
      `Expected ${size} numbers in ${name} of the state, got ${list.length}. Pass the state of environments with the same observations.`,
    );
  }
  return Array.from(list, (value, k) => checkFinite(`${name}[${k}] of the state`, value));
}

const outOfRange = (expected: string, value: unknown): InputError =>
  new InputError(
    'out_of_range',
    `Expected ${expected}, got ${describe(value)}. Pass what \`state\` returned.`,
  );

/** Validates a positive option. @throws InputError `wrong_type` or `out_of_range`. */
export function toPositive(what: string, value: number): number {
  if (checkFinite(what, value) > 0) return value;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be more than 0, got ${value}. Leave it out for its default.`,
  );
}

/** Validates `clip`: more than 0, or Infinity. @throws InputError `wrong_type` or `out_of_range`. */
export const toClip = (clip: number): number =>
  clip === Number.POSITIVE_INFINITY ? clip : toPositive('clip', clip);
