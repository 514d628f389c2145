/** Options that `evaluate` refuses, and exported constants that callers cannot change. */
import { describe, expect, it } from 'vitest';
import * as api from '../../src/index.js';
import { type EvaluateOptions, evaluate, InputError } from '../../src/index.js';

const refused: [string, unknown, RegExp][] = [
  ['conditions', 'ood', /^Expected conditions to be a list of at least one name, got "ood"\./],
  ['conditions', [], /^Expected conditions to be a list/],
  ['conditions', null, /^Expected conditions to be a list/],
  ['conditions', ['constructor'], /^Expected one of the conditions .*; got "constructor"\./],
  [
    'policies',
    'random',
    /^Expected policies to be a list of at least one name, or policies by name, \{ mine: policy \}, got "random"\./,
  ],
  ['policies', [1n], /^Expected policies to be a list/],
  ['policies', ['randon'], /Did you mean "random"\?/],
  ['seeds', null, /^Expected seeds to be \{ first, last \}, got null\./],
  ['onStart', 1, /^Expected onStart to be a function, got 1\./],
  ['onProgress', {}, /^Expected onProgress to be a function, got an object\./],
  ['onEpisodes', 'all', /^Expected onEpisodes to be a function, got "all"\./],
  ['signal', {}, /^Expected signal to be an AbortSignal, got an object\./],
];

it.each(refused)('evaluate refuses the option %s with the value %o', async (name, value, message) => {
  const options = { [name]: value } as EvaluateOptions;
  await expect(evaluate(options)).rejects.toThrow(message);
  await expect(evaluate(options)).rejects.toBeInstanceOf(InputError);
});

describe('exported constants are frozen', () => {
  const constants = Object.entries(api).filter(([, value]) => typeof value === 'object');
  it.each(constants)('%s', (_, value) => {
    const isDeeplyFrozen = (part: unknown): boolean =>
      typeof part !== 'object' ||
      part === null ||
      (Object.isFrozen(part) && Object.values(part).every(isDeeplyFrozen));
    expect(isDeeplyFrozen(value)).toBe(true);
  });
});
