/** Resolves names of profiles and graders to codes and floats. */
import { InputError, type Where } from '../shared/errors.js';
import { didYouMean } from '../shared/names.js';
import { describe, type NameAmong } from '../shared/values.js';
import {
  COMPONENT_NAMES,
  GRADER_NAMES,
  MODE,
  NUM_COMPONENTS,
  PROFILE_NAMES,
  PROFILE_SIZE,
} from './fields.js';
import type { ProfileName } from './numbers.js';
import { inDomain, sumsToOne } from './validate-world.js';
import type { World } from './world.js';

/** A profile as mode and floats. */
export interface ResolvedProfile {
  /** A code of MODE. */
  mode: number;
  /** f32 [16] for mode `given`, else null. */
  floats: Float32Array | null;
}

function unknownName(what: Where, name: string, known: readonly string[], at = what): InputError {
  return new InputError('unknown_name', {
    expected: `${what} to be one of ${known.join(', ')}`,
    got: JSON.stringify(name),
    remedy: didYouMean(name, known),
    at,
  });
}

/** Checks 16 floats of a profile. @returns f32 [16], a copy with 0 for -0. @throws InputError `bad_profile`. */
export function checkProfile(floats: ArrayLike<number>, where: Where = 'profile'): Float32Array {
  if (floats.length !== PROFILE_SIZE) {
    throw new InputError('bad_profile', {
      expected: `${PROFILE_SIZE} floats (11 traits, 5 weights) in ${where}`,
      got: `${floats.length}`,
      remedy: `Pass ${PROFILE_SIZE} floats.`,
      at: where,
    });
  }
  const values = Array.from({ length: PROFILE_SIZE }, (_, k) => floats[k]);
  for (let k = 0; k < PROFILE_SIZE; k++) {
    if (!inDomain(values[k])) {
      throw new InputError('bad_profile', {
        expected: `0 or a magnitude in [2^-40, 2^20] at ${where}[${k}]`,
        got: describe(values[k]),
        remedy: 'Pass a float32 of that range.',
        at: where,
      });
    }
  }
  // Adding 0 turns -0 into 0.
  return Float32Array.from(values, (value) => value + 0);
}

/** 'sampled', 'discrete' or a profile's name. */
export type ProfileKindName = NameAmong<'sampled' | 'discrete' | ProfileName>;

/**
 * Profile names: 'sampled' (drawn from the seed), 'discrete' (a named profile chosen by the seed), the named profiles.
 */
export const PROFILE_CHOICES: readonly string[] = Object.freeze(['sampled', 'discrete', ...PROFILE_NAMES]);

/**
 * Resolves a profile to its mode and floats.
 * @param profile 'sampled', 'discrete', a profile's name, or 16 floats.
 * @param where the argument's name in errors.
 * @throws InputError `unknown_name` or `bad_profile`.
 */
export function resolveProfile(
  world: World,
  profile: string | ArrayLike<number>,
  where: Where = 'profile',
): ResolvedProfile {
  if (typeof profile !== 'string') return { mode: MODE.given, floats: checkProfile(profile, where) };
  if (profile === 'sampled') return { mode: MODE.sampled, floats: null };
  if (profile === 'discrete') return { mode: MODE.discrete, floats: null };
  const index = PROFILE_NAMES.indexOf(profile);
  if (index < 0) throw unknownName(where, profile, PROFILE_CHOICES);
  const table = Float32Array.from(world.params.namedProfiles);
  return { mode: MODE.given, floats: table.subarray(index * PROFILE_SIZE, (index + 1) * PROFILE_SIZE) };
}

/**
 * Resolves a grader to its weights.
 * @param grader a name of GRADER_NAMES, or eight weights that sum to 1.
 * @param where the argument's name in errors about weights; an error about a name says 'grader'.
 * @returns f32 [8]. @throws InputError `unknown_name` or `bad_grader`.
 */
export function resolveGrader(
  world: World,
  grader: string | ArrayLike<number>,
  where: Where = 'grader',
): Float32Array {
  if (typeof grader === 'string') {
    const index = GRADER_NAMES.indexOf(grader);
    if (index < 0) throw unknownName('grader', grader, GRADER_NAMES, where);
    const table = Float32Array.from(world.params.graders);
    return table.subarray(index * NUM_COMPONENTS, (index + 1) * NUM_COMPONENTS);
  }
  return checkWeights(grader, where);
}

const WEIGHT_LIST = `eight weights (${COMPONENT_NAMES.join(', ')})`;

/** Checks eight weights. @returns f32 [8]. @throws InputError `bad_grader`. */
export function checkWeights(list: ArrayLike<number>, where: Where = 'grader'): Float32Array {
  const weights: unknown[] = Array.from(list);
  const got = `[${weights.map(describe).join(', ')}]`;
  const refuse = (expected: string, remedy: string): never => {
    throw new InputError('bad_grader', {
      expected: `${expected} in ${where}`,
      got,
      remedy,
      at: where,
    });
  };
  if (weights.length !== NUM_COMPONENTS) refuse(WEIGHT_LIST, 'Pass eight weights, or use a name.');
  const outside = weights.findIndex((weight) => !inDomain(weight));
  if (outside >= 0) {
    const domain = `0 or a magnitude in [2^-40, 2^20] as the weight of ${COMPONENT_NAMES[outside]}`;
    refuse(domain, 'Pass a weight in that range, or use a name.');
  }
  if (!sumsToOne(weights as number[]))
    refuse('weights that sum to 1', 'Divide them by their sum, or use a name.');
  // Adding 0 turns -0 into 0.
  return Float32Array.from(weights as number[], (value) => value + 0);
}
