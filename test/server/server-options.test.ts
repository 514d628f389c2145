/** Tests the ranges and the defaults of the server's options. */
import { expect, it } from 'vitest';
import { type ServeOptions, toServeSettings } from '../../src/server/server-options.js';

const MIB = 2 ** 20;
const LIMITS: [name: keyof ServeOptions, low: number, high: number, byDefault: number][] = [
  ['port', 0, 65_535, 8000],
  ['capacity', 1, 65_536, 4096],
  ['bodyLimit', 1024, 512 * MIB, 64 * MIB],
  ['frameLimit', 1024, 512 * MIB, MIB],
  ['vecEnvs', 1, 16_777_216, 262_144],
  ['batchRequests', 1, 1024, 8],
  ['batchQueue', 0, 65_536, 1024],
  ['batchWaitMs', 10, 240_000, 60_000],
  ['pingMs', 10, 2_147_483_647, 30_000],
  ['idleMs', 10, 2_147_483_647, 900_000],
];

it.each(LIMITS)('accepts %s only from %i to %i, by default %i', (name, low, high, byDefault) => {
  for (const value of [low, high]) expect(toServeSettings({ [name]: value })[name]).toBe(value);
  expect(toServeSettings({})[name]).toBe(byDefault);
  const range = `Expected ${name} to be an integer from ${low} to ${high}`;
  for (const value of [low - 1, high + 1, low + 0.5])
    expect(() => toServeSettings({ [name]: value })).toThrow(range);
});
