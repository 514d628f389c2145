/** Plays whole weeks with a policy, and keeps what a policy gradient needs of them. */
import type { StepResult, VecEnv } from 'rhythm-vec';
import type { Choices } from './choose.js';
import { FEATURE_COUNT, Features } from './features.js';
import { ACTIONS, actionLogits, beliefLogits, LEVELS, logitsOf, type Parameters } from './policy.js';

export const STEPS = 28;

/** Weeks, one a slot. */
export interface Weeks {
  /** f32 [28, slots, FEATURE_COUNT], new: what the policy saw before each action. */
  readonly inputs: Float32Array;
  /** u8 [28, slots], new. */
  readonly actions: Uint8Array;
  /** u8 [slots, 3], new: each belief's place among the levels, given with the last action. */
  readonly levels: Uint8Array;
  /** The grades and what they are made of: views, valid until the environment plays on. */
  readonly result: StepResult;
}

/**
 * A week in every slot of the environment: row-major, with raw observations.
 * @param seeds u32 [numEnvs]. A group is so many slots of the same seed: the same person with the same luck, who differ by
 *   what was chosen.
 */
export function playWeeks(env: VecEnv, seeds: Uint32Array, parameters: Parameters, choices: Choices): Weeks {
  const slots = env.numEnvs;
  const features = new Features(slots);
  const inputs = new Float32Array(STEPS * slots * FEATURE_COUNT);
  const actions = new Uint8Array(STEPS * slots);
  let levels: Uint8Array = new Uint8Array(0);
  let result = env.reset({ seed: seeds });
  for (let step = 0; step < STEPS; step++) {
    const seen = inputs.subarray(step * slots * FEATURE_COUNT, (step + 1) * slots * FEATURE_COUNT);
    features.observe(result.observations, seen);
    const taken = actions.subarray(step * slots, (step + 1) * slots);
    taken.set(chooseAll(logitsOf(actionLogits, parameters, seen), ACTIONS, choices.action));
    // Only the last belief is graded, so no other is given.
    const last = step === STEPS - 1;
    if (last) levels = chooseAll(logitsOf(beliefLogits, parameters, seen), LEVELS, choices.belief);
    result = env.step(taken, last ? { beliefs: beliefsOf(levels) } : {});
  }
  return { inputs, actions, levels, result };
}

/** A choice for each `count` logits. */
function chooseAll(logits: Float32Array, count: number, choose: Choices['action']): Uint8Array {
  return Uint8Array.from({ length: logits.length / count }, (_, row) => choose(logits, row * count, count));
}

/** f32 [slots, 3] in [0, 1]. */
export const beliefsOf = (levels: Uint8Array): Float32Array =>
  Float32Array.from(levels, (level) => level / (LEVELS - 1));
