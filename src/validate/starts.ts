/** Where episodes begin, if not with the week: the state that a caller gives, checked slot by slot in one pass. */
import { InputError } from '../errors.js';
import { METER_NAMES, NUM_METERS, NUM_STEPS, STATE_FIELDS } from '../world/fields.js';
import { checkInteger, checkLength, describe, isList, lengthOf, readOptions, wrongType } from './values.js';

/**
 * What has been before episodes that begin later in the week. With a mask only the entries of its slots count. Numbers
 * are rounded to float32; what has been known as such goes on exactly as if it had been played here.
 */
export interface StartStates {
  /** Steps taken, 0 to 27: one number for all slots, or one per slot. */
  steps: number | ArrayLike<number>;
  /** [numEnvs, 5], flat, by METER_NAMES, in [0, 1]. */
  meters: ArrayLike<number>;
  /** [numEnvs]: sum of the rewards of the first half, without luck; 0 before the first step. Default: 0. */
  early?: ArrayLike<number>;
  /** [numEnvs]: of the second half; 0 up to step 14. Default: 0. */
  late?: ArrayLike<number>;
  /** [numEnvs]: how often a meter was below the crash threshold, at most 5 for each step. Default: 0. */
  crashes?: ArrayLike<number>;
  /** [numEnvs]: sum of the rewards given, of which `episodeReturns` go on; 0 before the first step. Default: 0. */
  returns?: ArrayLike<number>;
}

/** The same, checked. Entries of slots that do not begin anew may be anything. */
export interface SlotStarts {
  /** u8 [numEnvs], 0 to 27. */
  readonly steps: Uint8Array;
  /** f32 [numEnvs, 5] in [0, 1]. */
  readonly meters: Float32Array;
  /** f32 [numEnvs] each, from -2^64 to 2^64; null for 0. */
  readonly early: Float32Array | null;
  readonly late: Float32Array | null;
  readonly returns: Float32Array | null;
  /** u8 [numEnvs]; null for 0. */
  readonly crashes: Uint8Array | null;
}

export const START_OPTIONS: readonly (keyof StartStates)[] = [
  'steps',
  'meters',
  'early',
  'late',
  'crashes',
  'returns',
];
const LAST_START = NUM_STEPS - 1;
/** What a sum of rewards reaches in any world. */
const MOST = STATE_FIELDS.find(({ name }) => name === 'early')!.high;
/** Smaller float32s but 0 are subnormal: a device may take them for 0. */
const LEAST = 2 ** -126;

/**
 * The states that the slots of a mask begin in; arrays are copies.
 * @param mask u8 [numEnvs], null for all; nobody may change it while the entries are read.
 * @throws InputError `wrong_type`, `wrong_length`, `out_of_range` or `unknown_option`.
 */
export function toStart(given: StartStates, numEnvs: number, mask: Uint8Array | null): SlotStarts {
  const start = readOptions('start', given, START_OPTIONS);
  const steps = toSteps(start.steps, numEnvs, mask);
  const sum = (name: 'early' | 'late' | 'returns', first: number) =>
    start[name] === undefined ? null : toSums(name, start[name], steps, mask, first);
  return {
    steps,
    meters: toMeters(start.meters, numEnvs, mask),
    early: sum('early', 1),
    late: sum('late', NUM_STEPS / 2 + 1),
    returns: sum('returns', 1),
    crashes: start.crashes === undefined ? null : toCrashes(start.crashes, steps, mask),
  };
}

function checkList(name: keyof StartStates, list: unknown, length: number, unit: string): void {
  if (!isList(list)) throw wrongType(`start.${name}`, `an array [${unit}]`, list, 'Pass one.');
  checkLength(`entries in start.${name}`, lengthOf(list), length, unit);
}

