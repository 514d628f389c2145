/** The door: what callers pass, checked and turned into the clean arrays that the seam takes. One copy for all faces. */
import { InputError } from './errors.js';
import { didYouMean } from './suggest.js';
import {
  ACTION_NAMES,
  MODE,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_STEPS,
  PROFILE_SIZE,
} from './world/fields.js';
import { checkProfile, resolveGrader, resolveProfile } from './world/resolve.js';
import type { World } from './world/world.js';

/** 'sampled', 'discrete', a profile's name; one of these per slot; or f32 [numEnvs, 16], 11 traits then 5 weights. */
export type ProfileChoice = string | readonly string[] | Float32Array;
/** 'v1', 'v2'; one of these per slot; or weights, [6] for all slots or f32 [numEnvs, 6]. */
export type GraderChoice = string | readonly string[] | ArrayLike<number>;
/** One u32, to which slot i adds i; or one u32 per slot. */
export type SeedChoice = number | ArrayLike<number>;
/** Codes 0..9, one per slot. */
export type Actions = Uint8Array | Int32Array | readonly number[];

const MAX_U32 = 2 ** 32 - 1;

/** Refuses options that are not known, by name. */
export function checkOptions(what: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new InputError(
      'wrong_type',
      `Expected ${what} to be an object, got ${describe(options)}. Pass { ${known[0]}: ... }.`,
    );
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new InputError(
      'unknown_option',
      `Expected ${what} among ${known.join(', ')}, got "${name}".${didYouMean(name, known) || ' Remove it.'}`,
    );
  }
}

/** A value as an error shows it. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return ArrayBuffer.isView(value) ? `a ${kindOf(value)}` : 'an object';
}

/** What a view is by its making, whatever its prototype says: 'Float32Array', 'DataView', ... */
const kindOf = (view: ArrayBufferView): string => Object.prototype.toString.call(view).slice(8, -1);

const isFloats = (value: unknown): value is Float32Array =>
  ArrayBuffer.isView(value) && kindOf(value) === 'Float32Array';

export function checkInteger(what: string, value: unknown, low: number, high: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value;
  const code = typeof value === 'number' ? 'out_of_range' : 'wrong_type';
  throw new InputError(
    code,
    `Expected ${what} to be an integer from ${low} to ${high}, got ${describe(value)}. Pass one.`,
  );
}

export function checkString(what: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new InputError('wrong_type', `Expected ${what} to be a name, got ${describe(value)}. Pass a string.`);
}

export function checkBoolean(what: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new InputError(
    'wrong_type',
    `Expected ${what} to be true or false, got ${describe(value)}. Pass one.`,
  );
}

function checkLength(what: string, got: number, expected: number, unit: string): void {
  if (got === expected) return;
  throw new InputError(
    'wrong_length',
    `Expected ${expected} ${what} (${unit}), got ${got}. Pass exactly ${expected}.`,
  );
}

/** An array or a typed array. Only its length and entries are read. */
export function isList(value: unknown): value is ArrayLike<number> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/** u32 [numEnvs]; absent means drawn by the platform. */
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
  return Uint32Array.from({ length: numEnvs }, (_, i) => checkSeed(seed[i], `${what}[${i}]`));
}

function checkSeed(value: number, where: string): number {
  if (Number.isInteger(value) && value >= 0 && value <= MAX_U32) return value;
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
  return Uint32Array.from({ length: numEnvs }, (_, i) => seed + i);
}

function randomSeeds(numEnvs: number): Uint32Array {
  const seeds = new Uint32Array(numEnvs);
  const most = 65536 / seeds.BYTES_PER_ELEMENT;
  for (let from = 0; from < numEnvs; from += most) crypto.getRandomValues(seeds.subarray(from, from + most));
  return seeds;
}

