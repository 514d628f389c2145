/**
 * A student's network: layers with ReLU between them. A sum adds its products to the bias in the order of the inputs, and each
 * operation rounds to float32. There is no division and no function of a library, so all machines and languages compute the
 * same bits. `Student` of the Python package has the same order.
 */
import { NUM_ACTIONS, NUM_BELIEFS } from '../../world/fields.js';

const f32 = Math.fround;

/** The outputs in order: logits of the actions, means of the beliefs, logarithms of their standard deviations. */
export const OUTPUT = { logits: 0, means: NUM_ACTIONS, logSpreads: NUM_ACTIONS + NUM_BELIEFS } as const;
export const OUTPUT_COUNT = NUM_ACTIONS + 2 * NUM_BELIEFS;

export interface Layer {
  /** f32 [inputs, outputs], row-major. */
  readonly weights: Float32Array;
  /** f32 [outputs]. */
  readonly bias: Float32Array;
}

/** Computes the outputs for inputs. The arrays of the layers are not copied. */
export class Network {
  readonly layers: readonly Layer[];
  readonly #values: readonly Float32Array[];

  constructor(layers: readonly Layer[]) {
    this.layers = layers;
    this.#values = layers.map(({ bias }) => new Float32Array(bias.length));
  }

  /** @param inputs f32 [FEATURE_COUNT]. @returns f32 [OUTPUT_COUNT], valid until the next call. */
  forward(inputs: Float32Array): Float32Array {
    let values = inputs;
    for (let k = 0; k < this.layers.length; k++) {
      const sums = this.#values[k];
      addProducts(this.layers[k], values, sums);
      if (k < this.layers.length - 1) for (let j = 0; j < sums.length; j++) if (!(sums[j] > 0)) sums[j] = 0;
      values = sums;
    }
    return values;
  }
}

function addProducts({ weights, bias }: Layer, values: Float32Array, sums: Float32Array): void {
  const count = bias.length;
  sums.set(bias);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    // A product with 0 adds nothing. Most inputs of a layer are 0.
    if (value === 0) continue;
    const row = i * count;
    for (let j = 0; j < count; j++) sums[j] += f32(value * weights[row + j]);
  }
}
