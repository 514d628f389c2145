/** What this backend's buffers hold, in 32-bit words: a launch's parameters, what slots show, what a run records. */
import { emitWgsl } from '../../world/emit-wgsl.js';
import { NUM_METERS, NUM_STEPS } from '../../world/fields.js';
import type { Scope } from '../../world/layout.js';
import type { OutputName } from '../async-backend.js';
import type { Trajectory } from '../backend.js';
import { OUTPUT_ARRAYS } from '../outputs.js';

/** Bytes of a word. */
export const WORD = 4;

/** Slots of a tile of the state, whose words lie field by field. */
export const TILE = 16;

/** Where an array is that a launch is not given. */
const NONE = 0xffffffff;

/** Codes of what chooses a run's actions, and of where its beliefs come from. */
export const POLICY = { random: 0, heuristic: 1, tape: 2 } as const;
export const BELIEFS = { none: 0, constant: 1, tape: 2 } as const;

/** Parameters of a launch that are numbers, u32 each; 0 where nothing is said. */
const LAUNCH_NUMBERS = {
  zero: 'the zero that only the data knows, see numbers.wgsl',
  first: 'the first slot of this shard that takes part',
  count: 'how many slots take part',
  capacity: 'how many the shard has room for',
  in_columns: 'whether rows of what slots show lie as columns',
  keeps_final: 'whether final observations are kept',
  imagination: 'what the streams of luck and events are changed by; 0 for those of real episodes',
  policy: 'one of POLICY',
  belief_kind: 'one of BELIEFS',
  source_first: 'of slots to copy: the first that the shard they are in holds',
  source_capacity: 'of a gather: how many the shard of the source has room for',
  source_in_columns: 'and how it is laid out',
  source_keeps_final: 'and whether it keeps final observations',
} as const;

/** Arrays that a launch is given: the word of the request at which each begins; `NONE` where it is not given. */
const LAUNCH_ARRAYS = {
  mask: 'array of bytes: the slots meant; NONE for all',
  seeds: 'array of words: of episodes that begin, or of the random policy',
  modes: 'array of bytes',
  profiles: 'array of floats, a profile a slot',
  graders: 'array of floats, a grader a slot',
  steps: 'array of bytes: where episodes begin; NONE for the first step of the week',
  meters: 'array of floats, five a slot: what they begin with, as the next four; NONE for 0',
  early: 'array of floats',
  late: 'array of floats',
  returns: 'array of floats',
  crashes: 'array of bytes',
  actions: 'array of bytes, one a slot, or a tape of them',
  beliefs: 'array of floats, a belief a slot, one for all, or a tape of them',
  given: 'array of bytes: which beliefs are given',
  reset_mask: 'array of bytes: the slots that begin anew after a step; NONE for none',
  stops: 'array of bytes: the step at which each slot stops; NONE for the last',
  indices: 'array of words: the slots to copy',
  rows: 'array of words: states',
} as const;

export type LaunchArray = keyof typeof LAUNCH_ARRAYS;
export type Launch = { readonly [Name in keyof typeof LAUNCH_NUMBERS | LaunchArray]?: number };

/** Every parameter in its order, and what it is where nothing is said. */
const LAUNCH_DEFAULTS = [
  ...Object.keys(LAUNCH_NUMBERS).map((name) => [name, 0] as const),
  ...Object.keys(LAUNCH_ARRAYS).map((name) => [name, NONE] as const),
] as [keyof Launch, number][];

/** A launch as the words of its uniform buffer, of whole vectors. */
export function encodeLaunch(launch: Launch): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(LAUNCH_DEFAULTS.length / 4) * 4);
  LAUNCH_DEFAULTS.forEach(([name, otherwise], k) => {
    words[k] = launch[name] ?? otherwise;
  });
  return words;
}

/** Final observations come last: a batch that does not keep them ends before. */
const SHOWN_ORDER = [
  ...(Object.keys(OUTPUT_ARRAYS) as OutputName[]).filter((name) => name !== 'finalObservations'),
  'finalObservations',
] as const;

/** Every array of `Trajectory`: bytes of an element, and how many of them a slot has. */
export const RECORDED_ARRAYS = {
  actions: [1, NUM_STEPS],
  events: [1, NUM_STEPS],
  rewards: [WORD, NUM_STEPS],
  meters: [WORD, NUM_STEPS * NUM_METERS],
  deltas: [WORD, NUM_STEPS * NUM_METERS],
  anomalies: [WORD, NUM_STEPS * NUM_METERS],
} as const satisfies Record<keyof Trajectory, readonly [bytes: number, width: number]>;

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
const recorded = layOut(
  (Object.keys(RECORDED_ARRAYS) as (keyof Trajectory)[]).map((name) => {
    const [bytes, width] = RECORDED_ARRAYS[name];
    return [name, (bytes * width) / WORD];
  }),
);

/** Where an output begins, in words a slot of the shard's capacity. */
export const SHOWN: Readonly<Record<OutputName, number>> = shown.offsets;
/** Words that a slot shows, with and without its final observation. */
export const SHOWN_WORDS = { all: shown.words, withoutFinal: SHOWN.finalObservations };
/** Where an array of a trajectory begins, in words a slot of the launch. */
export const RECORDED: Readonly<Record<keyof Trajectory, number>> = recorded.offsets;
/** Bytes that a slot records. */
export const RECORDED_BYTES = recorded.words * WORD;

const OWN: readonly Scope[] = [
  ['policy', POLICY],
  ['beliefs', BELIEFS],
  ['shown', SHOWN],
  ['recorded', RECORDED],
];

/** The text of `generated/layout.wgsl`. */
export function emitLayout(): string {
  const fields = Object.entries({ ...LAUNCH_NUMBERS, ...LAUNCH_ARRAYS });
  const members = fields.map(([name, meaning]) => `  // ${meaning}\n  ${name}: u32,`);
  return emitWgsl(
    OWN,
    `const TILE = ${TILE}u;\nconst NONE = 0x${NONE.toString(16)}u;\n\nstruct Launch {\n${members.join('\n')}\n}`,
  );
}
