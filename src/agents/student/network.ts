/** The network of a student, and its inputs. */
import { arrays } from '../../engine/arrays.js';
import { InputError } from '../../shared/errors.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';

/** The version of the inputs. It rises when any input changes for the same observations. */
export const FEATURES_VERSION = 1;
/** The number of inputs. */
export const FEATURE_COUNT = 76;
/** The number of floats that are kept of each episode: `StudentMemory` in native/student.h. */
const MEMORY_SIZE = 65;

/** Reads the observations of n episodes, step by step, and writes the inputs. */
export class Features {
  readonly #words: Uint32Array;
  readonly #memory: Float32Array;
  readonly #everybody: Uint8Array;

  /** @param words the numbers of the world (`World.words`). */
  constructor(words: Uint32Array, numEnvs: number) {
    this.#words = words;
    this.#memory = new Float32Array(numEnvs * MEMORY_SIZE);
    this.#everybody = new Uint8Array(numEnvs).fill(1);
  }

  /** Returns the features of new episodes: episode k begins with a copy of the memory of episode `indices[k]`. */
  fork(indices: readonly number[]): Features {
    const fork = new Features(this.#words, indices.length);
    for (const [k, index] of indices.entries()) {
      const memory = this.#memory.subarray(index * MEMORY_SIZE, (index + 1) * MEMORY_SIZE);
      fork.#memory.set(memory, k * MEMORY_SIZE);
    }
    return fork;
  }

  /**
   * Adds observations to the memory, and writes the inputs.
   * @param observations f32 [n, 22]. An observation at step 0 begins an episode. Pass the observation of every step below 28.
   * @param inputs f32 [n, FEATURE_COUNT]: overwritten. @param playing u8 [n]: the episodes to read; the others get zeros.
   * @throws InputError `out_of_range` if a step or a last action is none of the world's.
   */
  observe(observations: Float32Array, inputs: Float32Array, playing = this.#everybody): void {
    const isLegal = arrays().observe(
      playing.length,
      this.#words,
      observations,
      playing,
      this.#memory,
      inputs,
    );
    if (isLegal) return;
    throw new InputError('out_of_range', {
      expected: `observations of steps 0 to ${NUM_STEPS - 1} with last actions 0 to ${NUM_ACTIONS - 1} from step 1 on`,
      got: 'others',
      remedy: 'Pass raw observations of episodes that are playing.',
    });
  }
}

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
   * Computes the outputs. @param inputs f32 [n, FEATURE_COUNT].
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
  return { sizes, weights, scratch: new Float32Array(3 * Math.max(...sizes)) };
}
