/** The numbers of a world as one block of bytes, and the layout that compiled backends share. */

import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import {
  ACTION_NAMES,
  type Field,
  GRADER_NAMES,
  MAX_ENVS,
  MAX_THREADS,
  METER_NAMES,
  MIN_MAGNITUDE,
  MODE,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_EVENTS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  NUM_TRAITS,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
  PROFILE_NAMES,
  PROFILE_SIZE,
  STATE_FIELDS,
  STATE_WORDS,
  TAGS,
  TAPE_WORDS,
  TRAIT_NAMES,
  type Word,
} from './fields.js';
import { type BeliefFactor, RHYTHM, type WorldSpec } from './numbers.js';

/** A scalar or a table of the block: its words from `offset` on. */
export interface BlockEntry {
  readonly name: string;
  readonly word: Word;
  readonly offset: number;
  /** Row-major; [] for a scalar. */
  readonly shape: readonly number[];
}

const f32 = Math.fround;
/** Returns the float32 nearest to 1/x. @param x a float32 or a small integer. */
const reciprocal = (x: number): number => f32(1 / x);
/** Returns a u32 in which these bits are set. */
const bitset = (bits: readonly number[]): number => bits.reduce((mask, bit) => mask | (1 << bit), 0) >>> 0;

/** The block's entries, in order. Each function returns a number or nested arrays of numbers. */
const ENTRIES = {
  initialMeters: (w: WorldSpec) => w.initialMeters,
  /** [slot][action][meter]: the action's effect multiplied by the factor of the time of day. */
  effect: (w: WorldSpec) =>
    w.timeOfDay.map((factors) =>
      w.actions.map((action) => {
        const factor = f32(factors[w.categories.indexOf(action.category)]);
        return action.effect.map((effect) => f32(f32(effect) * factor));
      }),
    ),
  stress: (w: WorldSpec) => w.stress,
  decay: (w: WorldSpec) => w.decay,
  noiseMeters: (w: WorldSpec) => w.noise.meters,
  noiseReward: (w: WorldSpec) => w.noise.reward,
  eventEffect: (w: WorldSpec) => w.events.map((event) => event.effect),
  traitLow: (w: WorldSpec) => w.traits.map((trait) => trait.low),
  traitSpan: (w: WorldSpec) => w.traits.map(span),
  traitInverseSpan: (w: WorldSpec) => w.traits.map((trait) => reciprocal(span(trait))),
  traitNeutral: (w: WorldSpec) => w.traits.map((trait) => trait.neutral),
  /** [profile][16]: traits, then weights. */
  namedProfiles: (w: WorldSpec) =>
    PROFILE_NAMES.map((profile) => [
      ...TRAIT_NAMES.map((name) => w.profiles[profile].traits[name]),
      ...w.profiles[profile].weights,
    ]),
  vitalityFactorBase: (w: WorldSpec) => w.constants.vitalityFactorBase,
  vitalityFactorSlope: (w: WorldSpec) => w.constants.vitalityFactorSlope,
  focusCognition: (w: WorldSpec) => w.constants.focusCognition,
  crashThreshold: (w: WorldSpec) => w.constants.crashThreshold,
  adaptationScale: (w: WorldSpec) => w.constants.adaptationScale,
  adaptationGateOffset: (w: WorldSpec) => w.constants.adaptationGateOffset,
  wellbeingScale: (w: WorldSpec) => w.constants.wellbeingScale,
  wellbeingBase: (w: WorldSpec) => w.constants.wellbeingBase,
  beliefSkillScale: (w: WorldSpec) => w.constants.beliefSkillScale,
  rewardScale: (w: WorldSpec) => w.reward.scale,
  rewardBias: (w: WorldSpec) => w.reward.bias,
  crashPenalty: (w: WorldSpec) => w.reward.crashPenalty,
  terminalScale: (w: WorldSpec) => w.reward.terminalScale,
  /** [belief][factor]. */
  beliefShare: (w: WorldSpec) => w.belief.map(({ factors }) => factors.map((factor) => factor.share)),
  beliefGain: (w: WorldSpec) => w.beliefGain,
  beliefWeightScale: (w: WorldSpec) => w.beliefWeightScale,
  /** [grader][component]. */
  graders: (w: WorldSpec) => GRADER_NAMES.map((grader) => w.graders[grader]),
  heuristicBelow: (w: WorldSpec) => w.heuristic.rules.map((rule) => rule.below),
  /** 1/28, 1/14, 1/140 and 1/3: 1 divided by the number of steps, steps of a half, meter readings and numbers of a belief. */
  perStep: () => reciprocal(NUM_STEPS),
  perHalf: () => reciprocal(NUM_STEPS / 2),
  perReading: () => reciprocal(NUM_STEPS * NUM_METERS),
  perBelief: (w: WorldSpec) => reciprocal(w.belief.length),
  /** 1 divided by the number of steps that `belief_skill` counts: 1/20 in the published world. */
  perSkillStep: (w: WorldSpec) => reciprocal(NUM_STEPS - w.constants.beliefSkillFrom),
  /** Numbers of a belief below this count as +0. */
  smallestBelief: () => MIN_MAGNITUDE,

  eventThreshold: (w: WorldSpec) => w.constants.eventThreshold,
  beliefSkillFrom: (w: WorldSpec) => w.constants.beliefSkillFrom,
  streamProfile: (w: WorldSpec) => stream(w.streams.profile),
  streamEvent: (w: WorldSpec) => stream(w.streams.event),
  streamNoise: (w: WorldSpec) => stream(w.streams.noise),
  streamPolicy: (w: WorldSpec) => stream(w.streams.policy),
  streamImagination: (w: WorldSpec) => stream(w.streams.imagination),
  /** [tag]: the actions with the tag, one bit per action. */
  tagged: (w: WorldSpec) =>
    TAGS.map((tag) => bitset(w.actions.flatMap((action, code) => (action.tags.includes(tag) ? [code] : [])))),
  /** [belief][factor]: index into the 16 floats of a profile. */
  beliefSource: (w: WorldSpec) => w.belief.map(({ factors }) => factors.map(sourceOf)),
  beliefInverted: (w: WorldSpec) =>
    w.belief.map(({ factors }) => factors.map((factor) => (factor.inverted ? 1 : 0))),
  heuristicSchedule: (w: WorldSpec) => w.heuristic.schedule.map((name) => ACTION_NAMES.indexOf(name)),
  heuristicMeter: (w: WorldSpec) => w.heuristic.rules.map((rule) => METER_NAMES.indexOf(rule.meter)),
  heuristicAction: (w: WorldSpec) => w.heuristic.rules.map((rule) => ACTION_NAMES.indexOf(rule.action)),
  /** [rule]: the slots in which the rule applies, one bit per slot. */
  heuristicSlots: (w: WorldSpec) =>
    w.heuristic.rules.map((rule) => bitset(rule.slots ?? w.slots.map((_, slot) => slot))),
} satisfies Record<string, (world: WorldSpec) => Nested>;

