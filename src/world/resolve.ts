/** What a caller may call a person and a grader by, turned into codes and floats. */
import { InputError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import {
  COMPONENT_NAMES,
  GRADER_NAMES,
  MODE,
  NUM_COMPONENTS,
  PROFILE_NAMES,
  PROFILE_SIZE,
} from './fields.js';
import { inDomain, sumsToOne } from './validate.js';
import type { World } from './world.js';

export interface ResolvedProfile {
  mode: number;
  /** f32 [16] for mode `given`, else null. */
  floats: Float32Array | null;
}

function unknownName(what: string, name: string, known: readonly string[]): InputError {
  return new InputError(
    'unknown_name',
    `Expected ${what} to be one of ${known.join(', ')}, got ${JSON.stringify(name)}.${didYouMean(name, known)}`,
  );
}

/** Checks 16 floats of a profile. @throws InputError `bad_profile` that names the index. */
export function checkProfile(floats: ArrayLike<number>, where = 'profile'): Float32Array {
  if (floats.length !== PROFILE_SIZE) {
    throw new InputError(
      'bad_profile',
      `Expected ${PROFILE_SIZE} floats (11 traits, 5 weights) in ${where}, got ${floats.length}. Pass exactly these.`,
    );
  }
  const own = Array.from({ length: PROFILE_SIZE }, (_, k) => floats[k]);
  for (let k = 0; k < PROFILE_SIZE; k++) {
    if (!inDomain(own[k])) {
      throw new InputError(
        'bad_profile',
        `Expected 0 or a magnitude in [2^-40, 2^20] at ${where}[${k}], got ${String(own[k])}. ` +
          'Pass a float32 of that range.',
      );
    }
  }
  return Float32Array.from(own, (value) => value + 0);
}

/** Whom a name may ask for: somebody drawn from the seed, one of the named persons by the seed, or one of these. */
export const PERSON_NAMES: readonly string[] = Object.freeze(['sampled', 'discrete', ...PROFILE_NAMES]);

/**
 * @param profile 'sampled', 'discrete', a profile's name, or 16 floats. @param where what an error calls it.
 * @throws InputError `unknown_name` or `bad_profile`.
 */
export function resolveProfile(
  world: World,
  profile: string | ArrayLike<number>,
  where = 'profile',
): ResolvedProfile {
  if (typeof profile !== 'string') return { mode: MODE.given, floats: checkProfile(profile, where) };
  if (profile === 'sampled') return { mode: MODE.sampled, floats: null };
  if (profile === 'discrete') return { mode: MODE.discrete, floats: null };
  const index = PROFILE_NAMES.indexOf(profile);
  if (index < 0) throw unknownName(where, profile, PERSON_NAMES);
  const table = Float32Array.from(world.params.namedProfiles);
  return { mode: MODE.given, floats: table.subarray(index * PROFILE_SIZE, (index + 1) * PROFILE_SIZE) };
}

/**
 * @param grader 'v1', 'v2', or six weights that sum to 1. @param where what an error calls it.
 * @returns f32 [6]. @throws InputError `unknown_name` or `bad_grader`.
 */
export function resolveGrader(
  world: World,
  grader: string | ArrayLike<number>,
  where = 'grader',
): Float32Array {
  if (typeof grader === 'string') {
    const index = GRADER_NAMES.indexOf(grader);
    if (index < 0) throw unknownName('grader', grader, GRADER_NAMES);
    const table = Float32Array.from(world.params.graders);
    return table.subarray(index * NUM_COMPONENTS, (index + 1) * NUM_COMPONENTS);
  }
  return checkWeights(grader, where);
}

/** Checks six weights. @returns f32 [6]. @throws InputError `bad_grader`. */
export function checkWeights(list: ArrayLike<number>, where = 'grader'): Float32Array {
  const weights: unknown[] = Array.from(list);
  if (weights.length !== NUM_COMPONENTS || !weights.every(inDomain) || !sumsToOne(weights as number[])) {
    throw new InputError(
      'bad_grader',
      `Expected six finite weights (${COMPONENT_NAMES.join(', ')}) that sum to 1 in ${where}, got [${weights.map(String).join(', ')}]. ` +
        'Divide them by their sum, or use a name.',
    );
  }
  return Float32Array.from(weights as number[], (value) => value + 0);
}