export interface SlotProfiles {
  /** u8 [numEnvs], codes of PROFILE_MODES. */
  readonly modes: Uint8Array;
  /** f32 [numEnvs, 16], or null if no slot's profile is given. */
  readonly floats: Float32Array | null;
}

/** The profile of every slot. */
export function toProfiles(world: World, profiles: ProfileChoice, numEnvs: number): SlotProfiles {
  if (isFloats(profiles)) {
    checkLength('floats in profiles', profiles.length, numEnvs * PROFILE_SIZE, 'numEnvs x 16');
    return { modes: new Uint8Array(numEnvs).fill(MODE.given), floats: checkRows(profiles, numEnvs) };
  }
  const names = namePerSlot('profiles', profiles, numEnvs);
  const modes = new Uint8Array(numEnvs);
  const floats = new Float32Array(numEnvs * PROFILE_SIZE);
  const known = new Map([...new Set(names)].map((name) => [name, resolveProfile(world, name)]));
  names.forEach((name, i) => {
    const profile = known.get(name)!;
    modes[i] = profile.mode;
    if (profile.floats !== null) floats.set(profile.floats, i * PROFILE_SIZE);
  });
  return { modes, floats: modes.includes(MODE.given) ? floats : null };
}

function checkRows(profiles: Float32Array, numEnvs: number): Float32Array {
  const rows = new Float32Array(profiles.length);
  for (let i = 0; i < numEnvs; i++) {
    const row = profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE);
    rows.set(checkProfile(row, `profiles[${i}]`), i * PROFILE_SIZE);
  }
  return rows;
}

function namePerSlot(what: string, choice: unknown, numEnvs: number): readonly string[] {
  // Array.from makes holes visible.
  const names =
    typeof choice === 'string'
      ? new Array<string>(numEnvs).fill(choice)
      : Array.isArray(choice) && Array.from(choice);
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    throw new InputError(
      'wrong_type',
      `Expected ${what} to be a name, a name per slot or numbers, got ${describe(choice)}. ` +
        'Numbers for profiles come as a Float32Array [numEnvs, 16].',
    );
  }
  checkLength(`names in ${what}`, names.length, numEnvs, 'numEnvs');
  return names;
}

/** f32 [numEnvs, 6]: every slot's grader. */
export function toGraders(world: World, graders: GraderChoice, numEnvs: number): Float32Array {
  const rows = new Float32Array(numEnvs * NUM_COMPONENTS);
  if (isNumbers(graders)) {
    const all = graders.length === NUM_COMPONENTS;
    if (!all) checkLength('weights in graders', graders.length, rows.length, 'numEnvs x 6, or 6 for all');
    const weights = Array.from(graders);
    for (let i = 0; i < numEnvs; i++) {
      const row = all ? weights : weights.slice(i * NUM_COMPONENTS, (i + 1) * NUM_COMPONENTS);
      rows.set(resolveGrader(world, row), i * NUM_COMPONENTS);
    }
    return rows;
  }
  const names = namePerSlot('graders', graders, numEnvs);
  const known = new Map([...new Set(names)].map((name) => [name, resolveGrader(world, name)]));
  names.forEach((name, i) => {
    rows.set(known.get(name)!, i * NUM_COMPONENTS);
  });
  return rows;
}

function isNumbers(value: unknown): value is ArrayLike<number> {
  return isList(value) && typeof value[0] === 'number';
}

/** Codes as bytes. A Uint8Array passes as it is: its codes are checked where they are used. */
export function toActions(
  actions: Actions,
  length: number,
  unit: string,
  scratch: () => Uint8Array,
): Uint8Array {
  if (!isList(actions)) {
    throw new InputError(
      'wrong_type',
      `Expected actions to be a Uint8Array, an Int32Array or an array of codes, got ${describe(actions)}. ` +
        'Pass one code per slot.',
    );
  }
  checkLength('actions', actions.length, length, unit);
  if (ArrayBuffer.isView(actions) && kindOf(actions) === 'Uint8Array') return actions as Uint8Array;
  const bytes = scratch();
  for (let i = 0; i < length; i++) {
    const value = actions[i];
    // What is no byte at all would wrap into one; 255 is illegal, and ignored where a slot does not step.
    bytes[i] = Number.isInteger(value) && value >= 0 && value < NUM_ACTIONS ? value : refuseAction(value, i);
  }
  return bytes;
}

