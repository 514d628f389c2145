/** GRPO: raises the probability of choices with a higher reward than the mean of their group. */
import { jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { groupAdvantages } from 'rhythm-vec';
import { type AdamState, adam, createAdam } from './adam.js';
import { FEATURE_COUNT } from './features.js';
import { ACTIONS, actionLogits, BELIEFS, beliefLogits, LEVELS, type Parameters } from './policy.js';
import { type Episodes, STEPS } from './rollout.js';

/** The data of one update, as arrays of jax-js: n episodes. */
export type Batch = {
  /** [28 * n, FEATURE_COUNT], step by step. */
  inputs: np.Array;
  /** [n, FEATURE_COUNT]: the rows of the last step. */
  lastInputs: np.Array;
  /** [28 * n, 10]: the advantage of the episode at the chosen action, 0 elsewhere. */
  actions: np.Array;
  /** [n, 3, LEVELS]: the advantage of the belief at the chosen level, 0 elsewhere. */
  beliefs: np.Array;
};

export interface Learner {
  parameters: Parameters;
  adam: AdamState;
}

export interface Update {
  readonly loss: number;
  /** The share of groups with equal scores, which give no gradient. */
  readonly zeroSpread: number;
}

export function createLearner(parameters: Parameters): Learner {
  return { parameters, adam: createAdam(parameters) };
}

/**
 * Computes advantages within groups. All 28 actions of an episode have the advantage of its final score. A belief has
 * the advantage of its own accuracy, because it changes nothing else.
 * @param episodes group by group.
 */
export function toBatch(episodes: Episodes, groupSize: number): { batch: Batch; zeroSpread: number } {
  const numEnvs = episodes.result.finalScores.length;
  const { advantages, zeroSpread } = groupAdvantages(episodes.result.finalScores, groupSize);
  const accuracy = episodes.result.beliefMae.map((mae) => -mae);
  const { advantages: beliefAdvantages } = groupAdvantages(accuracy, groupSize);
  const actions = new Float32Array(episodes.actions.length * ACTIONS);
  episodes.actions.forEach((code, row) => {
    actions[row * ACTIONS + code] = advantages[row % numEnvs];
  });
  const beliefs = new Float32Array(episodes.levels.length * LEVELS);
  episodes.levels.forEach((level, row) => {
    beliefs[row * LEVELS + level] = beliefAdvantages[Math.floor(row / BELIEFS)];
  });
  const lastInputs = episodes.inputs.slice(-numEnvs * FEATURE_COUNT);
  const batch = {
    inputs: np.array(episodes.inputs).reshape([STEPS * numEnvs, FEATURE_COUNT]),
    lastInputs: np.array(lastInputs).reshape([numEnvs, FEATURE_COUNT]),
    actions: np.array(actions).reshape([STEPS * numEnvs, ACTIONS]),
    beliefs: np.array(beliefs).reshape([numEnvs, BELIEFS, LEVELS]),
  };
  return { batch, zeroSpread };
}

/**
 * Returns the policy-gradient loss: minus the mean of log-probability times advantage, minus the entropy bonus. Each batch
 * is used once, by the policy that played it. So the ratio of GRPO's clipped objective is 1, and the gradients are equal.
 * @param entropy the entropy coefficient, a scalar.
 */
export function loss(parameters: Parameters, batch: Batch, entropy: np.Array): np.Array {
  const { actor, believer } = tree.ref(parameters);
  const forActions = actionLogits({ actor, believer }, batch.inputs);
  const forBeliefs = beliefLogits(parameters, batch.lastInputs);
  const actionObjective = objective(forActions, batch.actions, entropy.ref);
  return actionObjective.add(objective(forBeliefs, batch.beliefs, entropy)).mul(-1);
}

/** Returns the mean objective over choices. A choice is a row of the last axis. */
function objective(logits: np.Array, advantages: np.Array, entropy: np.Array): np.Array {
  const choices = advantages.size / advantages.shape[advantages.shape.length - 1];
  const logProbabilities = nn.logSoftmax(logits);
  const gain = logProbabilities.ref.mul(advantages).sum();
  const bonus = np.exp(logProbabilities.ref).mul(logProbabilities).sum().mul(entropy).mul(-1);
  return gain.add(bonus).div(choices);
}

type Updated = { value: np.Array; parameters: Parameters; state: AdamState };

const computeUpdate = jit(
  (parameters: Parameters, state: AdamState, batch: Batch, rate: np.Array, entropy: np.Array): Updated => {
    const [value, gradient] = valueAndGrad(loss)(tree.ref(parameters), batch, entropy);
    const [next, nextState] = adam(parameters, gradient as Parameters, state, rate);
    return { value, parameters: next, state: nextState };
  },
);

/** Updates the learner with one step of Adam. @param episodes group by group. */
export function update(
  learner: Learner,
  episodes: Episodes,
  { groupSize, rate, entropy }: { groupSize: number; rate: number; entropy: number },
): Update {
  const { batch, zeroSpread } = toBatch(episodes, groupSize);
  const next = computeUpdate(learner.parameters, learner.adam, batch, np.array(rate), np.array(entropy));
  learner.parameters = next.parameters;
  learner.adam = next.state;
  return { loss: next.value.item() as number, zeroSpread };
}
