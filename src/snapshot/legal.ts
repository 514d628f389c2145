/**
 * Whether words are states that an episode can be in: a right checksum and right digests do not make bytes safe.
 *
 * What passes never crashes a backend, indexes nothing beyond a table and holds no NaN, no infinity and no -0. It may
 * still be a state that no play leads to: meters that do not follow from the tape, say.
 */
import {
  MIN_MAGNITUDE,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
  NUM_TRAITS,
  STATE,
  STATE_FIELDS,
  STATE_WORDS,
  TAPE_WORDS,
} from '../world/fields.js';
import { SUM_TOLERANCE } from '../world/validate.js';
import type { World } from '../world/world.js';
import { refuse } from './refuse.js';

/** The bits of -0. Sums begin at +0, values are clamped from +0 and doors add +0, so no float of a state is -0. */
const MINUS_ZERO = 0x80000000;
/**
 * The smallest trait but 0 that a seed can draw. `low + span * unit` is a sum of float32s: with low 0 it is at least
 * span * 2^-24; with another low it is a multiple of a unit in the last place, at least 2^-64 for what lies so low.
 */
const SMALLEST_TRAIT = MIN_MAGNITUDE * 2 ** -24;
const TAPE_STEPS = TAPE_WORDS * 8;
/** Sums to which nothing has been added at the beginning of a week. */
const UNSUMMED = [STATE.early, STATE.late, STATE.return];

/** Of each word of a state. */
const FIELD_OF = STATE_FIELDS.flatMap((field) =>
  new Array<(typeof STATE_FIELDS)[number]>(field.size).fill(field),
);
const LOW = Float64Array.from(FIELD_OF, ({ low }) => low);
const HIGH = Float64Array.from(FIELD_OF, ({ high }) => high);
const IS_FLOAT = Uint8Array.from(FIELD_OF, ({ word }) => Number(word === 'f32'));
/** States as either type, in one memory. */
interface Rows {
  readonly words: Uint32Array;
  readonly floats: Float32Array;
}

/** States, and what the world has to say of them. */
interface States extends Rows {
  /** The smallest magnitude, but 0, of each word of a state. */
  readonly smallest: Float64Array;
}

/**
 * Checks every field of every state: its range in STATE_FIELDS, and what must hold between fields.
 * @param words u32 [numEnvs, STATE_WORDS]. @param world the one in which they are to be played on.
 * @throws InputError `bad_snapshot` that names the first slot that is wrong and its field.
 */
export function checkStates(words: Uint32Array, numEnvs: number, world: World): void {
  if (words.length !== numEnvs * STATE_WORDS) {
    refuse(`${numEnvs * STATE_WORDS} words (numEnvs x ${STATE_WORDS})`, words.length);
  }
  const states: States = { ...rowsOf(words), smallest: smallestOf(world) };
  for (let slot = 0; slot < numEnvs; slot++) {
    const at = slot * STATE_WORDS;
    checkRanges(states, slot, at);
    checkBegan(states, slot, at);
    checkTape(states, slot, at);
    checkSums(states, slot, at);
    checkBelief(states, slot, at);
    checkGrader(states, slot, at);
    if (words[at + STATE.step] === words[at + STATE.began]) checkFirst(states, slot, at);
  }
}

const rowsOf = (words: Uint32Array): Rows => ({
  words,
  floats: new Float32Array(words.buffer, words.byteOffset, words.length),
});

function smallestOf({ params }: World): Float64Array {
  const smallest = new Float64Array(STATE_WORDS);
  const set = (offset: number, size: number, value: number) => smallest.fill(value, offset, offset + size);
  for (const { name, offset, size } of STATE_FIELDS) {
    if (name === 'profile' || name === 'grader') set(offset, size, MIN_MAGNITUDE);
    if (name === 'belief') set(offset, size, params.smallestBelief);
  }
  set(STATE.profile, NUM_TRAITS, SMALLEST_TRAIT);
  return smallest;
}

/** A word's name and value, as errors show them. */
const shownName = (k: number): string =>
  FIELD_OF[k].size === 1 ? FIELD_OF[k].name : `${FIELD_OF[k].name}[${k - FIELD_OF[k].offset}]`;
const shownValue = ({ words, floats }: Rows, at: number, k: number): string => {
  const value = IS_FLOAT[k] ? floats[at + k] : words[at + k];
  return Object.is(value, -0) ? '-0' : String(value);
};