type Nested = number | readonly Nested[];
/** The name of an entry. */
export type BlockName = keyof typeof ENTRIES;

/** The first entry of u32 words. The entries before it are float32. */
const FIRST_U32: BlockName = 'eventThreshold';

function span(trait: { low: number; high: number }): number {
  return f32(f32(trait.high) - f32(trait.low));
}

function stream(hex: string): number {
  return Number.parseInt(hex, 16);
}

function sourceOf(factor: BeliefFactor): number {
  return factor.trait !== undefined
    ? TRAIT_NAMES.indexOf(factor.trait)
    : TRAIT_NAMES.length + METER_NAMES.indexOf(factor.weight as string);
}

function shapeOf(value: Nested): number[] {
  return typeof value === 'number' ? [] : [value.length, ...shapeOf(value[0])];
}

function layOut(): readonly BlockEntry[] {
  let offset = 0;
  let word: Word = 'f32';
  return (Object.keys(ENTRIES) as BlockName[]).map((name) => {
    if (name === FIRST_U32) word = 'u32';
    const shape = shapeOf(ENTRIES[name](RHYTHM));
    const entry: BlockEntry = { name, word, offset, shape };
    offset += shape.reduce((product, length) => product * length, 1);
    return entry;
  });
}

/** The block's entries with their offsets: the same for every world of this version. */
export const BLOCK_LAYOUT: readonly BlockEntry[] = layOut();

