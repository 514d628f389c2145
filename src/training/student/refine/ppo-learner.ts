/** The learner of a refinement: PPO (Schulman et al. 2017) with a critic that knows the hidden profile. Needs `@jax-js/jax`. */
import { jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { FEATURE_COUNT } from '../../../agents/student/features.js';
import type { Layer } from '../../../agents/student/network.js';
import { NUM_ACTIONS, NUM_BELIEFS } from '../../../world/fields.js';
import { type AdamState, adam, type Parameters } from '../adam.js';
import { beliefLoss, forward, Model, type ModelState, matrix, stateOf } from '../model.js';
import { CRITIC_INPUTS, CRITIC_OUTPUTS } from './critic-shape.js';

/** The rows of an update, b each. */
export interface PpoRows {
  /** f32 [b, FEATURE_COUNT]. */
  readonly inputs: Float32Array;
  /** f32 [b, CRITIC_INPUTS]. */
  readonly criticInputs: Float32Array;
  /** f32 [b, 10]: 1 at the action that was played. */
  readonly actions: Float32Array;
  /** f32 [b]: the log-probability of the action when it was played. */
  readonly logProbs: Float32Array;
  /** f32 [b]. */
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
  /** f32 [b, 3]. */
  readonly targets: Float32Array;
}

/** Means over the rows of an update. */
export interface PpoLosses {
  /** The KL divergence of the student from the clone, in nats. */
  readonly divergence: number;
  /** The squared error of the critic. */
  readonly criticLoss: number;
}

/** What changes from update to update, or from training to training. */
export interface PpoWeights {
  readonly rate: number;
  /** The weight of the divergence in the loss. */
  readonly penalty: number;
}

/** A probability may change by this share in one update, before the gradient ends. */
const CLIP = 0.2;
/** The rate of the critic over that of the student. */
const CRITIC_RATE = 3;

type ActorBatch = {
  inputs: np.Array;
  actions: np.Array;
  logProbs: np.Array;
  advantages: np.Array;
  cloneLogits: np.Array;
  targets: np.Array;
};

export class PpoLearner {
  readonly actor: Model;
  readonly critic: Model;
  readonly #clone: Model;

  constructor(actor: ModelState, critic: ModelState, clone: readonly Layer[]) {
    this.actor = new Model(actor);
    this.critic = new Model(critic);
    this.#clone = new Model(stateOf(clone));
  }

  /** Returns the student's outputs, f32 [n, OUTPUT_COUNT]. @param inputs f32 [n, FEATURE_COUNT]. */
  readonly outputsOf = (inputs: Float32Array): Float32Array => this.actor.outputsOf(inputs, FEATURE_COUNT);

  /** Returns the critic's predictions, f32 [n]. @param inputs f32 [n, CRITIC_INPUTS]. */
  valuesOf(inputs: Float32Array): Float32Array {
    const outputs = this.critic.outputsOf(inputs, CRITIC_INPUTS);
    return Float32Array.from(
      { length: outputs.length / CRITIC_OUTPUTS },
      (_, row) => outputs[row * CRITIC_OUTPUTS],
    );
  }

  /** Updates the student and the critic with one step of Adam each. */
  update(rows: PpoRows, { rate, penalty }: PpoWeights): PpoLosses {
    const inputs = matrix(rows.inputs, FEATURE_COUNT);
    const batch = {
      inputs,
      actions: matrix(rows.actions, NUM_ACTIONS),
      logProbs: np.array(rows.logProbs),
      advantages: np.array(rows.advantages),
      cloneLogits: computeLogits(this.#clone.parameters, inputs.ref),
      targets: matrix(rows.targets, NUM_BELIEFS),
    };
    const [divergence] = this.actor.update((parameters, state) =>
      updateActor(parameters, state, batch, np.array(rate), np.array(penalty)),
    );
    const [criticLoss] = this.critic.update((parameters, state) =>
      updateCritic(
        parameters,
        state,
        matrix(rows.criticInputs, CRITIC_INPUTS),
        np.array(rows.returns),
        np.array(rate * CRITIC_RATE),
      ),
    );
    return { divergence, criticLoss };
  }

  [Symbol.dispose](): void {
    for (const model of [this.actor, this.critic, this.#clone]) model[Symbol.dispose]();
  }
}

const logitsOf = (outputs: np.Array): np.Array => outputs.slice([], [0, NUM_ACTIONS]);

const computeLogits = jit((parameters: Parameters, inputs: np.Array) =>
  logitsOf(forward(parameters, inputs)),
);

/** Returns the loss, and the divergence. */
function actorLoss(parameters: Parameters, batch: ActorBatch, penalty: np.Array): [np.Array, np.Array] {
  const outputs = forward(parameters, batch.inputs);
  const logProbs = nn.logSoftmax(logitsOf(outputs.ref));
  const chosen = logProbs.ref.mul(batch.actions).sum(1);
  const ratios = np.exp(chosen.sub(batch.logProbs));
  const clipped = np.clip(ratios.ref, 1 - CLIP, 1 + CLIP);
  const gains = np.minimum(ratios.mul(batch.advantages.ref), clipped.mul(batch.advantages));
  const cloneLogProbs = nn.logSoftmax(batch.cloneLogits);
  const divergence = np.exp(logProbs.ref).mul(logProbs.sub(cloneLogProbs)).sum(1).mean();
  const beliefs = beliefLoss(outputs, batch.targets);
  const loss = divergence.ref.mul(penalty).sub(gains.mean()).add(beliefs.mul(BELIEF_WEIGHT));
  return [loss, divergence];
}

/** The weight of the beliefs' loss. */
const BELIEF_WEIGHT = 0.5;

const updateActor = jit(
  (parameters: Parameters, state: AdamState, batch: ActorBatch, rate: np.Array, penalty: np.Array) => {
    const [[total, figures], gradient] = valueAndGrad(actorLoss, { hasAux: true })(
      tree.ref(parameters),
      batch,
      penalty,
    );
    total.dispose();
    const [next, nextState] = adam(parameters, gradient as Parameters, state, rate);
    return { figures, parameters: next, state: nextState };
  },
);

function criticLoss(parameters: Parameters, inputs: np.Array, returns: np.Array): np.Array {
  const values = forward(parameters, inputs).slice([], 0);
  return np.square(values.sub(returns)).mean();
}

const updateCritic = jit(
  (parameters: Parameters, state: AdamState, inputs: np.Array, returns: np.Array, rate: np.Array) => {
    const [figures, gradient] = valueAndGrad(criticLoss)(tree.ref(parameters), inputs, returns);
    const [next, nextState] = adam(parameters, gradient as Parameters, state, rate);
    return { figures, parameters: next, state: nextState };
  },
);
