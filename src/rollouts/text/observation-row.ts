/** Rows with the observation of a step and the last seven steps, as `observation: { history: true }` returns them. */

import { HISTORY_STEPS, type HistoryStep, RECORD_FIELDS } from '../../engine/observe/history.js';
import { fieldOfEach, RowRules } from '../../engine/validate/observations.js';
import { InputError } from '../../shared/errors.js';
import { describe, isList } from '../../shared/values.js';
import {
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
} from '../../world/fields.js';

/** The observed values of a past step. `env.history` returns such steps. */
export interface PastStep extends Pick<HistoryStep, 'action' | 'reward'> {
  /** [5], by METER_NAMES. */
  readonly deltas: ArrayLike<number>;
  /** [5], by METER_NAMES. */
  readonly anomalies: ArrayLike<number>;
}

/** The offsets of the fields of past steps in a row. Each field has its values of all seven steps, the oldest first. */
const PAST_STARTS = RECORD_FIELDS.map((_, k) =>
  RECORD_FIELDS.slice(0, k).reduce((end, { size }) => end + HISTORY_STEPS * size, OBSERVATION_SIZE),
);
const [actions, rewards, deltas, anomalies] = PAST_STARTS;
/** The offset of each field of past steps. */
export const PAST = Object.freeze({ actions, rewards, deltas, anomalies });
/** The length of a row. */
export const ROW_SIZE = anomalies + HISTORY_STEPS * NUM_METERS;

const RULES = new RowRules([
  ...fieldOfEach(OBSERVATION_FIELDS),
  ...fieldOfEach(RECORD_FIELDS, HISTORY_STEPS),
]);

/**
 * Writes the last seven steps into a row, right-aligned. Missing steps have action -1 and zeros.
 * @param row f32 [ROW_SIZE].
 * @param where the name of the steps in errors.
 * @throws InputError `wrong_type`.
 */
export function writePast(row: Float32Array, steps: readonly PastStep[], where: string): void {
  if (!Array.isArray(steps)) refuse('past steps, the oldest first,', steps, where);
  const shift = steps.length - HISTORY_STEPS;
  row.fill(-1, PAST.actions, PAST.rewards);
  row.fill(0, PAST.rewards);
  for (let k = Math.max(0, -shift); k < HISTORY_STEPS; k++)
    writeStep(row, k, steps[shift + k], where, shift + k);
}

/** Writes a past step. @param k its place among the seven of the row. @param at its index in the list of steps, for errors. */
function writeStep(row: Float32Array, k: number, step: PastStep, where: string, at: number): void {
  if (typeof step !== 'object' || step === null) refuse('a past step', step, `${where}[${at}]`);
  const { action, reward, deltas, anomalies } = step;
  if (typeof action !== 'number') refuseNumber(action, `${where}[${at}].action`);
  if (typeof reward !== 'number') refuseNumber(reward, `${where}[${at}].reward`);
  if (!isList(deltas)) refuse(`${NUM_METERS} numbers`, deltas, `${where}[${at}].deltas`);
  if (!isList(anomalies)) refuse(`${NUM_METERS} numbers`, anomalies, `${where}[${at}].anomalies`);
  row[PAST.actions + k] = action;
  row[PAST.rewards + k] = reward;
  for (let m = 0; m < NUM_METERS; m++) {
    const [delta, anomaly] = [deltas[m], anomalies[m]];
    if (typeof delta !== 'number') refuseNumber(delta, `${where}[${at}].deltas[${m}]`);
    if (typeof anomaly !== 'number') refuseNumber(anomaly, `${where}[${at}].anomalies[${m}]`);
    row[PAST.deltas + k * NUM_METERS + m] = delta;
    row[PAST.anomalies + k * NUM_METERS + m] = anomaly;
  }
}

/** Throws the error for a value that is not a number. @throws InputError `wrong_type`. */
export function refuseNumber(value: unknown, where: string): never {
  throw new InputError('wrong_type', {
    expected: `a number at ${where}`,
    got: describe(value),
    remedy: 'Pass a number.',
  });
}

function refuse(expected: string, value: unknown, where: string): never {
  throw new InputError('wrong_type', {
    expected: `${expected} at ${where}`,
    got: describe(value),
    remedy: 'Pass what env.history(i) returns.',
  });
}

/**
 * Validates one row.
 * @param rows f32: the row of ROW_SIZE numbers begins at index `base`.
 * @param where returns the name of a number of the row in errors.
 * @throws InputError `out_of_range` for a number outside its field's range, more past steps than were taken, or a day, slot or
 *   remaining that does not agree with the step.
 */
export function checkRow(rows: Float32Array, base: number, where: (at: number) => string): void {
  const invalid = RULES.firstWrong(rows, base);
  if (invalid >= 0) refuseRange(rows[base + invalid], invalid, where(invalid));
  const numMissing = HISTORY_STEPS - rows[base + OBSERVATION.step];
  for (let k = 0; k < numMissing; k++) {
    const action = rows[base + PAST.actions + k];
    if (action >= 0) refuseExtraStep(rows[base + OBSERVATION.step], where(PAST.actions + k));
  }
  checkTime(rows, base, where);
}

/**
 * Checks that day, slot and remaining agree with the step. Rows of steps that were not taken are all zeros; they fail.
 */
function checkTime(rows: Float32Array, base: number, where: (at: number) => string): void {
  const { step: at, day, slot, remaining } = OBSERVATION;
  const step = rows[base + at];
  const isTime = rows[base + day] === Math.floor(step / NUM_SLOTS) && rows[base + slot] === step % NUM_SLOTS;
  if (isTime && rows[base + remaining] === NUM_STEPS - step) return;
  const expected = [Math.floor(step / NUM_SLOTS), step % NUM_SLOTS, NUM_STEPS - step];
  const fields = [day, slot, remaining];
  const invalid = fields.findIndex((field, k) => rows[base + field] !== expected[k]);
  const field = fields[invalid];
  throw new InputError('out_of_range', {
    expected: `${RULES.nameOf(field)} ${expected[invalid]}, because step is ${step}, at ${where(field)}`,
    got: `${rows[base + field]}`,
    remedy: 'Pass only rows of steps that were taken. Rows of other steps are all zeros.',
  });
}

function refuseRange(value: number, at: number, where: string): never {
  const past = at < OBSERVATION_SIZE ? '' : `, of step ${pastStepOf(at)} of the last ${HISTORY_STEPS}`;
  throw new InputError('out_of_range', {
    expected: `${RULES.expectedAt(at, past)} at ${where}`,
    got: `${value}`,
    remedy: 'Pass observations as the environment returns them: row-major, without scale and oneHot.',
  });
}

/** Returns the past step, 1 to 7, to which a number of a row belongs. */
function pastStepOf(at: number): number {
  const k = PAST_STARTS.filter((start) => start <= at).length - 1;
  return 1 + Math.floor((at - PAST_STARTS[k]) / RECORD_FIELDS[k].size);
}

function refuseExtraStep(step: number, where: string): never {
  throw new InputError('out_of_range', {
    expected: `at most ${step} past steps, because the observation is of step ${step}`,
    got: `one more at ${where}`,
    remedy: 'Pass the history of the same step.',
  });
}