function refuseWord(states: States, slot: number, k: number, expected: string): never {
  refuse(`${shownName(k)} of slot ${slot} ${expected}`, shownValue(states, slot * STATE_WORDS, k));
}

function checkRanges(states: States, slot: number, at: number): void {
  const { words, floats, smallest } = states;
  for (let k = 0; k < STATE_WORDS; k++) {
    const value = IS_FLOAT[k] ? floats[at + k] : words[at + k];
    // Written so that NaN fails.
    const inRange = value >= LOW[k] && value <= HIGH[k] && !(IS_FLOAT[k] && words[at + k] === MINUS_ZERO);
    if (!inRange) refuseWord(states, slot, k, `from ${LOW[k]} to ${HIGH[k]}`);
    if (value !== 0 && Math.abs(value) < smallest[k]) {
      refuseWord(states, slot, k, `to be 0 or of a magnitude from 2^${Math.log2(smallest[k])} on`);
    }
  }
}

function checkBegan(states: States, slot: number, at: number): void {
  const step = states.words[at + STATE.step];
  if (states.words[at + STATE.began] <= step) return;
  refuseWord(states, slot, STATE.began, `to be at most ${step}, the steps taken`);
}

/** Actions from where the episode began up to the present step, nothing before and after. */
function checkTape({ words }: States, slot: number, at: number): void {
  const step = words[at + STATE.step];
  const began = words[at + STATE.began];
  for (let t = 0; t < TAPE_STEPS; t++) {
    const code = (words[at + STATE.tape + (t >>> 3)] >>> (4 * (t & 7))) & 15;
    if (t < began && code !== 0) {
      refuse(`tape of slot ${slot} to hold 0 for step ${t}, as it began at step ${began}`, code);
    }
    if (t < step && code >= NUM_ACTIONS) {
      refuse(`tape of slot ${slot} to hold an action code below ${NUM_ACTIONS} for step ${t}`, code);
    }
    if (t >= step && code !== 0) {
      refuse(`tape of slot ${slot} to hold 0 for step ${t}, as only ${step} were taken`, code);
    }
  }
}

/** What adds up over an episode. */
function checkSums(states: States, slot: number, at: number): void {
  const step = states.words[at + STATE.step];
  if (states.words[at + STATE.crashes] > NUM_METERS * step) {
    refuseWord(states, slot, STATE.crashes, `to be at most ${NUM_METERS * step} after ${step} steps`);
  }
  const none = step === 0 ? UNSUMMED : step <= NUM_STEPS / 2 ? [STATE.late] : [];
  for (const k of none) {
    if (states.floats[at + k] !== 0) refuseWord(states, slot, k, `to be 0 after ${step} steps`);
  }
}

function checkBelief(states: States, slot: number, at: number): void {
  if (states.words[at + STATE.given] === 1) return;
  for (let k = STATE.belief; k < STATE.belief + NUM_BELIEFS; k++) {
    if (states.floats[at + k] !== 0.5) refuseWord(states, slot, k, 'to be 0.5, as none was given');
  }
}

/**
 * Weights that sum to 1, as the door wants it. They have been rounded to float32 since, each by at most 2^-24 of itself;
 * the bound is twice that, so that how doubles add up cannot matter.
 */
function checkGrader({ floats }: States, slot: number, at: number): void {
  let sum = 0;
  let magnitude = 0;
  for (let k = at + STATE.grader; k < at + STATE.grader + NUM_COMPONENTS; k++) {
    sum += floats[k];
    magnitude += Math.abs(floats[k]);
  }
  if (!(Math.abs(sum - 1) <= SUM_TOLERANCE + magnitude * 2 ** -23)) {
    refuse(`grader of slot ${slot} to sum to 1`, sum);
  }
}

/** What holds before the first step that is taken here. */
function checkFirst(states: States, slot: number, at: number): void {
  const { words } = states;
  if (words[at + STATE.given] !== 0) refuseWord(states, slot, STATE.given, 'to be 0 before the first step');
  for (let k = 0; k < NUM_METERS; k++) {
    if (words[at + STATE.meters + k] === words[at + STATE.firstMeters + k]) continue;
    const first = shownValue(states, at, STATE.firstMeters + k);
    refuseWord(states, slot, STATE.meters + k, `to be ${first}, as it began, before the first step`);
  }
}
