/**
 * A student's network: layers with ReLU between them. A sum adds its products to the bias in the order of the inputs, and each
 * operation rounds to float32. There is no division and no library function, so all machines and languages compute the
 * same bits. `Student` of the Python package has the same order.
 */
import { NUM_ACTIONS, NUM_BELIEFS } from '../../world/fields.js';

const f32 = Math.fround;

/** The first index of the actions' logits, the beliefs' means minus 0.5, and the logarithms of their standard deviations. */
export const OUTPUT = { logits: 0, means: NUM_ACTIONS, logSpreads: NUM_ACTIONS + NUM_BELIEFS } as const;
/** The number of outputs, 16. */
export const OUTPUT_COUNT = NUM_ACTIONS + 2 * NUM_BELIEFS;

/** A layer: each output is a bias plus a weighted sum of the inputs. */
export interface Layer {
  /** f32 [inputs, outputs], row-major. */
  readonly weights: Float32Array;
  /** f32 [outputs]. */
  readonly bias: Float32Array;
}

/** A network. It keeps the arrays of its layers and does not copy them. */
export class Network {
  readonly layers: readonly Layer[];
  /** The outputs of each layer. */
  readonly #values: readonly Float32Array[];
  /** Scratch: the indices of a layer's inputs that are not 0. */
  readonly #used: Uint32Array;

  constructor(layers: readonly Layer[]) {
    this.layers = layers;
    this.#values = layers.map(({ bias }) => new Float32Array(bias.length));
    this.#used = new Uint32Array(
      Math.max(...layers.map(({ weights, bias }) => weights.length / bias.length)),
    );
  }

  /**
   * Computes the outputs. @param inputs f32 [FEATURE_COUNT] (features.ts).
   * @returns f32 [OUTPUT_COUNT], valid until the next call.
   */
  forward(inputs: Float32Array): Float32Array {
    let values = inputs;
    for (let k = 0; k < this.layers.length; k++) {
      const sums = this.#values[k];
      addProducts(this.layers[k], values, sums, this.#used);
      if (k < this.layers.length - 1) for (let j = 0; j < sums.length; j++) if (!(sums[j] > 0)) sums[j] = 0;
      values = sums;
    }
    return values;
  }
}

/**
 * Sets the sums to the bias plus the products of each value with its row of weights. Takes four rows at a time, in the order of
 * the inputs, so that a sum stays in a register for four products. `used` is scratch for as many indices as values.
 */
function addProducts(
  { weights, bias }: Layer,
  values: Float32Array,
  sums: Float32Array,
  used: Uint32Array,
): void {
  const width = bias.length;
  sums.set(bias);
  // Skips values that are 0: their products add nothing.
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i] !== 0) used[count++] = i;
  let k = 0;
  for (; k + 4 <= count; k += 4) {
    const [i0, i1, i2, i3] = [used[k], used[k + 1], used[k + 2], used[k + 3]];
    const [v0, v1, v2, v3] = [values[i0], values[i1], values[i2], values[i3]];
    const [r0, r1, r2, r3] = [i0 * width, i1 * width, i2 * width, i3 * width];
    for (let j = 0; j < width; j++) {
      let sum = f32(sums[j] + f32(v0 * weights[r0 + j]));
      sum = f32(sum + f32(v1 * weights[r1 + j]));
      sum = f32(sum + f32(v2 * weights[r2 + j]));
      sums[j] = sum + f32(v3 * weights[r3 + j]);
    }
  }
  for (; k < count; k++) {
    const [value, row] = [values[used[k]], used[k] * width];
    for (let j = 0; j < width; j++) sums[j] += f32(value * weights[row + j]);
  }
}
