/**
 * The computations on arrays: encoded observations, rewards and students. native/ has them once, and so they need the native
 * addon or, where it does not load, WebAssembly. The platform (backends/node.ts, browser.ts) says what there is.
 */
import { BackendError } from '../shared/errors.js';

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

let sources: readonly (() => Arrays)[] = [];
let chosen: Arrays | null = null;

/** Sets what `arrays` tries, in priority order. @param open each throws where it is not available. */
export function setArrays(...open: readonly (() => Arrays)[]): void {
  sources = open;
  chosen = null;
}

/** Returns the functions. @throws BackendError `backend_unavailable`. */
export function arrays(): Arrays {
  chosen ??= choose();
  return chosen;
}

function choose(): Arrays {
  const reasons: string[] = [];
  for (const open of sources) {
    try {
      return open();
    } catch (error) {
      reasons.push((error as Error).message.replace(/\.$/, ''));
    }
  }
  throw new BackendError(
    'backend_unavailable',
    'Expected the native addon or WebAssembly, for encoded observations, rewards and students, got neither: ' +
      `${reasons.join('; ')}.`,
  );
}
