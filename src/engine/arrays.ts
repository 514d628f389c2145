/**
 * The computations on arrays: encoded observations, rewards and students. native/ has them once, and so they need the native
 * addon or, where it does not load, WebAssembly.
 */
import { BackendError } from '../shared/errors.js';
import { type Exports, openInstance, placeOutputs, requireSizes } from './backends/wasm/instance.js';
import { Stage, type View } from './backends/wasm/stage.js';

/** The functions of native/ over arrays. Arrays have exactly the elements that their comments say. */
export interface Arrays {
  /**
   * Writes encoded observations.
   * @param parts f64 [n, 6]: `Encoder` in native/encoder.h explains them. @param width the size of an encoded observation.
   * @param raw f32 [numEnvs, 22]. With a stride above 0, number k of environment i is at `k * rawStride + i`.
   * @param history f32 [numEnvs, 84]; null if no part reads it.
   * @param out f32 [numEnvs, width], with a stride like `raw`. @param mask u8 [numEnvs]: the rows to write; null for all.
   */
  encode(
    numEnvs: number,
    parts: Float64Array,
    numParts: number,
    width: number,
    raw: Float32Array,
    rawStride: number,
    history: Float32Array | null,
    out: Float32Array,
    outStride: number,
    mask: Uint8Array | null,
  ): void;
  /** Appends the step that `raw` describes to the histories. The arguments are as for `encode`. */
  pushHistory(
    numEnvs: number,
    raw: Float32Array,
    rawStride: number,
    history: Float32Array,
    mask: Uint8Array | null,
  ): void;
  /**
   * Computes the reward stack of rows, f32 [rows] in each of the last six arrays.
   * @param numbers f64 [20]: `RewardNumbers` in native/rewards.h explains them, and `RewardRows` the columns.
   */
  stackRewards(
    rows: number,
    numbers: Float64Array,
    actions: Int8Array,
    given: Uint8Array,
    stepRewards: Float64Array,
    beliefMae: Float64Array,
    beliefSkill: Float64Array | null,
    histories: Uint8Array | null,
    stops: Uint8Array | null,
    ...columns: Float32Array[]
  ): void;
  /**
   * Adds observations to the memory of a student's episodes, and writes the inputs of its network.
   * @param block the numbers of the world. @param observations f32 [numEnvs, 22]; at step 0 an episode begins.
   * @param playing u8 [numEnvs]: the episodes to observe; the others get zeros. @param memory f32 [numEnvs, 65].
   * @param inputs f32 [numEnvs, 76]. @returns 0, without a change, if a step or an action is illegal; else 1.
   */
  observe(
    numEnvs: number,
    block: Uint32Array,
    observations: Float32Array,
    playing: Uint8Array,
    memory: Float32Array,
    inputs: Float32Array,
  ): number;
  /**
   * Computes the outputs of a network.
   * @param sizes u32 [numLayers + 1]: the number of inputs of each layer, and of outputs.
   * @param weights f32: for each layer its weights, [inputs, outputs], and its biases.
   * @param inputs f32 [rows, inputs]. @param outputs f32 [rows, outputs]. @param scratch f32 [2 * the largest size].
   */
  forward(
    sizes: Uint32Array,
    numLayers: number,
    weights: Float32Array,
    rows: number,
    inputs: Float32Array,
    outputs: Float32Array,
    scratch: Float32Array,
  ): void;
}

let preferred: (() => Arrays) | null = null;
let chosen: Arrays | null = null;

/** Sets what `arrays` tries before WebAssembly. @param open throws where it is not available. */
export function preferArrays(open: () => Arrays): void {
  preferred = open;
  chosen = null;
}

/** Returns the functions. @throws BackendError `backend_unavailable`. */
export function arrays(): Arrays {
  chosen ??= choose();
  return chosen;
}

function choose(): Arrays {
  const reasons: string[] = [];
  for (const open of [preferred, openWasmArrays]) {
    try {
      if (open !== null) return open();
    } catch (error) {
      reasons.push((error as Error).message.replace(/\.$/, ''));
    }
  }
  throw new BackendError(
    'backend_unavailable',
    'Expected the native addon or WebAssembly, for encoded observations, rewards and students, got neither: ' +
      `${reasons.join('; ')}. Pass a module of rhythm-vec/rhythm.wasm to useWasmModule.`,
  );
}

/** The arguments that a function writes, by their indices. */
const WRITTEN: Readonly<Record<keyof Arrays, readonly number[]>> = {
  encode: [7],
  pushHistory: [3],
  stackRewards: [9, 10, 11, 12, 13, 14],
  observe: [4, 5],
  forward: [5],
};

/** An argument. No function takes integers of 64 bits. */
type Argument = Exclude<View, BigUint64Array> | number | null;

/** The instance of all calls, and the part of its memory that holds arguments. */
let instance: { readonly exports: Exports; readonly stage: Stage } | null = null;

/** Returns an instance whose stage holds this many bytes. */
function requireInstance(bytes: number) {
  if (instance !== null && instance.stage.capacity >= bytes) return instance;
  // It has no batch. Where a batch would have its outputs is room for arguments.
  const opened = openInstance(placeOutputs(bytes, 1).buffer, 1);
  const stage = new Stage({ ...opened, stageBytes: opened.stageBytes + bytes });
  instance = { exports: opened.exports, stage };
  return instance;
}

function call(name: keyof Arrays, args: readonly Argument[]) {
  const sizes = args.map((value) =>
    value !== null && typeof value === 'object' ? value.byteLength + 64 : 0,
  );
  const { exports, stage } = requireInstance(sizes.reduce((sum, size) => sum + size, 0));
  stage.clear();
  const values = args.map((value) => (typeof value === 'number' ? value : stage.put(value)));
  const result = exports[name](...values);
  for (const k of WRITTEN[name]) {
    const array = args[k];
    if (array !== null && typeof array === 'object') array.set(stage.view(array, values[k], array.length));
  }
  return result;
}

/** Returns the functions in WebAssembly, which copy the arrays of a call in and out. @throws Error as `requireSizes`. */
export function openWasmArrays(): Arrays {
  requireSizes();
  const names = Object.keys(WRITTEN) as (keyof Arrays)[];
  return Object.fromEntries(
    names.map((name) => [name, (...args: Argument[]) => call(name, args)]),
  ) as unknown as Arrays;
}
