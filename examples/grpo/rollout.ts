/** Plays whole episodes with a policy, and records the data for a policy gradient. */
import type { StepResult, VecEnv } from 'rhythm-vec';
import type { Choices } from './choose.js';
import { FEATURE_COUNT, Features } from './features.js';
import { ACTIONS, actionLogits, beliefLogits, LEVELS, logitsOf, type Parameters } from './policy.js';

export const STEPS = 28;

/** Recorded episodes, one per environment. */
export interface Episodes {
  /** f32 [28, numEnvs, FEATURE_COUNT]: the inputs of the policy before each action. */
  readonly inputs: Float32Array;
  /** u8 [28, numEnvs]. */
  readonly actions: Uint8Array;
  /** u8 [numEnvs, 3]: the level of each belief at the last step. */
  readonly levels: Uint8Array;
  /** The outputs of the last step, with the grades. Views, valid until the next call of the environment. */
  readonly result: StepResult;
}

/**
 * Plays an episode in every environment.
 * @param env row-major, with raw observations.
 * @param seeds u32 [numEnvs]. The environments of a group have the same seed, so the same profile and noise.
 */
export function playEpisodes(
  env: VecEnv,
  seeds: Uint32Array,
  parameters: Parameters,
  choices: Choices,
): Episodes {
  const { numEnvs } = env;
  const features = new Features(numEnvs);
  const inputs = new Float32Array(STEPS * numEnvs * FEATURE_COUNT);
  const actions = new Uint8Array(STEPS * numEnvs);
  let levels: Uint8Array = new Uint8Array(0);
  let result = env.reset({ seed: seeds });
  for (let step = 0; step < STEPS; step++) {
    const stepInputs = inputs.subarray(step * numEnvs * FEATURE_COUNT, (step + 1) * numEnvs * FEATURE_COUNT);
    features.observe(result.observations, stepInputs);
    const stepActions = actions.subarray(step * numEnvs, (step + 1) * numEnvs);
    stepActions.set(chooseAll(logitsOf(actionLogits, parameters, stepInputs), ACTIONS, choices.action));
    // Only the last belief is graded, so earlier steps have none.
    const last = step === STEPS - 1;
    if (last) levels = chooseAll(logitsOf(beliefLogits, parameters, stepInputs), LEVELS, choices.belief);
    result = env.step(stepActions, last ? { beliefs: beliefsOf(levels) } : {});
  }
  return { inputs, actions, levels, result };
}

/** Makes a choice for each row of `count` logits. */
function chooseAll(logits: Float32Array, count: number, choose: Choices['action']): Uint8Array {
  return Uint8Array.from({ length: logits.length / count }, (_, row) => choose(logits, row * count, count));
}

/** Converts levels to beliefs, f32 [numEnvs, 3] in [0, 1]. */
export const beliefsOf = (levels: Uint8Array): Float32Array =>
  Float32Array.from(levels, (level) => level / (LEVELS - 1));
