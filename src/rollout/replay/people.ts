/** Who the persons of rows are, each row by itself. */
import { InputError } from '../../errors.js';
import type { ProfileChoice, SlotProfiles } from '../../validate/persons.js';
import { checkLength, describe, isFloats, lengthOf } from '../../validate/values.js';
import { MODE, PROFILE_SIZE } from '../../world/fields.js';
import { checkProfile, resolveProfile } from '../../world/resolve.js';
import type { World } from '../../world/world.js';
import type { Blame } from './columns.js';

/** @throws InputError for what concerns all rows: a name for all, a length, a type. */
export function toPeople(world: World, profiles: ProfileChoice, rows: number, blame: Blame): SlotProfiles {
  if (typeof profiles === 'string') return everybody(world, profiles, rows);
  if (isFloats(profiles)) return given(profiles, rows, blame);
  if (!Array.isArray(profiles)) {
    throw new InputError(
      'wrong_type',
      `Expected profiles to be a name, a name per row or a Float32Array [n, ${PROFILE_SIZE}], got ` +
        `${describe(profiles)}. Pass one of these.`,
    );
  }
  checkLength('names in profiles', profiles.length, rows, 'one for each seed');
  return named(world, profiles, blame);
}

function everybody(world: World, name: string, rows: number): SlotProfiles {
  const { mode, floats } = resolveProfile(world, name);
  const modes = new Uint8Array(rows).fill(mode);
  if (floats === null) return { modes, floats };
  const all = new Float32Array(rows * PROFILE_SIZE);
  for (let i = 0; i < rows; i++) all.set(floats, i * PROFILE_SIZE);
  return { modes, floats: all };
}

function given(profiles: Float32Array, rows: number, blame: Blame): SlotProfiles {
  checkLength('floats in profiles', lengthOf(profiles), rows * PROFILE_SIZE, 'a profile for each seed');
  const floats = new Float32Array(profiles);
  for (let i = 0; i < rows; i++) {
    const row = floats.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE);
    attempt(i, blame, () => row.set(checkProfile(row, `profiles[${i}]`)));
  }
  return { modes: new Uint8Array(rows).fill(MODE.given), floats };
}

function named(world: World, names: readonly string[], blame: Blame): SlotProfiles {
  const known = new Map<string, ReturnType<typeof resolveProfile>>();
  const modes = new Uint8Array(names.length);
  let floats: Float32Array | null = null;
  for (let i = 0; i < names.length; i++) {
    let person = known.get(names[i]);
    if (person === undefined) {
      attempt(i, blame, () => {
        person = resolveProfile(world, names[i]);
        known.set(names[i], person);
      });
      if (person === undefined) continue;
    }
    modes[i] = person.mode;
    if (person.floats === null) continue;
    floats ??= new Float32Array(names.length * PROFILE_SIZE);
    floats.set(person.floats, i * PROFILE_SIZE);
  }
  return { modes, floats };
}

function attempt(index: number, blame: Blame, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    blame(index, error);
  }
}
