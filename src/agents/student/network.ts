/**
 * A student's network: layers with ReLU between them. A sum adds its products to the bias in the order of the inputs, and each
 * operation rounds to float32. There is no division and no library function, so all machines and languages compute the
 * same bits. native/student.cc computes it.
 */
import { arrays } from '../../engine/arrays.js';
import { NUM_ACTIONS, NUM_BELIEFS } from '../../world/fields.js';

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

/** A network. It keeps the arrays of its layers, and copies them at its first use. */
export class Network {
  readonly layers: readonly Layer[];
  #copy: { sizes: Uint32Array; weights: Float32Array; scratch: Float32Array } | null = null;

  constructor(layers: readonly Layer[]) {
    this.layers = layers;
  }

  /**
   * Computes the outputs. @param inputs f32 [n, FEATURE_COUNT] (features.ts).
   * @returns f32 [n, OUTPUT_COUNT], newly allocated.
   */
  forward(inputs: Float32Array): Float32Array {
    this.#copy ??= copyOf(this.layers);
    const { sizes, weights, scratch } = this.#copy;
    const rows = inputs.length / sizes[0];
    const outputs = new Float32Array(rows * sizes[this.layers.length]);
    arrays().forward(sizes, this.layers.length, weights, rows, inputs, outputs, scratch);
    return outputs;
  }
}

/** Returns the arrays of layers as `Arrays.forward` takes them. */
function copyOf(layers: readonly Layer[]) {
  const widths = layers.map(({ bias }) => bias.length);
  const sizes = Uint32Array.of(layers[0].weights.length / widths[0], ...widths);
  const weights = new Float32Array(
    layers.reduce((sum, layer) => sum + layer.weights.length + layer.bias.length, 0),
  );
  let at = 0;
  for (const { weights: products, bias } of layers) {
    weights.set(products, at);
    weights.set(bias, at + products.length);
    at += products.length + bias.length;
  }
  return { sizes, weights, scratch: new Float32Array(2 * Math.max(...sizes)) };
}
