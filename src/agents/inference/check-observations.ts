/** Validates raw observations. */

import { fieldOfEach, RowRules } from '../../engine/validate/observations.js';
import { InputError } from '../../shared/errors.js';
import { checkLength, isFloats, kindOf, wrongType } from '../../shared/values.js';
import { NUM_ACTIONS, OBSERVATION, OBSERVATION_FIELDS, OBSERVATION_SIZE } from '../../world/fields.js';

const RULES = new RowRules(fieldOfEach(OBSERVATION_FIELDS));

/**
 * Checks rows f32 [numEnvs, 22]. @param playing u8 [numEnvs]: rows where it is 0 are not checked; null checks all rows.
 * @throws InputError `wrong_type`, `wrong_length` or `out_of_range`.
 */
export function checkObservations(observations: unknown, playing: unknown, numEnvs: number): void {
  if (!isFloats(observations)) {
    throw wrongType('observations', 'a Float32Array', observations, 'Pass raw observations, row-major.');
  }
  checkLength(
    'numbers in observations',
    observations.length,
    numEnvs * OBSERVATION_SIZE,
    `${numEnvs} x ${OBSERVATION_SIZE}, raw`,
  );
  if (playing !== null) {
    if (kindOf(playing) !== 'Uint8Array')
      throw wrongType('playing', 'a Uint8Array', playing, 'Pass a Uint8Array, or null for all environments.');
    checkLength('entries in playing', (playing as Uint8Array).length, numEnvs, 'numEnvs');
  }
  for (let i = 0; i < numEnvs; i++) {
    if (playing === null || (playing as Uint8Array)[i] !== 0) checkRow(observations, i);
  }
}

function checkRow(rows: Float32Array, i: number): void {
  const base = i * OBSERVATION_SIZE;
  const field = RULES.firstWrong(rows, base);
  if (field >= 0) refuse(rows[base + field], field, i);
  // The inference needs the last action of a row after step 0. So the first observation of an episode that begins at a later
  // step is refused too.
  if (rows[base + OBSERVATION.step] > 0 && rows[base + OBSERVATION.lastAction] < 0)
    refuse(
      -1,
      OBSERVATION.lastAction,
      i,
      `an integer from 0 to ${NUM_ACTIONS - 1} (last_action), because step is above 0,`,
    );
}

function refuse(value: number, k: number, i: number, expected = RULES.expectedAt(k)): never {
  throw new InputError(
    'out_of_range',
    `Expected ${expected} at observations[${i * OBSERVATION_SIZE + k}], row ${i}, got ${value}. ` +
      'Pass raw observations, neither scaled nor one-hot.',
  );
}
