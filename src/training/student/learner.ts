/**
 * Trains a clone, a student that imitates its teacher: the losses, and updates of the network. Needs the package
 * `@jax-js/jax`.
 */
import { jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { FEATURE_COUNT } from '../../agents/student/features.js';
import { OUTPUT, OUTPUT_COUNT } from '../../agents/student/network.js';
import { NUM_ACTIONS, NUM_BELIEFS } from '../../world/fields.js';
import { type AdamState, adam, type Parameters } from './adam.js';
import type { ModelState } from './checkpoint.js';
import { beliefLoss, forward, initialState, Model, matrix } from './model.js';

/** The rows of an update: b rows with the teacher's actions, and b rows of other episodes with belief targets. */
export interface Rows {
  /** f32 [b, FEATURE_COUNT]: the inputs of the labels. */
  readonly inputs: Float32Array;
  /** f32 [b, 10]: 1 at the teacher's action, 0 elsewhere. */
  readonly labels: Float32Array;
  /** f32 [b, FEATURE_COUNT]: the inputs of the targets. */
  readonly beliefInputs: Float32Array;
  /** f32 [b, 3]: the true belief targets. */
  readonly targets: Float32Array;
}

/** The mean losses of an update. */
export interface Losses {
  /** Cross-entropy of the teacher's actions. */
  readonly actions: number;
  /** Minus the log-likelihood of the belief targets: see `beliefLoss`. */
  readonly beliefs: number;
}

type Batch = { inputs: np.Array; labels: np.Array; beliefInputs: np.Array; targets: np.Array };

/** A clone in training: its network and the state of Adam. The caller disposes it. */
export class Learner {
  readonly #model: Model;

  constructor(state: ModelState) {
    this.#model = new Model(state);
  }

  /** Updates the parameters with one step of Adam. Returns the losses before it. @param rate the learning rate. */
  async update({ inputs, labels, beliefInputs, targets }: Rows, rate: number): Promise<Losses> {
    const batch = {
      inputs: matrix(inputs, FEATURE_COUNT),
      labels: matrix(labels, NUM_ACTIONS),
      beliefInputs: matrix(beliefInputs, FEATURE_COUNT),
      targets: matrix(targets, NUM_BELIEFS),
    };
    const [actions, beliefs] = await this.#model.update((parameters, state) =>
      computeUpdate(parameters, state, batch, np.array(rate)),
    );
    return { actions, beliefs };
  }

  /** Returns copies of the parameters and of Adam's state. */
  state = (): Promise<ModelState> => this.#model.state();

  [Symbol.dispose](): void {
    this.#model[Symbol.dispose]();
  }
}

/**
 * Returns the state of an untrained student. @param random uniform in [0, 1).
 * @param hidden the sizes of the hidden layers: multiples of four, for speed (see `initialState`).
 */
export function initialStudent(random: () => number, hidden: readonly number[]): ModelState {
  const state = initialState(random, [FEATURE_COUNT, ...hidden, OUTPUT_COUNT]);
  state.layers[state.layers.length - 1].bias.fill(INITIAL_LOG_SPREAD, OUTPUT.logSpreads);
  return state;
}

/** The initial logarithm of a belief's standard deviation. exp(-1.4) is 0.25: about the standard deviation of the targets. */
const INITIAL_LOG_SPREAD = -1.4;

/** Returns the sum of the losses, which is minimised, and an array of both losses, [2]. */
function loss(parameters: Parameters, batch: Batch): [np.Array, np.Array] {
  const rows = batch.labels.shape[0];
  const logits = forward(tree.ref(parameters), batch.inputs).slice([], [0, NUM_ACTIONS]);
  const actions = nn
    .logSoftmax(logits)
    .mul(batch.labels)
    .sum()
    .mul(-1 / rows);
  const beliefs = beliefLoss(forward(parameters, batch.beliefInputs), batch.targets);
  return [actions.ref.add(beliefs.ref), np.stack([actions, beliefs])];
}

const computeUpdate = jit((parameters: Parameters, state: AdamState, batch: Batch, rate: np.Array) => {
  const [[total, figures], gradient] = valueAndGrad(loss, { hasAux: true })(tree.ref(parameters), batch);
  total.dispose();
  const [next, nextState] = adam(parameters, gradient as Parameters, state, rate);
  return { figures, parameters: next, state: nextState };
});
