/**
 * Checks that the words of a snapshot are legal states, because anyone can compute a correct checksum and digests.
 *
 * Legal states never crash a backend, never index past the end of a table, and contain no NaN, infinity or -0. They may
 * still be unreachable: for example, the recorded actions may lead to other meters than the stored ones.
 */
import type { Params } from '../../world/block.js';
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
} from '../../world/fields.js';
import { SUM_TOLERANCE } from '../../world/validate-world.js';
import type { World } from '../../world/world.js';
import { type Bounds, SKILL_ROUNDING, skillBounds, wellBounds } from '../validate/float-bounds.js';
import { refuse, type Snapshot } from './format.js';

/**
 * The bits of -0. No float of a legal state is -0: sums begin at +0, clamping turns -0 into +0, and validation adds +0.
 */
const MINUS_ZERO = 0x80000000;
/**
 * The smallest magnitude above 0 of a trait that a seed can draw, `low + span * unit`: the smallest span, 2^-40, times the
 * smallest unit above 0, 2^-24. A `low` other than 0 gives no smaller one.
 */
export const SMALLEST_TRAIT = MIN_MAGNITUDE * 2 ** -24;
/** The number of actions that a state has room for, eight in each word of `tape`. */
const STORED_STEPS = TAPE_WORDS * 8;
/** The sums of rewards, which are 0 at step 0. */
const REWARD_SUMS = [STATE.early, STATE.late, STATE.return];

/** The field of each word of a state. */
const FIELD_OF = STATE_FIELDS.flatMap((field) =>
  new Array<(typeof STATE_FIELDS)[number]>(field.size).fill(field),
);
const LOW = Float64Array.from(FIELD_OF, ({ low }) => low);
const HIGH = Float64Array.from(FIELD_OF, ({ high }) => high);
const IS_FLOAT = Uint8Array.from(FIELD_OF, ({ word }) => Number(word === 'f32'));

/** Views of states as words and as floats, in one memory. */
interface Rows {
  readonly words: Uint32Array;
  readonly floats: Float32Array;
}

/** States, and the limits that the world sets. */
interface States extends Rows {
  readonly params: Params;
  /** The smallest magnitude above 0 of each word of a state. */
  readonly smallest: Float64Array;
}

/**
 * Checks every field of every state: its range in STATE_FIELDS, and its relations to other fields.
 * @param words u32 [numEnvs, STATE_WORDS]. @param world the world in which the episodes continue.
 * @param seedRange [low, size]: the seeds that the environment may play. Default: all.
 * @throws InputError `bad_snapshot`, for a wrong number of words, or with the environment and field of the first illegal state.
 */
export function checkStates(
  words: Uint32Array,
  numEnvs: number,
  world: World,
  seedRange: Snapshot['seedRange'] = [0, 2 ** 32],
): void {
  if (words.length !== numEnvs * STATE_WORDS) {
    refuse(`${numEnvs * STATE_WORDS} words (numEnvs x ${STATE_WORDS})`, words.length);
  }
  const states: States = { ...rowsOf(words), params: world.params, smallest: smallestOf(world) };
  for (let env = 0; env < numEnvs; env++) {
    const at = env * STATE_WORDS;
    checkRanges(states, env, at);
    checkSeed(states, env, at, seedRange);
    checkFirstStep(states, env, at);
    checkSequence(states, env, at);
    checkSums(states, env, at);
    checkBelief(states, env, at);
    checkGrader(states, env, at);
    if (words[at + STATE.step] === words[at + STATE.began]) checkUnstepped(states, env, at);
  }
}

const rowsOf = (words: Uint32Array): Rows => ({
  words,
  floats: new Float32Array(words.buffer, words.byteOffset, words.length),
});

/** Returns the smallest magnitude above 0 of each word of a state; 0 for words without one. */
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

/** Returns a word's name, for errors. */
const wordName = (k: number): string =>
  FIELD_OF[k].size === 1 ? FIELD_OF[k].name : `${FIELD_OF[k].name}[${k - FIELD_OF[k].offset}]`;
/** Returns a word's value, for errors. */
const wordValue = ({ words, floats }: Rows, at: number, k: number): string => {
  const value = IS_FLOAT[k] ? floats[at + k] : words[at + k];
  return Object.is(value, -0) ? '-0' : String(value);
};

function refuseWord(states: States, env: number, k: number, expected: string): never {
  refuse(`field ${wordName(k)} of environment ${env} ${expected}`, wordValue(states, env * STATE_WORDS, k));
}

function checkRanges(states: States, env: number, at: number): void {
  const { words, floats, smallest } = states;
  for (let k = 0; k < STATE_WORDS; k++) {
    const value = IS_FLOAT[k] ? floats[at + k] : words[at + k];
    // NaN fails both comparisons.
    const inRange = value >= LOW[k] && value <= HIGH[k] && !(IS_FLOAT[k] && words[at + k] === MINUS_ZERO);
    if (!inRange) refuseWord(states, env, k, `to be from ${LOW[k]} to ${HIGH[k]}`);
    if (value !== 0 && Math.abs(value) < smallest[k]) {
      refuseWord(states, env, k, `to be 0 or to have a magnitude of at least 2^${Math.log2(smallest[k])}`);
    }
  }
}

