/** Validates seeds, and converts them to one seed per environment. */
import { InputError, Place, type Where } from '../../shared/errors.js';
import { checkInteger, checkLength, describe, isList, wrongType } from '../../shared/values.js';
import { MAX_U32 } from '../../world/fields.js';

/** One u32 s: environment i plays seed s + i. Or a u32 per environment. */
export type SeedChoice = number | ArrayLike<number>;

/** The seeds that an environment may use: `low` to `low + size - 1`. */
export interface SeedSpan {
  /** u32. */
  readonly low: number;
  /** 1 to 2^32 - low. */
  readonly size: number;
}

const EVERY_SEED: SeedSpan = Object.freeze({ low: 0, size: 2 ** 32 });

/** Returns a seed range, by default all seeds. @param range [low, size]. @throws InputError `wrong_type` or `out_of_range`. */
export function toSeedSpan(range: readonly [number, number] | undefined): SeedSpan {
  if (range === undefined) return EVERY_SEED;
  if (!Array.isArray(range) || range.length !== 2) {
    throw wrongType('seedRange', '[low, size]', range, 'Pass the first seed and the number of seeds.');
  }
  const low = checkInteger('seedRange[0] (low)', range[0], 0, MAX_U32);
  return Object.freeze({ low, size: checkInteger('seedRange[1] (size)', range[1], 1, 2 ** 32 - low) });
}

/**
 * Returns seeds, u32 [numEnvs]. Draws random seeds if `seed` is undefined. @param what the argument's name in errors.
 * @throws InputError `bad_seed` (also for a seed outside `span`), `wrong_length` or `wrong_type`.
 */
export function toSeeds(
  seed: SeedChoice | undefined,
  numEnvs: number,
  what = 'seed',
  span = EVERY_SEED,
): Uint32Array {
  if (seed === undefined) return randomSeeds(numEnvs, span);
  const seeds = typeof seed === 'number' ? seedsFrom(seed, numEnvs, what) : seedList(seed, numEnvs, what);
  if (span !== EVERY_SEED) requireInside(seeds, what, span);
  return seeds;
}

function seedList(seed: ArrayLike<number>, numEnvs: number, what: string): Uint32Array {
  if (!isList(seed)) {
    throw wrongType(what, 'a u32 or an array of u32', seed, 'Pass one seed per environment.');
  }
  checkLength(`entries in ${what}`, seed.length, numEnvs, 'numEnvs');
  const seeds = new Uint32Array(numEnvs);
  for (let i = 0; i < numEnvs; i++)
    seeds[i] = isSeed(seed[i]) ? seed[i] : refuseSeed(seed[i], new Place(what, i));
  return seeds;
}

function requireInside(seeds: Uint32Array, what: string, span: SeedSpan): void {
  const at = seeds.findIndex((seed) => !isWithin(seed, span));
  if (at >= 0) throw outsideSpan(seeds[at], span, `environment ${at} (from ${what})`);
}

/** Returns whether a seed lies in a range. */
export const isWithin = (seed: number, { low, size }: SeedSpan): boolean => seed >= low && seed < low + size;

/** Builds the error for a seed outside `span`. @param owner the environment with the seed. */
export const outsideSpan = (seed: number, { low, size }: SeedSpan, owner: string): InputError =>
  new InputError('bad_seed', {
    expected: `seeds in seedRange, ${low} to ${low + size - 1}`,
    got: `${seed} for ${owner}`,
    remedy: 'Pass a seed in that range, or widen seedRange.',
  });

/** Returns whether a number is a u32. */
export const isSeed = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= MAX_U32;

/** Returns the seed if it is a u32. @param where the argument's name in errors. @throws InputError `bad_seed`. */
export function checkSeed(seed: number, where: Where): number {
  return isSeed(seed) ? seed : refuseSeed(seed, where);
}

/** Throws InputError `bad_seed` for a value that is not a u32. */
export function refuseSeed(value: unknown, where: Where): never {
  throw new InputError('bad_seed', {
    expected: `a u32 (an integer from 0 to ${MAX_U32}) at ${where}`,
    got: describe(value),
    remedy: 'Pass an integer in that range.',
    at: where,
  });
}

function seedsFrom(seed: number, numEnvs: number, what: string): Uint32Array {
  checkSeed(seed, what);
  if (seed + numEnvs - 1 > MAX_U32) {
    throw new InputError('bad_seed', {
      expected: `${what} + ${numEnvs - 1} (the last environment's seed) to be at most ${MAX_U32}`,
      got: `${what} ${seed}`,
      remedy: 'Pass an array instead.',
    });
  }
  const seeds = new Uint32Array(numEnvs);
  for (let i = 0; i < numEnvs; i++) seeds[i] = seed + i;
  return seeds;
}

function randomSeeds(numEnvs: number, { low, size }: SeedSpan): Uint32Array {
  const seeds = new Uint32Array(numEnvs);
  // getRandomValues fills at most 65,536 bytes per call.
  const maxSeeds = 65536 / seeds.BYTES_PER_ELEMENT;
  for (let from = 0; from < numEnvs; from += maxSeeds)
    crypto.getRandomValues(seeds.subarray(from, from + maxSeeds));
  if (size === 2 ** 32) return seeds;
  return seeds.map((draw) => low + Math.floor((draw * size) / 2 ** 32));
}
