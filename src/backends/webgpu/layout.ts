/** What this backend's buffers hold, in 32-bit words: a launch's parameters, what slots show, what a run records. */

import { emitWgsl } from '../../world/emit-wgsl.js';
import { NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import type { Scope } from '../../world/layout.js';
import type { OutputName } from '../async-backend.js';
import type { Trajectory } from '../backend.js';
import { OUTPUT_ARRAYS } from '../outputs.js';

/** Slots of a tile of the state, whose words lie field by field. */
export const TILE = 16;

/** An array that a launch is not given. */
export const NONE = 0xffffffff;

/** The parameters of a launch, u32 each, in this order. What is not said is `NONE` for arrays and 0 for the rest. */
export const LAUNCH_FIELDS = {
  zero: 'the zero that only the data knows, see numbers.wgsl',
  first: 'the first slot of this shard that takes part',
  count: 'how many slots take part',
  capacity: 'how many the shard has room for',
  in_columns: 'whether rows of what slots show lie as columns',
  keeps_final: 'whether final observations are kept',
  imagination: 'what the streams of luck and events are changed by; 0 for those of real episodes',
  policy: 'RANDOM, HEURISTIC, or another for a tape',
  belief_kind: 'NO_BELIEFS, ONE_BELIEF for every step, or another for a tape',
  mask: 'array of bytes: the slots meant; NONE for all',
  seeds: 'array of words: of episodes that begin, or of the random policy',
  modes: 'array of bytes',
  profiles: 'array of floats, a profile a slot',
  graders: 'array of floats, a grader a slot',
  actions: 'array of bytes, one a slot, or a tape of them',
  beliefs: 'array of floats, a belief a slot, one for all, or a tape of them',
  given: 'array of bytes: which beliefs are given',
  reset_mask: 'array of bytes: the slots that begin anew after a step; NONE for none',
  stops: 'array of bytes: the step at which each slot stops; NONE for the last',
  indices: 'array of words: the slots to copy',
  rows: 'array of words: states',
  source_first: 'of slots to copy: the first that the shard they are in holds',
  source_capacity: 'of a gather: how many the shard of the source has room for',
  source_in_columns: 'and how it is laid out',
  source_keeps_final: 'and whether it keeps final observations',
} as const;

export type Launch = { readonly [Name in keyof typeof LAUNCH_FIELDS]?: number };

const ARRAYS: ReadonlySet<string> = new Set(
  Object.entries(LAUNCH_FIELDS).flatMap(([name, meaning]) => (meaning.startsWith('array') ? [name] : [])),
);

/** A launch as the words of its uniform buffer, of whole vectors. */
export function encodeLaunch(launch: Launch): Uint32Array<ArrayBuffer> {
  const names = Object.keys(LAUNCH_FIELDS) as (keyof Launch)[];
  const words = new Uint32Array(Math.ceil(names.length / 4) * 4);
  names.forEach((name, k) => {
    words[k] = launch[name] ?? (ARRAYS.has(name) ? NONE : 0);
  });
  return words;
}

/** Final observations come last: a batch that does not keep them ends before. */
const SHOWN_ORDER = [
  ...(Object.keys(OUTPUT_ARRAYS) as OutputName[]).filter((name) => name !== 'finalObservations'),
  'finalObservations',
] as const;

/** Elements of a trajectory's arrays, a row each. */
const RECORDED_SIZES = {
  actions: NUM_STEPS / 4,
  events: NUM_STEPS / 4,
  rewards: NUM_STEPS,
  meters: NUM_STEPS * NUM_METERS,
  deltas: NUM_STEPS * NUM_METERS,
  anomalies: NUM_STEPS * NUM_METERS,
} satisfies Record<keyof Trajectory, number>;

/** Where arrays begin that follow each other, in words a slot, and where the last ends. */
function layOut<Name extends string>(sizes: readonly (readonly [Name, number])[]) {
  let words = 0;
  const offsets = {} as Record<Name, number>;
  for (const [name, size] of sizes) {
    offsets[name] = words;
    words += size;
  }
  return { offsets, words };
}

const shown = layOut<OutputName>(
  SHOWN_ORDER.map((name) => [name as OutputName, OUTPUT_ARRAYS[name as OutputName][1]]),
);
const recorded = layOut(Object.entries(RECORDED_SIZES) as [keyof Trajectory, number][]);

/** Where an output begins, in words a slot of the shard's capacity. */
export const SHOWN: Readonly<Record<OutputName, number>> = shown.offsets;
/** Words that a slot shows, with and without its final observation. */
export const SHOWN_WORDS = { all: shown.words, withoutFinal: SHOWN.finalObservations };
/** Where an array of a trajectory begins, in words a slot of the launch. */
export const RECORDED: Readonly<Record<keyof Trajectory, number>> = recorded.offsets;
export const RECORDED_WORDS = recorded.words;

const OWN: readonly Scope[] = [
  ['shown', SHOWN],
  ['recorded', RECORDED],
];

/** The text of `generated/layout.wgsl`. */
export function emitLayout(): string {
  const fields = Object.entries(LAUNCH_FIELDS).map(([name, meaning]) => `  // ${meaning}\n  ${name}: u32,`);
  return emitWgsl(OWN, `struct Launch {\n${fields.join('\n')}\n}`);
}
