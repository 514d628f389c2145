/** The door for observations: rows as environments show them raw. */
import { InputError } from '../../errors.js';
import { fieldOfEach, RowRules } from '../../validate/observations.js';
import { checkLength, isFloats, kindOf, lengthOf, wrongType } from '../../validate/values.js';
import { OBSERVATION, OBSERVATION_FIELDS, OBSERVATION_SIZE } from '../../world/fields.js';

const RULES = new RowRules(fieldOfEach(OBSERVATION_FIELDS));

/** @throws InputError `wrong_type`, `wrong_length` or `out_of_range`: nothing was taken in then. */
export function checkRows(observations: unknown, playing: unknown, numEnvs: number): void {
  if (!isFloats(observations)) {
    throw wrongType('observations', 'a Float32Array', observations, 'Pass raw observations, row-major.');
  }
  checkLength(
    'numbers in observations',
    lengthOf(observations),
    numEnvs * OBSERVATION_SIZE,
    `${numEnvs} x ${OBSERVATION_SIZE}, raw`,
  );
  if (playing !== null) {
    if (kindOf(playing) !== 'Uint8Array')
      throw wrongType('playing', 'a Uint8Array', playing, 'Pass one or null.');
    checkLength('entries in playing', lengthOf(playing as Uint8Array), numEnvs, 'numEnvs');
  }
  for (let i = 0; i < numEnvs; i++) {
    if (playing === null || (playing as Uint8Array)[i] !== 0) checkRow(observations, i);
  }
}

function checkRow(rows: Float32Array, i: number): void {
  const base = i * OBSERVATION_SIZE;
  const wrong = RULES.firstWrong(rows, base);
  if (wrong >= 0) refuse(rows[base + wrong], wrong, i);
  if (rows[base + OBSERVATION.step] > 0 && rows[base + OBSERVATION.lastAction] < 0)
    refuse(rows[base + OBSERVATION.lastAction], OBSERVATION.lastAction, i);
}

function refuse(value: number, k: number, i: number): never {
  throw new InputError(
    'out_of_range',
    `Expected ${RULES.expectedAt(k)} at observations[${i * OBSERVATION_SIZE + k}], row ${i}, got ${value}. ` +
      'Pass rows as the environment shows them, neither scaled nor one-hot.',
  );
}