function toSteps(list: number | ArrayLike<number>, numEnvs: number, mask: Uint8Array | null): Uint8Array {
  const steps = new Uint8Array(numEnvs);
  if (typeof list === 'number') return steps.fill(checkInteger('start.steps', list, 0, LAST_START));
  checkList('steps', list, numEnvs, 'numEnvs');
  for (let i = 0; i < numEnvs; i++) {
    if (mask === null || mask[i] !== 0) steps[i] = toCount('steps', list[i], i, LAST_START);
  }
  return steps;
}

function toCrashes(list: ArrayLike<number>, steps: Uint8Array, mask: Uint8Array | null): Uint8Array {
  checkList('crashes', list, steps.length, 'numEnvs');
  const crashes = new Uint8Array(steps.length);
  for (let i = 0; i < steps.length; i++) {
    if (mask === null || mask[i] !== 0) crashes[i] = toCount('crashes', list[i], i, NUM_METERS * steps[i]);
  }
  return crashes;
}

/** The name of an entry is made for an error only. */
function toCount(name: 'steps' | 'crashes', value: unknown, i: number, most: number): number {
  if (typeof value === 'number' && value >= 0 && value <= most && value % 1 === 0) return value;
  return checkInteger(`start.${name}[${i}]`, value, 0, most);
}

function toMeters(list: ArrayLike<number>, numEnvs: number, mask: Uint8Array | null): Float32Array {
  checkList('meters', list, numEnvs * NUM_METERS, `numEnvs x ${NUM_METERS}`);
  const meters = new Float32Array(numEnvs * NUM_METERS);
  for (let i = 0; i < numEnvs; i++) {
    if (mask !== null && mask[i] === 0) continue;
    for (let at = i * NUM_METERS; at < (i + 1) * NUM_METERS; at++) {
      const value: unknown = list[at];
      const meter = typeof value === 'number' ? Math.fround(value) : Number.NaN;
      // Written so that NaN fails; adding 0 makes -0 one.
      if (!((meter >= LEAST && meter <= 1) || meter === 0)) refuseMeter(value, at);
      meters[at] = meter + 0;
    }
  }
  return meters;
}

/** @param first from which step on a sum may be other than 0: before it nothing has been added. */
function toSums(
  name: 'early' | 'late' | 'returns',
  list: ArrayLike<number>,
  steps: Uint8Array,
  mask: Uint8Array | null,
  first: number,
): Float32Array {
  checkList(name, list, steps.length, 'numEnvs');
  const sums = new Float32Array(steps.length);
  for (let i = 0; i < steps.length; i++) {
    if (mask !== null && mask[i] === 0) continue;
    const value: unknown = list[i];
    const sum = typeof value === 'number' ? Math.fround(value) : Number.NaN;
    const magnitude = Math.abs(sum);
    if (!((magnitude >= LEAST && magnitude <= MOST && steps[i] >= first) || sum === 0)) {
      refuseSum(name, value, i, steps[i] < first ? steps[i] : null);
    }
    sums[i] = sum + 0;
  }
  return sums;
}

function refuseMeter(value: unknown, at: number): never {
  const [slot, meter] = [Math.floor(at / NUM_METERS), METER_NAMES[at % NUM_METERS]];
  refuse(`a number from 0 to 1 at start.meters[${at}] (${meter} of slot ${slot})`, value, 'Pass one');
}

/** @param steps if nothing can have been added after so few. */
function refuseSum(name: string, value: unknown, i: number, steps: number | null): never {
  const where = `at start.${name}[${i}]`;
  if (steps !== null && typeof value === 'number') {
    refuse(
      `0 ${where}, as nothing is added to it in the first ${steps} steps`,
      value,
      'Pass 0, or later steps',
    );
  }
  refuse(`a finite number, a float32 from -2^64 to 2^64, ${where}`, value, 'Pass one');
}

function refuse(expected: string, value: unknown, remedy: string): never {
  const code = typeof value === 'number' ? 'out_of_range' : 'wrong_type';
  throw new InputError(code, `Expected ${expected}, got ${describe(value)}. Nothing has begun. ${remedy}.`);
}
