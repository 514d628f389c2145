/**
 * Trains a student in its refinement (docs/students.md): the loss, and updates of the network. Needs the package `@jax-js/jax`.
 */
import { jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { FEATURE_COUNT } from '../../../agents/student/features.js';
import { NUM_ACTIONS, NUM_BELIEFS } from '../../../world/fields.js';
import { type AdamState, adam, type Parameters } from '../adam.js';
import type { ModelState } from '../checkpoint.js';
import { beliefLoss, forward, Model, matrix } from '../model.js';

/** The rows of an update: b comparisons, and b inputs with their belief targets. */
export interface RefineRows {
  /** f32 [b, FEATURE_COUNT]: the inputs of the comparisons. */
  readonly inputs: Float32Array;
  /** f32 [b, 10] each: see `Comparisons` in comparisons.ts. */
  readonly compared: Float32Array;
  readonly gains: Float32Array;
  /** f32 [b, FEATURE_COUNT]: the inputs from which the beliefs are learned. */
  readonly beliefInputs: Float32Array;
  /** f32 [b, 3]: the belief targets. */
  readonly targets: Float32Array;
}

/** The weight of the gains in the loss; the beliefs' loss has the weight 1. docs/students.md, Refinement, compares weights. */
const GAIN_WEIGHT = 20;

type Batch = {
  inputs: np.Array;
  compared: np.Array;
  gains: np.Array;
  beliefInputs: np.Array;
  targets: np.Array;
};

/** A student in its refinement: its network and the state of Adam. The caller disposes it. */
export class RefineLearner {
  readonly #model: Model;

  constructor(state: ModelState) {
    this.#model = new Model(state);
  }

  /** Returns the student's outputs, f32 [n, OUTPUT_COUNT]. @param inputs f32 [n, FEATURE_COUNT]. */
  readonly outputsOf = (inputs: Float32Array): Float32Array => this.#model.outputsOf(inputs, FEATURE_COUNT);

  /** Updates the student with one step of Adam. @returns the mean gain under the student's probabilities. */
  async update(rows: RefineRows, rate: number): Promise<number> {
    const batch = {
      inputs: matrix(rows.inputs, FEATURE_COUNT),
      compared: matrix(rows.compared, NUM_ACTIONS),
      gains: matrix(rows.gains, NUM_ACTIONS),
      beliefInputs: matrix(rows.beliefInputs, FEATURE_COUNT),
      targets: matrix(rows.targets, NUM_BELIEFS),
    };
    const [gain] = await this.#model.update((parameters, state) =>
      computeUpdate(parameters, state, batch, np.array(rate)),
    );
    return gain;
  }

  /** Returns copies of the parameters and of Adam's state. */
  state = (): Promise<ModelState> => this.#model.state();

  [Symbol.dispose](): void {
    this.#model[Symbol.dispose]();
  }
}

/** What is subtracted from the logits of actions that were not compared: their probabilities become 0. */
const EXCLUDED = 1e4;

/** Returns the loss, which is minimised, and the mean gain, [1]. */
function loss(parameters: Parameters, batch: Batch): [np.Array, np.Array] {
  const logits = forward(tree.ref(parameters), batch.inputs).slice([], [0, NUM_ACTIONS]);
  const probabilities = nn.softmax(logits.add(batch.compared.sub(1).mul(EXCLUDED)));
  const gain = probabilities.mul(batch.gains).sum(1).mean();
  const beliefs = beliefLoss(forward(parameters, batch.beliefInputs), batch.targets);
  return [beliefs.sub(gain.ref.mul(GAIN_WEIGHT)), gain.reshape([1])];
}

const computeUpdate = jit((parameters: Parameters, state: AdamState, batch: Batch, rate: np.Array) => {
  const [[total, figures], gradient] = valueAndGrad(loss, { hasAux: true })(tree.ref(parameters), batch);
  total.dispose();
  const [next, nextState] = adam(parameters, gradient as Parameters, state, rate);
  return { figures, parameters: next, state: nextState };
});
