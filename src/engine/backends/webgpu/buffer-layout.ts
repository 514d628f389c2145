/** The buffers of a WebGPU batch: their layout, and their memory on the device. */

import { BackendError, StateError } from '../../../shared/errors.js';
import type { Scope } from '../../../world/block.js';
import { emitWgsl } from '../../../world/emit.js';
import { NUM_METERS, NUM_STEPS } from '../../../world/fields.js';
import type { OutputName, TrajectoryField } from '../backend.js';
import { OUTPUT_ARRAYS } from '../outputs.js';
import type { GpuDevice } from './device.js';

/** Bytes of a word. */
export const WORD = 4;

/**
 * Environments per tile of the states. Chosen by hand, as many as in native/kernel.h. A tile has the first word of each of its
 * environments, then the second word of each, and so on.
 */
export const TILE = 16;

/** The offset of an absent array. */
const NONE = 0xffffffff;

/** Codes of a run's policy and of its beliefs. */
export const POLICY = { random: 0, heuristic: 1, sequence: 2 } as const;
export const BELIEFS = { none: 0, constant: 1, sequence: 2 } as const;

/** Numeric parameters of a launch, u32 each; 0 by default. */
const LAUNCH_NUMBERS = {
  zero: '0, unknown to the compiler: see numbers.wgsl',
  first: 'the first environment of the launch, in its segment',
  count: 'how many environments the launch has',
  capacity: 'how many environments the segment has room for',
  in_columns: 'whether outputs are column-major',
  keeps_final: 'whether final observations are kept',
  imagination: 'xored with the streams of noise and events; 0 for real episodes',
  policy: 'one of POLICY',
  belief_kind: 'one of BELIEFS',
  keeps_outputs: 'of a load: whether outputs stay as they are',
  source_first:
    'of a gather or a save: index of the first environment of the source segment, within its batch',
  source_capacity: 'of a gather: capacity of the source segment',
  source_in_columns: 'of a gather: whether the source is column-major',
  source_keeps_final: 'of a gather: whether the source keeps final observations',
} as const;

/** Array parameters of a launch: offsets in the buffer of request-buffer.ts, in words; `NONE` for an absent array. */
const LAUNCH_ARRAYS = {
  mask: 'array of bytes: the environments to reset or step; NONE for all',
  seeds: 'array of words: seeds of episodes that begin, or of the random policy',
  modes: 'array of bytes: profile modes; NONE to keep them',
  profiles: 'array of floats, a profile per environment; NONE to keep them',
  graders: 'array of floats, a grader per environment; NONE to keep them',
  steps: 'array of bytes: steps at which episodes begin; NONE for 0',
  meters: 'array of floats, five per environment: meters at the beginning; NONE if `steps` is NONE',
  early: 'array of floats: sums of first-half rewards at the beginning; NONE for 0',
  late: 'array of floats: sums of second-half rewards at the beginning; NONE for 0',
  returns: 'array of floats: sums of rewards at the beginning; NONE for 0',
  crashes: 'array of bytes: crash counts at the beginning; NONE for 0',
  well: 'array of floats: sums of weighted meters at the beginning; NONE for 0',
  skill: 'array of floats: sums of belief skill terms at the beginning; NONE for 0',
  actions: 'array of bytes, 1 or 28 per environment',
  beliefs:
    'array of floats: beliefs, one or 28 per environment, or one for all; of a reset: those at the beginning',
  given: 'array of bytes: which beliefs are given',
  reset_mask: 'array of bytes: the environments to reset after a step',
  stops: 'array of bytes: the step at which each environment stops; NONE for the last',
  indices: 'array of words: the environments to copy or to save',
  rows: 'array of words: states to load',
} as const;

/** The name of an array parameter. */
export type LaunchArray = keyof typeof LAUNCH_ARRAYS;
/** The parameters of a launch. An absent parameter has its default. */
export type Launch = { readonly [Name in keyof typeof LAUNCH_NUMBERS | LaunchArray]?: number };

/** Every parameter in order, with its default. */
const LAUNCH_DEFAULTS = [
  ...Object.keys(LAUNCH_NUMBERS).map((name) => [name, 0] as const),
  ...Object.keys(LAUNCH_ARRAYS).map((name) => [name, NONE] as const),
] as [keyof Launch, number][];

/** Returns the words of a launch's uniform buffer, padded to a multiple of four words. */
export function encodeLaunch(launch: Launch): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(LAUNCH_DEFAULTS.length / 4) * 4);
  LAUNCH_DEFAULTS.forEach(([name, defaultValue], k) => {
    words[k] = launch[name] ?? defaultValue;
  });
  return words;
}

/** The order of outputs in memory. Final observations are last, so that a batch can omit them. */
const OUTPUT_ORDER = [
  ...(Object.keys(OUTPUT_ARRAYS) as OutputName[]).filter((name) => name !== 'finalObservations'),
  'finalObservations',
] as const;

/** Every array of `Trajectory`: bytes per element, and elements per environment. */
export const RECORDED_ARRAYS = {
  actions: [1, NUM_STEPS],
  events: [1, NUM_STEPS],
  rewards: [WORD, NUM_STEPS],
  meters: [WORD, NUM_STEPS * NUM_METERS],
  deltas: [WORD, NUM_STEPS * NUM_METERS],
  anomalies: [WORD, NUM_STEPS * NUM_METERS],
} as const satisfies Record<TrajectoryField, readonly [bytes: number, width: number]>;

/** Returns the offsets of consecutive arrays, in words per environment, and their total size. */
function layOut<Name extends string>(sizes: readonly (readonly [Name, number])[]) {
  let words = 0;
  const offsets = {} as Record<Name, number>;
  for (const [name, size] of sizes) {
    offsets[name] = words;
    words += size;
  }
  return { offsets, words };
}

