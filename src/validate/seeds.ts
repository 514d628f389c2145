/** Seeds of all slots, from whatever a caller may call them by. */
import { InputError } from '../errors.js';
import { MAX_U32 } from '../world/fields.js';
import { checkLength, describe, isList } from './values.js';

/** One u32, to which slot i adds i; or one u32 per slot. */
export type SeedChoice = number | ArrayLike<number>;

/**
 * u32 [numEnvs]; absent means drawn by the platform. @param what an error's name for it.
 * @throws InputError `bad_seed`, `wrong_length` or `wrong_type`.
 */
export function toSeeds(seed: SeedChoice | undefined, numEnvs: number, what = 'seed'): Uint32Array {
  if (seed === undefined) return randomSeeds(numEnvs);
  if (typeof seed === 'number') return seedsFrom(seed, numEnvs, what);
  if (!isList(seed)) {
    throw new InputError(
      'wrong_type',
      `Expected ${what} to be a u32 or an array of them, got ${describe(seed)}. Pass one per slot.`,
    );
  }
  checkLength(`entries in ${what}`, seed.length, numEnvs, 'numEnvs');
  const seeds = new Uint32Array(numEnvs);
  for (let i = 0; i < numEnvs; i++)
    seeds[i] = isSeed(seed[i]) ? seed[i] : refuseSeed(seed[i], `${what}[${i}]`);
  return seeds;
}

const isSeed = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= MAX_U32;

/** @throws InputError `bad_seed`. */
export function checkSeed(seed: number, where: string): number {
  return isSeed(seed) ? seed : refuseSeed(seed, where);
}

function refuseSeed(value: unknown, where: string): never {
  throw new InputError(
    'bad_seed',
    `Expected a u32 (an integer from 0 to ${MAX_U32}) at ${where}, got ${describe(value)}. Pass one.`,
  );
}

function seedsFrom(seed: number, numEnvs: number, what: string): Uint32Array {
  checkSeed(seed, what);
  if (seed + numEnvs - 1 > MAX_U32) {
    throw new InputError(
      'bad_seed',
      `Expected ${what} + ${numEnvs - 1} (the last slot's) to be at most ${MAX_U32}, got ${what} ${seed}. ` +
        'Pass an array instead.',
    );
  }
  const seeds = new Uint32Array(numEnvs);
  for (let i = 0; i < numEnvs; i++) seeds[i] = seed + i;
  return seeds;
}

function randomSeeds(numEnvs: number): Uint32Array {
  const seeds = new Uint32Array(numEnvs);
  const most = 65536 / seeds.BYTES_PER_ELEMENT;
  for (let from = 0; from < numEnvs; from += most) crypto.getRandomValues(seeds.subarray(from, from + most));
  return seeds;
}
