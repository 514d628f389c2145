/** GRPO: choices that did better than those of their group become likelier. */
import { jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { groupAdvantages } from 'rhythm-vec';
import { type AdamState, adam, createAdam } from './adam.js';
import { FEATURE_COUNT } from './features.js';
import { ACTIONS, actionLogits, BELIEFS, beliefLogits, LEVELS, type Parameters } from './policy.js';
import { STEPS, type Weeks } from './rollout.js';

/** What is learned from in one update, on jax-js: n weeks. */
export type Batch = {
  /** [28 * n, FEATURE_COUNT], the last step's rows last. */
  inputs: np.Array;
  /** [n, FEATURE_COUNT]: the last step's rows. */
  lastInputs: np.Array;
  /** [28 * n, 10]: the week's advantage at the action taken, 0 elsewhere. */
  actions: np.Array;
  /** [n, 3, LEVELS]: the same of beliefs. */
  beliefs: np.Array;
};

export interface Learner {
  parameters: Parameters;
  adam: AdamState;
}

export interface Update {
  readonly loss: number;
  /** The share of groups whose weeks all scored the same, and taught nothing. */
  readonly zeroSpread: number;
}

export function createLearner(parameters: Parameters): Learner {
  return { parameters, adam: createAdam(parameters) };
}

/**
 * How much better each week was than the others of its group. All 28 actions of a week share the final score's; a belief
 * changes nothing but what is paid for it, so it has the advantage of its own accuracy.
 * @param weeks groups one after the other.
 */
export function toBatch(weeks: Weeks, groupSize: number): { batch: Batch; zeroSpread: number } {
  const slots = weeks.result.finalScores.length;
  const { advantages, zeroSpread } = groupAdvantages(weeks.result.finalScores, groupSize);
  const accuracy = weeks.result.beliefMae.map((mae) => -mae);
  const { advantages: ofBelief } = groupAdvantages(accuracy, groupSize);
  const actions = new Float32Array(weeks.actions.length * ACTIONS);
  weeks.actions.forEach((code, row) => {
    actions[row * ACTIONS + code] = advantages[row % slots];
  });
  const beliefs = new Float32Array(weeks.levels.length * LEVELS);
  weeks.levels.forEach((level, row) => {
    beliefs[row * LEVELS + level] = ofBelief[Math.floor(row / BELIEFS)];
  });
  const lastInputs = weeks.inputs.slice(-slots * FEATURE_COUNT);
  const batch = {
    inputs: np.array(weeks.inputs).reshape([STEPS * slots, FEATURE_COUNT]),
    lastInputs: np.array(lastInputs).reshape([slots, FEATURE_COUNT]),
    actions: np.array(actions).reshape([STEPS * slots, ACTIONS]),
    beliefs: np.array(beliefs).reshape([slots, BELIEFS, LEVELS]),
  };
  return { batch, zeroSpread };
}

/**
 * Minus the mean log-probability of what was chosen, weighted by its advantage, minus what entropy is worth. Each batch is
 * used once, by the policy that played it: so the ratio of GRPO's clipped objective is 1, and its gradient is this one's.
 * @param entropy a scalar: how much a spread of choices is worth.
 */
export function loss(parameters: Parameters, batch: Batch, entropy: np.Array): np.Array {
  const { actor, believer } = tree.ref(parameters);
  const act = actionLogits({ actor, believer }, batch.inputs);
  const believe = beliefLogits(parameters, batch.lastInputs);
  const ofActions = objective(act, batch.actions, entropy.ref);
  return ofActions.add(objective(believe, batch.beliefs, entropy)).mul(-1);
}

/** Mean over choices; a choice is a row of the last axis. */
function objective(logits: np.Array, advantages: np.Array, entropy: np.Array): np.Array {
  const choices = advantages.size / advantages.shape[advantages.shape.length - 1];
  const logs = nn.logSoftmax(logits);
  const gained = logs.ref.mul(advantages).sum();
  const spread = np.exp(logs.ref).mul(logs).sum().mul(entropy).mul(-1);
  return gained.add(spread).div(choices);
}

type Stepped = { value: np.Array; parameters: Parameters; state: AdamState };

const stepped = jit(
  (parameters: Parameters, state: AdamState, batch: Batch, rate: np.Array, entropy: np.Array): Stepped => {
    const [value, gradient] = valueAndGrad(loss)(tree.ref(parameters), batch, entropy);
    const [next, nextState] = adam(parameters, gradient as Parameters, state, rate);
    return { value, parameters: next, state: nextState };
  },
);

/** One step of Adam; the learner's parameters are replaced. @param weeks groups one after the other. */
export function update(
  learner: Learner,
  weeks: Weeks,
  { groupSize, rate, entropy }: { groupSize: number; rate: number; entropy: number },
): Update {
  const { batch, zeroSpread } = toBatch(weeks, groupSize);
  const next = stepped(learner.parameters, learner.adam, batch, np.array(rate), np.array(entropy));
  learner.parameters = next.parameters;
  learner.adam = next.state;
  return { loss: next.value.item() as number, zeroSpread };
}
