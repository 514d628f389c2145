/** Validates profiles and graders of all environments, given by names or numbers. */
import { Place } from '../../shared/errors.js';
import { checkLength, isFloats, isList, type NameAmong, wrongType } from '../../shared/values.js';
import { MAX_MAGNITUDE, MIN_MAGNITUDE, MODE, NUM_COMPONENTS, PROFILE_SIZE } from '../../world/fields.js';
import type { GraderName } from '../../world/numbers.js';
import {
  checkProfile,
  type ProfileKindName,
  resolveGrader,
  resolveProfile,
} from '../../world/resolve-names.js';
import type { World } from '../../world/world.js';
import { type Grader, type GraderLike, isGrader, weightsIn } from '../graders/grader.js';
import { type FloatRange, firstOutside } from './float-bounds.js';

/**
 * 'sampled', 'discrete', a profile's name; one of these per environment; or f32 [numEnvs, 16], 11 traits then 5
 * weights.
 */
export type ProfileChoice = ProfileKindName | readonly ProfileKindName[] | Float32Array;
/**
 * A name of GRADER_NAMES or a Grader; one per environment; or weights, [8] for all environments or [numEnvs, 8].
 */
export type GraderChoice = GraderLike | readonly (NameAmong<GraderName> | Grader)[];

const IN_DOMAIN: FloatRange = { low: MIN_MAGNITUDE, high: MAX_MAGNITUDE, signed: true };

/** The profiles of a batch. */
export interface EnvProfiles {
  /** u8 [numEnvs], codes of PROFILE_MODES. */
  readonly modes: Uint8Array;
  /** f32 [numEnvs, 16], or null if all profiles are sampled or discrete. */
  readonly floats: Float32Array | null;
}

/** A name in the argument `profiles`, for errors. */
const A_PROFILE = new Place('profiles', undefined, 'profile');

/** Returns `count` copies of a row, concatenated. */
function repeat(row: ArrayLike<number>, count: number): Float32Array {
  const rows = new Float32Array(row.length * count);
  rows.set(row);
  // Doubles the number of copies each time.
  for (let done = row.length; done < rows.length; done *= 2) rows.copyWithin(done, 0, done);
  return rows;
}

/**
 * Returns the profile of every environment.
 * @throws InputError `unknown_name`, `bad_profile`, `wrong_length`, `wrong_type`.
 */
export function toProfiles(world: World, profiles: ProfileChoice, numEnvs: number): EnvProfiles {
  if (typeof profiles === 'string') {
    const { mode, floats } = resolveProfile(world, profiles, A_PROFILE);
    return { modes: new Uint8Array(numEnvs).fill(mode), floats: floats && repeat(floats, numEnvs) };
  }
  if (isFloats(profiles)) {
    checkLength('floats in profiles', profiles.length, numEnvs * PROFILE_SIZE, 'numEnvs x 16');
    return { modes: new Uint8Array(numEnvs).fill(MODE.given), floats: checkRows(profiles) };
  }
  const names = onePerEnv('profiles', KINDS.profile, profiles, isName, numEnvs);
  const known = resolved(names, (name) => resolveProfile(world, name, A_PROFILE));
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

/** Resolves each name, or each other choice, once. */
const resolved = <Choice, T>(
  choices: readonly Choice[],
  resolve: (choice: Choice) => T,
): ReadonlyMap<Choice, T> => new Map([...new Set(choices)].map((choice) => [choice, resolve(choice)]));

/** The valid forms of an argument, for errors. */
const KINDS = {
  profile: 'a name, a name per environment or a Float32Array [numEnvs, 16]',
  grader: `a name or a grader, one per environment, or weights, [${NUM_COMPONENTS}] or [numEnvs, ${NUM_COMPONENTS}]`,
};

const isName = (choice: unknown): choice is string => typeof choice === 'string';

/** Returns a copy of profiles. @throws InputError `bad_profile` for a number outside the domain. */
function checkRows(profiles: Float32Array): Float32Array {
  const rows = new Float32Array(profiles);
  const outside = firstOutside(rows, IN_DOMAIN, PROFILE_SIZE, null);
  if (outside >= 0) {
    const row = Math.floor(outside / PROFILE_SIZE);
    // This throws, with the index in the message.
    checkProfile(rows.subarray(row * PROFILE_SIZE, (row + 1) * PROFILE_SIZE), new Place('profiles', row));
  }
  return rows;
}

/** Validates a list of one choice per environment, such as names. @param forms the valid forms of the argument, for the error. */
function onePerEnv<Choice>(
  what: string,
  forms: string,
  choices: unknown,
  isChoice: (choice: unknown) => choice is Choice,
  numEnvs: number,
): readonly Choice[] {
  // `every` would skip holes.
  if (!Array.isArray(choices) || choices.findIndex((choice) => !isChoice(choice)) >= 0)
    throw wrongType(what, forms, choices, 'Pass a name.');
  checkLength(`names in ${what}`, choices.length, numEnvs, 'numEnvs');
  return choices;
}

/**
 * Returns every environment's grader, f32 [numEnvs, 8]. @param where the argument's name in errors.
 * @throws InputError `unknown_name`, `bad_grader`, `wrong_length`, `wrong_type`.
 */
export function toGraders(
  world: World,
  graders: GraderChoice,
  numEnvs: number,
  where = 'grader',
): Float32Array {
  if (isOneGrader(graders)) return repeat(weightsIn(world, graders, where), numEnvs);
  if (isNumbers(graders)) return weightsOf(world, graders, numEnvs, where);
  const choices = onePerEnv(where, KINDS.grader, graders, isOneGrader, numEnvs);
  const known = resolved(choices, (choice) => weightsIn(world, choice, where));
  const rows = new Float32Array(numEnvs * NUM_COMPONENTS);
  choices.forEach((choice, i) => {
    rows.set(known.get(choice)!, i * NUM_COMPONENTS);
  });
  return rows;
}

/** Returns the graders given as numbers, f32 [numEnvs, 8]: one for all environments, or one for each. */
function weightsOf(world: World, weights: ArrayLike<number>, numEnvs: number, where: string): Float32Array {
  const { length } = weights;
  const list = Array.from({ length }, (_, at) => weights[at]);
  if (length === NUM_COMPONENTS) return repeat(resolveGrader(world, list, where), numEnvs);
  checkLength(`weights in ${where}`, length, numEnvs * NUM_COMPONENTS, 'numEnvs x eight, or eight for all');
  const rows = new Float32Array(numEnvs * NUM_COMPONENTS);
  for (let at = 0; at < length; at += NUM_COMPONENTS) {
    const place = new Place(where, at / NUM_COMPONENTS);
    rows.set(resolveGrader(world, list.slice(at, at + NUM_COMPONENTS), place), at);
  }
  return rows;
}

const isOneGrader = (choice: unknown): choice is string | Grader => isName(choice) || isGrader(choice);

function isNumbers(value: unknown): value is ArrayLike<number> {
  return isList(value) && typeof value[0] === 'number';
}