/** The block's entries by name: a number for a scalar, a flat row-major view for a table. */
export type Params = {
  readonly [Name in BlockName]: ReturnType<(typeof ENTRIES)[Name]> extends number
    ? number
    : Readonly<ArrayLike<number>>;
};

/** Returns named views of a block's words. */
export function readBlock(words: Uint32Array): Params {
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  const entries = BLOCK_LAYOUT.map(({ name, word, offset, shape }) => {
    const source = word === 'u32' ? words : floats;
    const length = shape.reduce((product, n) => product * n, 1);
    return [name, shape.length === 0 ? source[offset] : source.subarray(offset, offset + length)];
  });
  return Object.fromEntries(entries) as Params;
}

/** Returns the block's words for a valid world. -0 is stored as +0. */
export function buildBlock(spec: WorldSpec): Uint32Array {
  const words: number[] = [];
  const float = new Float32Array(1);
  const bits = new Uint32Array(float.buffer);
  for (const { name, word } of BLOCK_LAYOUT) {
    const value = ENTRIES[name as BlockName](spec) as Nested;
    // The deepest table has three dimensions. TypeScript has no type for `flat(3)` of nested arrays of any depth.
    for (const number of typeof value === 'number' ? [value] : (value.flat(3 as 1) as number[])) {
      // Adding 0 turns -0 into 0.
      float[0] = number + 0;
      words.push(word === 'u32' ? number : bits[0]);
    }
  }
  return Uint32Array.from(words);
}

/** A named group of constants. */
export type Scope = readonly [name: string, constants: Readonly<Record<string, number>>];

/** Incremented when the interface of the addon's functions changes. */
const ADDON_VERSION = 12;

const codesOf = (names: readonly string[]) => Object.fromEntries(names.map((name, code) => [name, code]));
const offsetsOf = (entries: readonly Pick<Field, 'name' | 'offset'>[]) =>
  Object.fromEntries(entries.map(({ name, offset }) => [name, offset]));

const blockEnd = BLOCK_LAYOUT[BLOCK_LAYOUT.length - 1];

const COUNTS = {
  Meters: NUM_METERS,
  Actions: NUM_ACTIONS,
  Slots: NUM_SLOTS,
  Events: NUM_EVENTS,
  Steps: NUM_STEPS,
  Traits: NUM_TRAITS,
  ProfileFloats: PROFILE_SIZE,
  NamedProfiles: PROFILE_NAMES.length,
  Beliefs: NUM_BELIEFS,
  BeliefFactors: RHYTHM.belief[0].factors.length,
  Components: NUM_COMPONENTS,
  HeuristicRules: RHYTHM.heuristic.rules.length,
  TapeWords: TAPE_WORDS,
  StateWords: STATE_WORDS,
  ObservationFloats: OBSERVATION_SIZE,
  BlockWords: blockEnd.offset + blockEnd.shape.reduce((product, length) => product * length, 1),
  MaxEnvs: MAX_ENVS,
  MaxThreads: MAX_THREADS,
  AddonVersion: ADDON_VERSION,
};

/** The constants in groups, in the order of the generated files. */
export const LAYOUT: readonly Scope[] = [
  ['count', COUNTS],
  ['mode', MODE],
  ['tag', codesOf(TAGS)],
  ['trait', codesOf(TRAIT_NAMES)],
  ['state', offsetsOf(STATE_FIELDS)],
  ['observation', offsetsOf(OBSERVATION_FIELDS)],
  ['block', offsetsOf(BLOCK_LAYOUT)],
];

/**
 * Returns the SHA-256, hexadecimal, of everything that compiled code assumes. The addon contains it; an addon that was
 * built for another layout is refused.
 */
export function layoutDigest(): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(LAYOUT))));
}

/** Returns the SHA-256, hexadecimal, of the 32-bit words of a world's block (block.ts), in little-endian order. */
export function worldDigest(words: Uint32Array): string {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  words.forEach((word, index) => {
    view.setUint32(index * 4, word, true);
  });
  return bytesToHex(sha256(bytes));
}
