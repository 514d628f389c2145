/** The sizes, codes and offsets with which the C++ and WGSL code is compiled, and digests of them and of a world's numbers. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import { BLOCK_LAYOUT } from './block.js';
import {
  type Field,
  MAX_ENVS,
  MAX_THREADS,
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
} from './fields.js';
import { RHYTHM } from './numbers.js';

/** A named group of constants. */
export type Scope = readonly [name: string, constants: Readonly<Record<string, number>>];

/** Incremented when the interface of the addon's functions changes. */
const ADDON_VERSION = 10;

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
