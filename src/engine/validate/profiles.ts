/** Validates profiles and graders of all environments, given by names or numbers. */
import { InputError } from '../../shared/errors.js';
import { checkLength, describe, isFloats, isList } from '../../shared/values.js';
import { MAX_MAGNITUDE, MIN_MAGNITUDE, MODE, NUM_COMPONENTS, PROFILE_SIZE } from '../../world/fields.js';
import { checkProfile, resolveGrader, resolveProfile } from '../../world/resolve-names.js';
import type { World } from '../../world/world.js';
import { type FloatRange, firstOutside } from './floats.js';

/**
 * 'sampled', 'discrete', a profile's name; one of these per environment; or f32 [numEnvs, 16], 11 traits then 5
 * weights.
 */
export type ProfileChoice = string | readonly string[] | Float32Array;
/** 'v1', 'v2'; one of these per environment; or weights, [6] for all environments or f32 [numEnvs, 6]. */
export type GraderChoice = string | readonly string[] | ArrayLike<number>;

const IN_DOMAIN: FloatRange = { low: MIN_MAGNITUDE, high: MAX_MAGNITUDE, signed: true };

/** The profiles of a batch. */
export interface EnvProfiles {
  /** u8 [numEnvs], codes of PROFILE_MODES. */
  readonly modes: Uint8Array;
  /** f32 [numEnvs, 16], or null if no environment's profile is given. */
  readonly floats: Float32Array | null;
}

/** Returns `count` copies of a row, concatenated. */
function repeat(row: ArrayLike<number>, count: number): Float32Array {
  const rows = new Float32Array(row.length * count);
  rows.set(row);
  for (let done = row.length; done < rows.length; done *= 2) rows.copyWithin(done, 0, done);
  return rows;
}

/**
 * Returns the profile of every environment.
 * @throws InputError `unknown_name`, `bad_profile`, `wrong_length`, `wrong_type`.
 */
export function toProfiles(world: World, profiles: ProfileChoice, numEnvs: number): EnvProfiles {
  if (typeof profiles === 'string') {
    const { mode, floats } = resolveProfile(world, profiles);
    return { modes: new Uint8Array(numEnvs).fill(mode), floats: floats && repeat(floats, numEnvs) };
  }
  if (isFloats(profiles)) {
    checkLength('floats in profiles', profiles.length, numEnvs * PROFILE_SIZE, 'numEnvs x 16');
    return { modes: new Uint8Array(numEnvs).fill(MODE.given), floats: checkRows(profiles) };
  }
  const names = namePerEnv('profiles', 'a Float32Array [numEnvs, 16]', profiles, numEnvs);
  const known = resolved(names, (name) => resolveProfile(world, name));
  const isGiven = [...known.values()].some(({ floats }) => floats !== null);
  const modes = new Uint8Array(numEnvs);
  const floats = isGiven ? new Float32Array(numEnvs * PROFILE_SIZE) : null;
  names.forEach((name, i) => {
    const profile = known.get(name)!;
    modes[i] = profile.mode;
    if (profile.floats !== null) floats!.set(profile.floats, i * PROFILE_SIZE);
  });
  return { modes, floats };
}

/** Resolves each name once. */
const resolved = <T>(names: readonly string[], resolve: (name: string) => T): ReadonlyMap<string, T> =>
  new Map([...new Set(names)].map((name) => [name, resolve(name)]));

function checkRows(profiles: Float32Array): Float32Array {
  const rows = new Float32Array(profiles);
  const outside = firstOutside(rows, IN_DOMAIN, PROFILE_SIZE, null);
  if (outside >= 0) {
    const row = Math.floor(outside / PROFILE_SIZE);
    // This throws, with the index in the message.
    checkProfile(rows.subarray(row * PROFILE_SIZE, (row + 1) * PROFILE_SIZE), `profiles[${row}]`);
  }
  return rows;
}

function namePerEnv(what: string, numbers: string, choice: unknown, numEnvs: number): readonly string[] {
  // `every` would skip holes.
  const areNames = Array.isArray(choice) && choice.findIndex((name) => typeof name !== 'string') < 0;
  if (!areNames) {
    throw new InputError(
      'wrong_type',
      `Expected ${what} to be a name, a name per environment or ${numbers}, got ${describe(choice)}. Pass one of these.`,
    );
  }
  checkLength(`names in ${what}`, choice.length, numEnvs, 'numEnvs');
  return choice;
}

/**
 * Returns every environment's grader, f32 [numEnvs, 6]. @throws InputError `unknown_name`, `bad_grader`,
 * `wrong_length`, `wrong_type`.
 */
export function toGraders(world: World, graders: GraderChoice, numEnvs: number): Float32Array {
  if (typeof graders === 'string') return repeat(resolveGrader(world, graders), numEnvs);
  if (isNumbers(graders)) return weightsOf(world, graders, numEnvs);
  const names = namePerEnv('graders', 'weights, [6] or [numEnvs, 6]', graders, numEnvs);
  const known = resolved(names, (name) => resolveGrader(world, name));
  const rows = new Float32Array(numEnvs * NUM_COMPONENTS);
  names.forEach((name, i) => {
    rows.set(known.get(name)!, i * NUM_COMPONENTS);
  });
  return rows;
}

function weightsOf(world: World, weights: ArrayLike<number>, numEnvs: number): Float32Array {
  const rows = new Float32Array(numEnvs * NUM_COMPONENTS);
  const length = weights.length;
  const oneForAll = length === NUM_COMPONENTS;
  if (!oneForAll) checkLength('weights in graders', length, rows.length, 'numEnvs x 6, or 6 for all');
  const list = Array.from({ length }, (_, at) => weights[at]);
  if (oneForAll) return repeat(resolveGrader(world, list), numEnvs);
  for (let at = 0; at < rows.length; at += NUM_COMPONENTS) {
    const where = `graders[${at / NUM_COMPONENTS}]`;
    rows.set(resolveGrader(world, list.slice(at, at + NUM_COMPONENTS), where), at);
  }
  return rows;
}

function isNumbers(value: unknown): value is ArrayLike<number> {
  return isList(value) && typeof value[0] === 'number';
}