function refuseAction(value: unknown, index: number): never {
  throw illegalAction(`actions[${index}]`, value);
}

/** The error for a code that is no action. */
export function illegalAction(where: string, value: unknown): InputError {
  return new InputError(
    'illegal_action',
    `Expected an action code from 0 to ${NUM_ACTIONS - 1} (${ACTION_NAMES.join(', ')}) at ${where}, ` +
      `got ${describe(value)}. No episode was stepped. Pass a code of that range.`,
  );
}

export interface GivenBeliefs {
  readonly beliefs: Float32Array;
  /** u8, one flag a row. */
  readonly given: Uint8Array;
}

/**
 * Beliefs as rows of three: a whole row of NaN means none given.
 * @throws InputError `bad_belief` for a row that is partly NaN or holds an infinity.
 */
export function toBeliefs(
  beliefs: Float32Array,
  rows: number,
  unit: string,
  given: Uint8Array,
): GivenBeliefs {
  if (!isFloats(beliefs)) {
    throw new InputError(
      'wrong_type',
      `Expected beliefs to be a Float32Array, got ${describe(beliefs)}. Pass [${unit}, 3] floats.`,
    );
  }
  checkLength('floats in beliefs', beliefs.length, rows * NUM_BELIEFS, `${unit} x 3`);
  for (let row = 0; row < rows; row++) {
    const at = row * NUM_BELIEFS;
    // A sum is finite only if its terms are (three float32s cannot overflow a float64).
    given[row] = Number.isFinite(beliefs[at] + beliefs[at + 1] + beliefs[at + 2]) ? 1 : absent(beliefs, row);
  }
  return { beliefs, given };
}

function absent(beliefs: Float32Array, row: number): 0 {
  const values = beliefs.subarray(row * NUM_BELIEFS, (row + 1) * NUM_BELIEFS);
  if (values.every(Number.isNaN)) return 0;
  throw new InputError(
    'bad_belief',
    `Expected three finite numbers or three NaN (no belief) in beliefs row ${row}, got [${values.join(', ')}]. ` +
      'No episode was stepped. Pass the one or the other.',
  );
}

/** One belief for every step. */
export function toConstantBelief(belief: ArrayLike<number>): Float32Array {
  if (!isList(belief)) {
    throw new InputError(
      'wrong_type',
      `Expected a belief of three numbers, got ${describe(belief)}. Pass [social, morning, work].`,
    );
  }
  checkLength('numbers in a constant belief', belief.length, NUM_BELIEFS, 'social, morning, work');
  const values = Array.from(belief);
  const floats = values.every((value) => typeof value === 'number') ? Float32Array.from(values) : null;
  if (floats?.every(Number.isFinite)) return floats;
  throw new InputError(
    'bad_belief',
    `Expected a constant belief of finite numbers, got [${values.map(String).join(', ')}]. ` +
      'No episode was stepped. Leave beliefs out to give none.',
  );
}

/** u8 [numEnvs]: where each slot stops. */
export function toStops(stops: ArrayLike<number>, numEnvs: number): Uint8Array {
  if (!isList(stops)) {
    throw new InputError(
      'wrong_type',
      `Expected stops to be an array, got ${describe(stops)}. Pass one step per slot.`,
    );
  }
  checkLength('stops', stops.length, numEnvs, 'numEnvs');
  return Uint8Array.from({ length: numEnvs }, (_, i) => checkInteger(`stops[${i}]`, stops[i], 0, NUM_STEPS));
}
