/** Validates the profiles of rows. An invalid profile is a fault of its row. */
import { type EnvProfiles, type ProfileChoice, toProfiles } from '../../engine/validate/profiles.js';
import type { Place } from '../../shared/errors.js';
import { checkLength, checkString, isFloats, wrongType } from '../../shared/values.js';
import { MODE, PROFILE_SIZE } from '../../world/fields.js';
import { checkProfile, type ResolvedProfile, resolveProfile } from '../../world/resolve-names.js';
import type { World } from '../../world/world.js';
import { catchFault, type ReportFault } from './row-faults.js';

/**
 * Resolves the profile of each row.
 * @param reportFault called for every row with an invalid profile.
 * @param where names a row's profile in errors.
 * @throws InputError for a fault of all rows: an unknown name that was passed for all rows, a wrong length or a wrong type.
 */
export function toRowProfiles(
  world: World,
  profiles: ProfileChoice,
  numRows: number,
  reportFault: ReportFault,
  where: (row: number) => Place,
): EnvProfiles {
  if (typeof profiles === 'string') return toProfiles(world, profiles, numRows);
  if (isFloats(profiles)) return fromFloats(profiles, numRows, reportFault, where);
  if (!Array.isArray(profiles)) {
    const expected = `a name, a name per row or a Float32Array [n, ${PROFILE_SIZE}]`;
    throw wrongType('profiles', expected, profiles, 'Pass a name.');
  }
  checkLength('names in profiles', profiles.length, numRows, 'one for each seed');
  return fromNames(world, profiles, reportFault, where);
}

function fromFloats(
  profiles: Float32Array,
  numRows: number,
  reportFault: ReportFault,
  where: (row: number) => Place,
): EnvProfiles {
  checkLength('floats in profiles', profiles.length, numRows * PROFILE_SIZE, `${PROFILE_SIZE} for each seed`);
  const floats = new Float32Array(profiles);
  for (let i = 0; i < numRows; i++) {
    const row = floats.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE);
    catchFault(i, reportFault, () => row.set(checkProfile(row, where(i))));
  }
  return { modes: new Uint8Array(numRows).fill(MODE.given), floats };
}

function fromNames(
  world: World,
  names: readonly string[],
  reportFault: ReportFault,
  where: (row: number) => Place,
): EnvProfiles {
  const resolved = new Map<string, ResolvedProfile>();
  const resolve = (i: number, name: string): void => {
    resolved.set(name, resolveProfile(world, checkString(where(i), name), where(i)));
  };
  const modes = new Uint8Array(names.length);
  let floats: Float32Array | null = null;
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    if (!resolved.has(name)) catchFault(i, reportFault, () => resolve(i, name));
    const profile = resolved.get(name);
    if (profile === undefined) continue;
    modes[i] = profile.mode;
    if (profile.floats === null) continue;
    floats ??= new Float32Array(names.length * PROFILE_SIZE);
    floats.set(profile.floats, i * PROFILE_SIZE);
  }
  return { modes, floats };
}
