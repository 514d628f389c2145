/** Validates profiles and graders of all environments, given by names or numbers. */
import { InputError, Place } from '../../shared/errors.js';
import {
  checkLength,
  checkString,
  isFloats,
  isList,
  type NameAmong,
  wrongType,
} from '../../shared/values.js';
import { MAX_MAGNITUDE, MIN_MAGNITUDE, MODE, NUM_COMPONENTS, PROFILE_SIZE } from '../../world/fields.js';
import type { GraderName } from '../../world/numbers.js';
import {
  checkProfile,
  type ProfileKindName,
  type ResolvedProfile,
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

/** Rows that an invalid profile of one of them does not refuse. */
export interface ProfileRows {
  /** Returns the place of a row's profile, for errors. */
  readonly placeOf: (row: number) => Place;
  readonly reportFault: (row: number, fault: InputError) => void;
}

/**
 * Returns the profile of every environment, or of every row. Reports a row with an invalid profile, whose entries then have
 * no meaning. @param rows by default the first invalid profile is thrown.
 * @throws InputError `unknown_name`, `bad_profile`, `wrong_length`, `wrong_type`.
 */
export function toProfiles(
  world: World,
  profiles: ProfileChoice,
  numEnvs: number,
  rows: ProfileRows | null = null,
): EnvProfiles {
  if (typeof profiles === 'string') {
    const { mode, floats } = resolveProfile(world, profiles, A_PROFILE);
    return { modes: new Uint8Array(numEnvs).fill(mode), floats: floats && repeat(floats, numEnvs) };
  }
  const [each, unit] = rows === null ? ['environment', 'numEnvs'] : ['row', 'rows'];
  if (isFloats(profiles)) {
    checkLength('floats in profiles', profiles.length, numEnvs * PROFILE_SIZE, `${unit} x ${PROFILE_SIZE}`);
    return { modes: new Uint8Array(numEnvs).fill(MODE.given), floats: checkRows(profiles, rows) };
  }
  const forms = `a name, a name per ${each} or a Float32Array [${unit}, ${PROFILE_SIZE}]`;
  const isListed = rows === null ? isName : (_: unknown): _ is string => true;
  const names = onePerEnv('profiles', forms, profiles, isListed, numEnvs, unit);
  const known = new Map<string, ResolvedProfile>();
  const modes = new Uint8Array(numEnvs);
  let floats: Float32Array | null = null;
  for (const [i, name] of names.entries()) {
    if (!known.has(name)) {
      const place = rows?.placeOf(i) ?? A_PROFILE;
      reporting(rows, i, () => known.set(name, resolveProfile(world, checkString(place, name), place)));
    }
    const profile = known.get(name);
    if (profile === undefined) continue;
    modes[i] = profile.mode;
    if (profile.floats === null) continue;
    floats ??= new Float32Array(numEnvs * PROFILE_SIZE);
    floats.set(profile.floats, i * PROFILE_SIZE);
  }
  return { modes, floats };
}

/** Calls `check`. Reports an InputError that it throws as the fault of a row, if rows report faults. */
function reporting(rows: ProfileRows | null, row: number, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (rows === null || !(error instanceof InputError)) throw error;
    rows.reportFault(row, error);
  }
}

/** The valid forms of graders, for errors. */
const GRADERS = `a name or a grader, one per environment, or weights, [${NUM_COMPONENTS}] or [numEnvs, ${NUM_COMPONENTS}]`;

const isName = (choice: unknown): choice is string => typeof choice === 'string';

/** Returns a copy of profiles. @throws InputError `bad_profile` for a number outside the domain. */
function checkRows(profiles: Float32Array, rows: ProfileRows | null): Float32Array {
  const floats = new Float32Array(profiles);
  for (let first = 0; ; ) {
    const outside = firstOutside(floats.subarray(first), IN_DOMAIN, PROFILE_SIZE, null);
    if (outside < 0) return floats;
    const row = Math.floor((first + outside) / PROFILE_SIZE);
    const place = rows?.placeOf(row) ?? new Place('profiles', row);
    first = (row + 1) * PROFILE_SIZE;
    // This throws, with the index in the message.
    reporting(rows, row, () => void checkProfile(floats.subarray(first - PROFILE_SIZE, first), place));
  }
}

/** Validates a list of one choice per environment, such as names. @param forms the valid forms of the argument, for the error. */
function onePerEnv<Choice>(
  what: string,
  forms: string,
  choices: unknown,
  isChoice: (choice: unknown) => choice is Choice,
  numEnvs: number,
  unit = 'numEnvs',
): readonly Choice[] {
  // `every` would skip holes.
  if (!Array.isArray(choices) || choices.findIndex((choice) => !isChoice(choice)) >= 0)
    throw wrongType(what, forms, choices, 'Pass a name.');
  checkLength(`names in ${what}`, choices.length, numEnvs, unit);
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
  const choices = onePerEnv(where, GRADERS, graders, isOneGrader, numEnvs);
  const known = new Map([...new Set(choices)].map((choice) => [choice, weightsIn(world, choice, where)]));
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
