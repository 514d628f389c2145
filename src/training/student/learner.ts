/** Learners on jax-js: of the labels of a teacher, and of the comparisons of a refinement. */
import { jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { FEATURE_COUNT, OUTPUT, OUTPUT_COUNT } from '../../agents/student/network.js';
import { NUM_ACTIONS, NUM_BELIEFS } from '../../world/fields.js';
import type { ModelState } from './checkpoint.js';
import {
  type AdamState,
  adam,
  beliefLoss,
  forward,
  initialState,
  Model,
  matrix,
  type Parameters,
} from './model.js';

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
interface Losses {
  /** Cross-entropy of the teacher's actions. */
  readonly actions: number;
  /** Minus the log-likelihood of the belief targets: see `beliefLoss`. */
  readonly beliefs: number;
}

/** The arrays of an update's rows, by the names of Rows or RefineRows. */
type Batch = Record<string, np.Array>;

/** A network in training and the state of Adam. The caller disposes it. */
class ModelLearner {
  protected readonly model: Model;

  constructor(state: ModelState) {
    this.model = new Model(state);
  }

  /** Returns copies of the parameters and of Adam's state. */
  state = (): Promise<ModelState> => this.model.state();

  [Symbol.dispose](): void {
    this.model[Symbol.dispose]();
  }
}

/**
 * Returns a compiled update with one step of Adam.
 * @param loss returns the loss, which is minimised, and an array of figures.
 */
const updateBy = (loss: (parameters: Parameters, batch: Batch) => [np.Array, np.Array]) =>
  jit((parameters: Parameters, state: AdamState, batch: Batch, rate: np.Array) => {
    const [[total, figures], gradient] = valueAndGrad(loss, { hasAux: true })(tree.ref(parameters), batch);
    total.dispose();
    const [next, nextState] = adam(parameters, gradient as Parameters, state, rate);
    return { figures, parameters: next, state: nextState };
  });

/** A clone in training. */
export class Learner extends ModelLearner {
  /** Updates the parameters with one step of Adam. Returns the losses before it. @param rate the learning rate. */
  async update({ inputs, labels, beliefInputs, targets }: Rows, rate: number): Promise<Losses> {
    const batch = {
      inputs: matrix(inputs, FEATURE_COUNT),
      labels: matrix(labels, NUM_ACTIONS),
      beliefInputs: matrix(beliefInputs, FEATURE_COUNT),
      targets: matrix(targets, NUM_BELIEFS),
    };
    const [actions, beliefs] = await this.model.update((parameters, state) =>
      updateClone(parameters, state, batch, np.array(rate)),
    );
    return { actions, beliefs };
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
function cloneLoss(parameters: Parameters, batch: Batch): [np.Array, np.Array] {
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

const updateClone = updateBy(cloneLoss);

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

/** A student in its refinement. */
export class RefineLearner extends ModelLearner {
  /** Returns the student's outputs, f32 [n, OUTPUT_COUNT]. @param inputs f32 [n, FEATURE_COUNT]. */
  readonly outputsOf = (inputs: Float32Array): Float32Array => this.model.outputsOf(inputs, FEATURE_COUNT);

  /** Updates the student with one step of Adam. @returns the mean gain under the student's probabilities. */
  async update(rows: RefineRows, rate: number): Promise<number> {
    const batch = {
      inputs: matrix(rows.inputs, FEATURE_COUNT),
      compared: matrix(rows.compared, NUM_ACTIONS),
      gains: matrix(rows.gains, NUM_ACTIONS),
      beliefInputs: matrix(rows.beliefInputs, FEATURE_COUNT),
      targets: matrix(rows.targets, NUM_BELIEFS),
    };
    const [gain] = await this.model.update((parameters, state) =>
      updateRefined(parameters, state, batch, np.array(rate)),
    );
    return gain;
  }
}

/** What is subtracted from the logits of actions that were not compared: their probabilities become 0. */
const EXCLUDED = 1e4;

/** Returns the loss, which is minimised, and the mean gain, [1]. */
function refineLoss(parameters: Parameters, batch: Batch): [np.Array, np.Array] {
  const logits = forward(tree.ref(parameters), batch.inputs).slice([], [0, NUM_ACTIONS]);
  const probabilities = nn.softmax(logits.add(batch.compared.sub(1).mul(EXCLUDED)));
  const gain = probabilities.mul(batch.gains).sum(1).mean();
  const beliefs = beliefLoss(forward(parameters, batch.beliefInputs), batch.targets);
  return [beliefs.sub(gain.ref.mul(GAIN_WEIGHT)), gain.reshape([1])];
}

const updateRefined = updateBy(refineLoss);