/** Checks the current seed. Autoreset computes later seeds from it, always within the range. */
function checkSeed({ words }: States, env: number, at: number, [low, size]: Snapshot['seedRange']): void {
  const seed = words[at + STATE.seed];
  if (seed >= low && seed < low + size) return;
  refuse(`field seed of environment ${env} to be in seedRange (${low} to ${low + size - 1})`, seed);
}

function checkFirstStep(states: States, env: number, at: number): void {
  const step = states.words[at + STATE.step];
  if (states.words[at + STATE.began] <= step) return;
  refuseWord(states, env, STATE.began, `to be at most ${step}, the number of steps taken`);
}

/** Checks that `tape` holds action codes for the steps taken since the episode began, and 0 for all other steps. */
function checkSequence({ words }: States, env: number, at: number): void {
  const step = words[at + STATE.step];
  const firstStep = words[at + STATE.began];
  for (let t = 0; t < STORED_STEPS; t++) {
    // Four bits per action, eight actions per word.
    const code = (words[at + STATE.tape + (t >>> 3)] >>> (4 * (t & 7))) & 15;
    if (t < firstStep && code !== 0) {
      refuse(
        `action sequence of environment ${env} to hold 0 for step ${t}, because the episode began at step ${firstStep}`,
        code,
      );
    }
    if (t < step && code >= NUM_ACTIONS) {
      refuse(
        `action sequence of environment ${env} to hold an action code below ${NUM_ACTIONS} for step ${t}`,
        code,
      );
    }
    if (t >= step && code !== 0) {
      refuse(
        `action sequence of environment ${env} to hold 0 for step ${t}, because only ${step} steps were taken`,
        code,
      );
    }
  }
}

/** Checks the sums and counts of an episode. */
function checkSums(states: States, env: number, at: number): void {
  const step = states.words[at + STATE.step];
  if (states.words[at + STATE.crashes] > NUM_METERS * step) {
    refuseWord(states, env, STATE.crashes, `to be at most ${NUM_METERS * step} after ${step} steps`);
  }
  const zeroSums = step === 0 ? REWARD_SUMS : step <= NUM_STEPS / 2 ? [STATE.late] : [];
  for (const k of zeroSums) {
    if (states.floats[at + k] !== 0) refuseWord(states, env, k, `to be 0 after ${step} steps`);
  }
  const weights = at + STATE.profile + NUM_TRAITS;
  const wellLimits = wellBounds(step, states.floats.subarray(weights, weights + NUM_METERS));
  checkBounds(states, env, STATE.well, wellLimits);
  checkBounds(states, env, STATE.skill, skillBounds(states.params, step, SKILL_ROUNDING.snapshot));
}

/** Checks a sum. The error says what the sum is. @param k STATE.well or STATE.skill. */
function checkBounds(states: States, env: number, k: number, [low, high]: Bounds): void {
  const value = states.floats[env * STATE_WORDS + k];
  if (value >= low && value <= high) return;
  const steps = states.words[env * STATE_WORDS + STATE.step];
  refuseWord(states, env, k, `(${FIELD_OF[k].meaning}) to be from ${low} to ${high} after ${steps} steps`);
}

function checkBelief(states: States, env: number, at: number): void {
  if (states.words[at + STATE.given] === 1) return;
  for (let k = STATE.belief; k < STATE.belief + NUM_BELIEFS; k++) {
    if (states.floats[at + k] !== 0.5) refuseWord(states, env, k, 'to be 0.5, because no belief was given');
  }
}

/**
 * Checks that the weights sum to 1, within SUM_TOLERANCE. Lists of weights are validated before they are rounded to float32.
 * Rounding changes a weight by at most 2^-24 of it. The tolerance is widened by twice this error.
 */
function checkGrader({ floats }: States, env: number, at: number): void {
  let sum = 0;
  let magnitude = 0;
  for (let k = at + STATE.grader; k < at + STATE.grader + NUM_COMPONENTS; k++) {
    sum += floats[k];
    magnitude += Math.abs(floats[k]);
  }
  if (!(Math.abs(sum - 1) <= SUM_TOLERANCE + magnitude * 2 ** -23)) {
    refuse(`grader of environment ${env} to sum to 1`, sum);
  }
}

/** Checks the state of an episode that has taken no step since it began. */
function checkUnstepped(states: States, env: number, at: number): void {
  const { words } = states;
  const isGiven = words[at + STATE.given] !== 0;
  if (isGiven && words[at + STATE.step] === 0) {
    refuseWord(states, env, STATE.given, 'to be 0 before the first step');
  }
  for (let k = 0; k < NUM_METERS; k++) {
    if (words[at + STATE.meters + k] === words[at + STATE.firstMeters + k]) continue;
    const first = STATE.firstMeters + k;
    const expected = `${wordName(first)} (${wordValue(states, at, first)}) before the first step`;
    refuseWord(states, env, STATE.meters + k, `to equal ${expected}`);
  }
}