const outputs = layOut<OutputName>(
  OUTPUT_ORDER.map((name) => [name as OutputName, OUTPUT_ARRAYS[name as OutputName][1]]),
);
const recorded = layOut(
  (Object.keys(RECORDED_ARRAYS) as TrajectoryField[]).map((name) => {
    const [bytes, width] = RECORDED_ARRAYS[name];
    return [name, (bytes * width) / WORD];
  }),
);

/** The offset of each output, in words per environment: the array begins at this offset times the segment's capacity. */
export const OUTPUT_OFFSETS: Readonly<Record<OutputName, number>> = outputs.offsets;
/** Words of an environment's outputs, with and without the final observation. */
export const OUTPUT_WORDS = { withFinal: outputs.words, withoutFinal: OUTPUT_OFFSETS.finalObservations };
/**
 * The offset of each array of a trajectory, in words per environment: the array begins at this offset times the number of
 * environments of the launch.
 */
export const RECORDED: Readonly<Record<TrajectoryField, number>> = recorded.offsets;
/** Bytes of an environment's trajectory. */
export const RECORDED_BYTES = recorded.words * WORD;

/** The constants of `layout.wgsl`, by the prefix of their names. */
const WEBGPU_SCOPES: readonly Scope[] = [
  ['policy', POLICY],
  ['beliefs', BELIEFS],
  ['output', OUTPUT_OFFSETS],
  ['recorded', RECORDED],
];

/** Returns the text of `layout.wgsl`, a part of the generated shaders. */
export function emitLayout(): string {
  const fields = Object.entries({ ...LAUNCH_NUMBERS, ...LAUNCH_ARRAYS });
  const members = fields.map(([name, meaning]) => `  // ${meaning}\n  ${name}: u32,`);
  return emitWgsl(
    WEBGPU_SCOPES,
    `const TILE = ${TILE}u;\nconst NONE = 0x${NONE.toString(16)}u;\n\nstruct Launch {\n${members.join('\n')}\n}`,
  );
}

/** The memory of one batch. */
export class Memory {
  readonly gpu: GpuDevice;
  /** The error of the first failed allocation. It is permanent, because the device skips work that uses the missing buffer. */
  #shortage: BackendError | null = null;
  #closed = false;

  constructor(gpu: GpuDevice) {
    this.gpu = gpu;
  }

  /**
   * Allocates a zeroed buffer. A later `check` throws if there was not enough memory.
   * @param bytes a multiple of 4.
   */
  allocate(label: string, bytes: number, usage: number): GPUBuffer {
    const { device, adapterName } = this.gpu;
    device.pushErrorScope('out-of-memory');
    // An empty buffer cannot be bound. The least size is chosen by hand.
    const buffer = device.createBuffer({ label, size: Math.max(bytes, 16), usage });
    device.popErrorScope().then(
      (error) => {
        if (error !== null) this.#shortage ??= outOfMemory(label, bytes, adapterName);
      },
      () => {},
    );
    return buffer;
  }

  /** Marks the memory as closed: later calls of `check` throw. The caller frees the buffers. @returns whether it was open. */
  close(): boolean {
    const wasOpen = !this.#closed;
    this.#closed = true;
    return wasOpen;
  }

  /**
   * Throws if work on this memory must not begin. @throws StateError `closed`, BackendError `out_of_memory`, or as
   * `GpuDevice.check`.
   */
  check(): void {
    if (this.#closed)
      throw new StateError(
        'closed',
        'Expected an open environment, got one that was closed during the call. Create a new environment.',
      );
    if (this.#shortage !== null && !this.gpu.isLost) throw this.#shortage;
    this.gpu.check();
  }

  /** Resolves when the queue's work is done. @throws as `check`. */
  async finished(): Promise<void> {
    this.check();
    const { queue, device } = this.gpu;
    await Promise.race([queue.onSubmittedWorkDone().catch(() => {}), device.lost]);
    this.check();
  }
}

const outOfMemory = (what: string, bytes: number, adapter: string): BackendError =>
  new BackendError(
    'out_of_memory',
    `Expected ${bytes} bytes for ${what} on ${adapter}, got none. Lower numEnvs, or close other environments.`,
  );

/** GPUBufferUsage. */
export const USAGE = {
  mapRead: 0x1,
  copySource: 0x4,
  copyTarget: 0x8,
  uniform: 0x40,
  storage: 0x80,
} as const;

/** GPUMapMode.READ, the mode of `mapAsync`. */
export const MAP_MODE_READ = 0x1;

/**
 * The maximum size of scratch memory in bytes: 32 MiB. Larger requests are split into several launches. Chosen by hand: a
 * smaller size saves memory, and splits more requests.
 */
export const SCRATCH_BYTES = 2 ** 25;

/** A buffer that grows. */
export class Scratch {
  readonly #memory: Memory;
  readonly #label: string;
  readonly #usage: number;
  #buffer: GPUBuffer;

  constructor(memory: Memory, label: string, usage: number) {
    this.#memory = memory;
    this.#label = label;
    this.#usage = usage;
    this.#buffer = memory.allocate(label, 0, usage);
  }

  /** Returns a buffer of at least `bytes` bytes. If the buffer grows, its contents are lost. */
  require(bytes: number): GPUBuffer {
    if (this.#buffer.size >= bytes) return this.#buffer;
    this.#buffer.destroy();
    this.#buffer = this.#memory.allocate(this.#label, Math.ceil(bytes / WORD) * WORD, this.#usage);
    return this.#buffer;
  }

  get buffer(): GPUBuffer {
    return this.#buffer;
  }

  destroy(): void {
    this.#buffer.destroy();
  }
}
