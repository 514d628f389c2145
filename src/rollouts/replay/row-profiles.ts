/** Validates the profiles of rows, row by row. */
import { type EnvProfiles, type ProfileChoice, toProfiles } from '../../engine/validate/profiles.js';
import { checkLength, checkString, isFloats, wrongType } from '../../shared/values.js';
import { MODE, PROFILE_SIZE } from '../../world/fields.js';
import { checkProfile, type ResolvedProfile, resolveProfile } from '../../world/resolve-names.js';
import type { World } from '../../world/world.js';
import { attempt, type Blame } from './row-faults.js';

/**
 * Resolves profiles per row.
 * @param blame called for every row with an invalid profile.
 * @param where names a row's profile in errors.
 * @throws InputError for a fault that concerns all rows: one name for all, a length, a type.
 */
export function toRowProfiles(
  world: World,
  profiles: ProfileChoice,
  rows: number,
  blame: Blame,
  where: (row: number) => string,
): EnvProfiles {
  if (typeof profiles === 'string') return toProfiles(world, profiles, rows);
  if (isFloats(profiles)) return given(profiles, rows, blame, where);
  if (!Array.isArray(profiles)) {
    const expected = `a name, a name per row or a Float32Array [n, ${PROFILE_SIZE}]`;
    throw wrongType('profiles', expected, profiles, 'Pass one of these.');
  }
  checkLength('names in profiles', profiles.length, rows, 'one for each seed');
  return named(world, profiles, blame, where);
}

function given(
  profiles: Float32Array,
  rows: number,
  blame: Blame,
  where: (row: number) => string,
): EnvProfiles {
  checkLength('floats in profiles', profiles.length, rows * PROFILE_SIZE, `${PROFILE_SIZE} for each seed`);
  const floats = new Float32Array(profiles);
  for (let i = 0; i < rows; i++) {
    const row = floats.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE);
    attempt(i, blame, () => row.set(checkProfile(row, where(i))));
  }
  return { modes: new Uint8Array(rows).fill(MODE.given), floats };
}

function named(
  world: World,
  names: readonly string[],
  blame: Blame,
  where: (row: number) => string,
): EnvProfiles {
  const known = new Map<string, ResolvedProfile>();
  const resolve = (i: number, name: string): void => {
    known.set(name, resolveProfile(world, checkString(where(i), name), where(i)));
  };
  const modes = new Uint8Array(names.length);
  let floats: Float32Array | null = null;
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    if (!known.has(name)) attempt(i, blame, () => resolve(i, name));
    const person = known.get(name);
    if (person === undefined) continue;
    modes[i] = person.mode;
    if (person.floats === null) continue;
    floats ??= new Float32Array(names.length * PROFILE_SIZE);
    floats.set(person.floats, i * PROFILE_SIZE);
  }
  return { modes, floats };
}
