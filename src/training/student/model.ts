/** A network as arrays of jax-js, with the state of its optimiser. Needs the package `@jax-js/jax`. */
import { jit, nn, numpy as np, tree } from '@jax-js/jax';
import { type Layer as FileLayer, OUTPUT, OUTPUT_COUNT } from '../../agents/student/network.js';
import { MIDDLE } from '../../agents/student/student-player.js';
import type { ModelState } from './checkpoint.js';

/** A layer's arrays: weights [inputs, outputs], bias [outputs]. */
export type Layer = { weights: np.Array; bias: np.Array };
/** The layers of a network, from the inputs to the outputs. */
export type Parameters = Layer[];

/** Running means of the gradients and of their squares, and the number of updates. */
export type AdamState = { mean: Parameters; square: Parameters; count: np.Array };

/** The decay of the running means of the gradients, and of their squares: beta_1 and beta_2 of the paper. */
const MEAN_DECAY = 0.9;
const SQUARE_DECAY = 0.999;
/** Keeps the divisor above 0. */
const EPSILON = 1e-8;

/** Returns the parameters and state after one update. @param rate the learning rate, a scalar. */
export function adam(
  parameters: Parameters,
  gradient: Parameters,
  state: AdamState,
  rate: np.Array,
): [Parameters, AdamState] {
  const count = state.count.add(1);
  const mean = blend(state.mean, tree.ref(gradient), MEAN_DECAY);
  const square = blend(state.square, tree.map(np.square, gradient) as Parameters, SQUARE_DECAY);
  // Bias correction: the running means begin at 0.
  const meanCorrection = np.subtract(1, np.power(MEAN_DECAY, count.ref));
  const squareCorrection = np.subtract(1, np.power(SQUARE_DECAY, count.ref));
  const updated = tree.map(
    (values: np.Array, m: np.Array, s: np.Array) => {
      const scale = np.sqrt(s.div(squareCorrection.ref)).add(EPSILON);
      return values.sub(m.div(meanCorrection.ref).div(scale).mul(rate.ref));
    },
    parameters,
    tree.ref(mean),
    tree.ref(square),
  ) as Parameters;
  for (const used of [meanCorrection, squareCorrection, rate]) used.dispose();
  return [updated, { mean, square, count }];
}

/** Returns the running mean after a new value. */
const blend = (mean: Parameters, value: Parameters, decay: number): Parameters =>
  tree.map((a: np.Array, b: np.Array) => a.mul(decay).add(b.mul(1 - decay)), mean, value) as Parameters;

/** What the computation of an update returns. */
interface Updated {
  /** What the caller of the update gets, such as its losses. */
  figures: np.Array;
  parameters: Parameters;
  state: AdamState;
}

/** A network and its optimiser. The caller disposes it. */
export class Model {
  #parameters: Parameters;
  #adam: AdamState;

  constructor({ layers, mean, square, updates }: ModelState) {
    this.#parameters = layers.map(toArrays);
    this.#adam = { mean: mean.map(toArrays), square: square.map(toArrays), count: np.array(updates) };
  }

  /**
   * Replaces the arrays by those that `compute` returns. @param compute consumes (frees) the present arrays.
   * @returns the figures of the update.
   */
  async update(compute: (parameters: Parameters, state: AdamState) => Updated): Promise<Float32Array> {
    const { figures, parameters, state } = compute(this.#parameters, this.#adam);
    this.#parameters = parameters;
    this.#adam = state;
    return (await figures.data()) as Float32Array;
  }

  /** The parameters, as new references. */
  get parameters(): Parameters {
    return tree.ref(this.#parameters);
  }

  /** Returns the outputs, f32 [n, outputs], row-major. @param inputs f32 [n, columns]. */
  outputsOf(inputs: Float32Array, columns: number): Float32Array {
    return computeOutputs(this.parameters, matrix(inputs, columns)).dataSync() as Float32Array;
  }

  /** Returns copies of the parameters and of Adam's state. */
  async state(): Promise<ModelState> {
    const { mean, square, count } = this.#adam;
    return {
      layers: await toFloats(this.#parameters),
      mean: await toFloats(mean),
      square: await toFloats(square),
      updates: (await count.ref.data())[0],
    };
  }

  [Symbol.dispose](): void {
    tree.dispose(this.#parameters);
    tree.dispose(this.#adam);
  }
}

/**
 * Returns the state of a new network. @param random uniform in [0, 1).
 * @param sizes of the inputs, the hidden layers and the outputs: multiples of four, or jax-js takes ten times as long.
 */
export function initialState(random: () => number, sizes: readonly number[]): ModelState {
  const layers = sizes.slice(1).map((outputs, k) => {
    const inputs = sizes[k];
    // Uniform weights with the bound of He et al. 2015. Those of the last layer are smaller, so that all actions begin about
    // equally likely.
    const bound = Math.sqrt(6 / inputs) * (k === sizes.length - 2 ? LAST_LAYER_GAIN : 1);
    const weights = Float32Array.from({ length: inputs * outputs }, () => (2 * random() - 1) * bound);
    return { weights, bias: new Float32Array(outputs) };
  });
  return stateOf(layers);
}

/** Returns the state of a network before its first update. */
export function stateOf(layers: readonly FileLayer[]): ModelState {
  const zeros = () =>
    layers.map(({ weights, bias }) => ({
      weights: new Float32Array(weights.length),
      bias: new Float32Array(bias.length),
    }));
  return { layers, mean: zeros(), square: zeros(), updates: 0 };
}

/** The factor of the bound of the last layer's initial weights, chosen by hand. */
const LAST_LAYER_GAIN = 0.1;

/** Returns values as an array [rows, columns]. */
export const matrix = (values: Float32Array, columns: number): np.Array =>
  np.array(values).reshape([values.length / columns, columns]);

const toArrays = ({ weights, bias }: FileLayer): Layer => ({
  weights: matrix(weights.slice(), bias.length),
  bias: np.array(bias.slice()),
});

async function toFloats(parameters: Parameters): Promise<FileLayer[]> {
  const floatsOf = async (array: np.Array) => ((await array.ref.data()) as Float32Array).slice();
  return Promise.all(
    parameters.map(async ({ weights, bias }) => ({
      weights: await floatsOf(weights),
      bias: await floatsOf(bias),
    })),
  );
}

/** Returns outputs [n, outputs] of inputs [n, inputs]. Consumes its arguments, like all functions of jax-js. */
export function forward(parameters: Parameters, inputs: np.Array): np.Array {
  return parameters.reduce((values, { weights, bias }, k) => {
    const sums = np.matmul(values, weights).add(bias);
    return k < parameters.length - 1 ? nn.relu(sums) : sums;
  }, inputs);
}

const computeOutputs = jit(forward);

/**
 * Returns minus the mean log-likelihood of belief targets under normal distributions, without its constant term.
 * @param outputs [n, OUTPUT_COUNT]. @param targets [n, 3].
 */
export function beliefLoss(outputs: np.Array, targets: np.Array): np.Array {
  const means = outputs.ref.slice([], [OUTPUT.means, OUTPUT.logSpreads]);
  const logSpreads = outputs.slice([], [OUTPUT.logSpreads, OUTPUT_COUNT]);
  // The means are differences from MIDDLE, the belief 0.5.
  const residuals = targets.sub(means).sub(MIDDLE);
  const squares = np
    .square(residuals)
    .mul(np.exp(logSpreads.ref.mul(-2)))
    .mul(0.5);
  return squares.add(logSpreads).mean();
}
