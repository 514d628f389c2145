/** The learner: the network's parameters as arrays of jax-js, their losses and one update. Needs the package `@jax-js/jax`. */
import { jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { FEATURE_COUNT } from '../../agents/student/features.js';
import { type Layer as FileLayer, OUTPUT, OUTPUT_COUNT } from '../../agents/student/network.js';
import { MIDDLE } from '../../agents/student/student.js';
import { NUM_ACTIONS, NUM_BELIEFS } from '../../world/fields.js';
import { type AdamState, adam, type Layer, type Parameters } from './adam.js';

/** The rows of an update, b each. */
export interface Rows {
  /** f32 [b, FEATURE_COUNT]: the inputs of the teacher's labels. */
  readonly inputs: Float32Array;
  /** f32 [b, 10]: 1 at the teacher's action. */
  readonly labels: Float32Array;
  /** f32 [b, FEATURE_COUNT]: the inputs of the belief targets, from other episodes. */
  readonly beliefInputs: Float32Array;
  /** f32 [b, 3]. */
  readonly targets: Float32Array;
}

/** The mean losses of an update. */
export interface Losses {
  /** Cross-entropy of the teacher's actions. */
  readonly actions: number;
  /** Minus the log-likelihood of the belief targets, normal around the means, without its constant. */
  readonly beliefs: number;
}

type Batch = { inputs: np.Array; labels: np.Array; beliefInputs: np.Array; targets: np.Array };

/** Everything that the next update depends on. */
export interface LearnerState {
  readonly layers: readonly FileLayer[];
  readonly mean: readonly FileLayer[];
  readonly square: readonly FileLayer[];
  readonly updates: number;
}

export class Learner {
  #parameters: Parameters;
  #adam: AdamState;

  constructor({ layers, mean, square, updates }: LearnerState) {
    this.#parameters = layers.map(toArrays);
    this.#adam = { mean: mean.map(toArrays), square: square.map(toArrays), count: np.array(updates) };
  }

  /** Updates the parameters with one step of Adam. @param rate the learning rate. */
  update({ inputs, labels, beliefInputs, targets }: Rows, rate: number): Losses {
    const batch = {
      inputs: matrix(inputs, FEATURE_COUNT),
      labels: matrix(labels, NUM_ACTIONS),
      beliefInputs: matrix(beliefInputs, FEATURE_COUNT),
      targets: matrix(targets, NUM_BELIEFS),
    };
    const next = computeUpdate(this.#parameters, this.#adam, batch, np.array(rate));
    this.#parameters = next.parameters;
    this.#adam = next.state;
    const [actions, beliefs] = next.losses.dataSync() as Float32Array;
    return { actions, beliefs };
  }

  /** Returns copies of the parameters and of Adam's state. */
  state(): LearnerState {
    const { mean, square, count } = this.#adam;
    return {
      layers: this.#parameters.map(toFloats),
      mean: mean.map(toFloats),
      square: square.map(toFloats),
      updates: count.ref.item() as number,
    };
  }

  [Symbol.dispose](): void {
    tree.dispose(this.#parameters);
    tree.dispose(this.#adam);
  }
}

/** @param random uniform in [0, 1). @param hidden the sizes of the hidden layers, multiples of four. */
export function initialState(random: () => number, hidden: readonly number[]): LearnerState {
  const sizes = [FEATURE_COUNT, ...hidden, OUTPUT_COUNT];
  const layers = sizes.slice(1).map((outputs, k) => {
    const inputs = sizes[k];
    // He et al. 2015, uniform; the last layer is small, so that all actions begin about equally likely.
    const bound = Math.sqrt(6 / inputs) * (k === sizes.length - 2 ? LAST_LAYER_GAIN : 1);
    const weights = Float32Array.from({ length: inputs * outputs }, () => (2 * random() - 1) * bound);
    return { weights, bias: new Float32Array(outputs) };
  });
  layers[layers.length - 1].bias.fill(INITIAL_LOG_SPREAD, OUTPUT.logSpreads);
  const zeros = () =>
    layers.map(({ weights, bias }) => ({
      weights: new Float32Array(weights.length),
      bias: new Float32Array(bias.length),
    }));
  return { layers, mean: zeros(), square: zeros(), updates: 0 };
}

const LAST_LAYER_GAIN = 0.1;
/** The logarithm of a belief target's standard deviation, about 0.25. */
const INITIAL_LOG_SPREAD = -1.4;

const matrix = (values: Float32Array, columns: number): np.Array =>
  np.array(values).reshape([values.length / columns, columns]);

const toArrays = ({ weights, bias }: FileLayer): Layer => ({
  weights: matrix(weights.slice(), bias.length),
  bias: np.array(bias.slice()),
});

const toFloats = ({ weights, bias }: Layer): FileLayer => ({
  weights: (weights.ref.dataSync() as Float32Array).slice(),
  bias: (bias.ref.dataSync() as Float32Array).slice(),
});

/** Returns outputs [n, OUTPUT_COUNT] of inputs [n, FEATURE_COUNT]. */
function forward(parameters: Parameters, inputs: np.Array): np.Array {
  return parameters.reduce((values, { weights, bias }, k) => {
    const sums = np.matmul(values, weights).add(bias);
    return k < parameters.length - 1 ? nn.relu(sums) : sums;
  }, inputs);
}

/** Returns the sum of the losses, and both losses [2]. */
function loss(parameters: Parameters, batch: Batch): [np.Array, np.Array] {
  const rows = batch.labels.shape[0];
  const logits = forward(tree.ref(parameters), batch.inputs).slice([], [0, NUM_ACTIONS]);
  const actions = nn
    .logSoftmax(logits)
    .mul(batch.labels)
    .sum()
    .mul(-1 / rows);
  const outputs = forward(parameters, batch.beliefInputs);
  const means = outputs.ref.slice([], [OUTPUT.means, OUTPUT.logSpreads]);
  const logSpreads = outputs.slice([], [OUTPUT.logSpreads, OUTPUT_COUNT]);
  const residuals = batch.targets.sub(means).sub(MIDDLE);
  const squares = np
    .square(residuals)
    .mul(np.exp(logSpreads.ref.mul(-2)))
    .mul(0.5);
  const beliefs = squares.add(logSpreads).mean();
  return [actions.ref.add(beliefs.ref), np.stack([actions, beliefs])];
}

const computeUpdate = jit((parameters: Parameters, state: AdamState, batch: Batch, rate: np.Array) => {
  const [[total, losses], gradient] = valueAndGrad(loss, { hasAux: true })(tree.ref(parameters), batch);
  total.dispose();
  const [next, nextState] = adam(parameters, gradient as Parameters, state, rate);
  return { losses, parameters: next, state: nextState };
});
