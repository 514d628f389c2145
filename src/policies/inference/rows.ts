/** The door for observations: rows as environments show them raw. */
import { InputError } from '../../errors.js';
import { checkLength, isFloats, kindOf, lengthOf, wrongType } from '../../validate/values.js';
import { type Field, OBSERVATION, OBSERVATION_FIELDS, OBSERVATION_SIZE } from '../../world/fields.js';

/** The field of each number of a row. */
const FIELDS: readonly Field[] = OBSERVATION_FIELDS.flatMap((field) => Array<Field>(field.size).fill(field));
const CODES = ['step', 'day', 'slot', 'remaining', 'event', 'last_action'];
const IS_CODE = FIELDS.map(({ name }) => CODES.includes(name));

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
  for (let k = 0; k < OBSERVATION_SIZE; k++) {
    const value = rows[base + k];
    const within = value >= FIELDS[k].low && value <= FIELDS[k].high;
    if (!within || (IS_CODE[k] && !Number.isInteger(value))) refuse(value, k, i);
  }
  if (rows[base + OBSERVATION.step] > 0 && rows[base + OBSERVATION.lastAction] < 0)
    refuse(rows[base + OBSERVATION.lastAction], OBSERVATION.lastAction, i);
}

function refuse(value: number, k: number, i: number): never {
  const { name, low, high } = FIELDS[k];
  throw new InputError(
    'out_of_range',
    `Expected ${IS_CODE[k] ? 'an integer' : 'a number'} from ${low} to ${high} (${name}) at observations[${i * OBSERVATION_SIZE + k}], row ${i}, got ${value}. ` +
      'Pass rows as the environment shows them, neither scaled nor one-hot.',
  );
}
