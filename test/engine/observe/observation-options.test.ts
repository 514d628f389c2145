/** Validation of observation options. */
import { describe, expect, it } from 'vitest';
import {
  isRaw,
  type ObservationOptions,
  toObservationOptions,
} from '../../../src/engine/observe/encoding.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { OBSERVATION_FIELDS } from '../../../src/world/fields.js';
import { encodedFields } from '../../support/naive-encoder.js';
import { WORLD } from '../../support/open-batch.js';
import { expectRefusal } from '../../support/refusals.js';

const names = OBSERVATION_FIELDS.map((field) => field.name);

type Case = [options: unknown, code: ErrorCode, ...mentions: string[]];
const CASES: Case[] = [
  [null, 'wrong_type', 'observation options', 'null'],
  ['meters', 'wrong_type', 'observation options', '"meters"'],
  [['meters'], 'wrong_type', 'observation options', 'an array of 1'],
  [{ field: ['meters'] }, 'unknown_option', 'Did you mean "fields"?'],
  [{ onehot: true }, 'unknown_option', 'Did you mean "oneHot"?'],
  [{ somethingElseEntirely: true }, 'unknown_option', 'Remove it.'],
  [{ oneHot: 1 }, 'wrong_type', 'observation.oneHot', 'got 1'],
  [{ scale: 'yes' }, 'wrong_type', 'observation.scale', '"yes"'],
  [{ scale: null }, 'wrong_type', 'observation.scale', 'null'],
  [{ history: 7 }, 'wrong_type', 'observation.history', 'got 7'],
  [{ fields: 'meters' }, 'wrong_type', 'observation.fields', '"meters"'],
  [{ fields: null }, 'wrong_type', 'observation.fields', 'null'],
  [{ fields: new Set(['meters']) }, 'wrong_type', 'observation.fields', 'an object'],
  [{ fields: [] }, 'wrong_length', 'observation.fields', 'an empty array'],
  [{ fields: ['meters', 3] }, 'wrong_type', 'observation.fields[1]', 'got 3'],
  // biome-ignore lint/suspicious/noSparseArray: the hole is the tested value.
  [{ fields: ['meters', , 'step'] }, 'wrong_type', 'observation.fields[1]', 'undefined'],
  [{ fields: ['meter'] }, 'unknown_name', 'observation.fields[0]', 'Did you mean "meters"?'],
  [
    { fields: ['step', 'lastAction'] },
    'unknown_name',
    'observation.fields[1]',
    'Did you mean "last_action"?',
  ],
  [{ fields: ['history'] }, 'unknown_name', 'Use one of these names.', ...names],
  [{ fields: ['constructor'] }, 'unknown_name', 'constructor'],
  [{ fields: ['step', 'day', 'step'] }, 'out_of_range', '"step"', 'observation.fields[2]'],
];

describe.each(CASES)('%o', (options, code, ...mentions) => {
  it(`is refused with ${code}`, () => {
    for (const call of [toObservationOptions, isRaw, encodedFields.bind(null, WORLD)]) {
      expectRefusal(() => call(options as ObservationOptions), code, ...mentions);
    }
  });
});

it('the default is all fields without encoding or history', () => {
  const plain = { fields: names, oneHot: false, scale: false, history: false };
  expect(toObservationOptions()).toEqual(plain);
  expect(toObservationOptions({})).toEqual(plain);
  expect(toObservationOptions({ fields: undefined, oneHot: undefined })).toEqual(plain);
});

it('validated options are frozen copies, and pass validation again', () => {
  const fields = ['reward', 'step'];
  const options = toObservationOptions({ fields, scale: true });
  fields.push('meters');
  expect(options).toEqual({ fields: ['reward', 'step'], oneHot: false, scale: true, history: false });
  expect([options, options.fields].every(Object.isFrozen)).toBe(true);
  expect(Object.isFrozen(toObservationOptions().fields)).toBe(true);
  expect(toObservationOptions(options)).toEqual(options);
});

it('isRaw is true only for all fields in their order, without encoding or history', () => {
  for (const options of [undefined, {}, { fields: names }, { oneHot: false, scale: false, history: false }]) {
    expect(isRaw(options)).toBe(true);
  }
  const others = [
    { fields: names.slice(1) },
    { fields: names.slice(0, -1) },
    { fields: [...names].reverse() },
    { oneHot: true },
    { scale: true },
    { history: true },
  ];
  for (const options of others) expect(isRaw(options)).toBe(false);
});
