/** The episodes that a refinement learns from: the student plays, and draws its actions from its probabilities. */
import { FEATURE_COUNT, Features } from '../../../agents/student/features.js';
import { OUTPUT, OUTPUT_COUNT } from '../../../agents/student/network.js';
import { MIDDLE } from '../../../agents/student/student.js';
import type { AnyVecEnv } from '../../../engine/node.js';
import { beliefTarget, clamp01, sampleProfile } from '../../../engine/reference/profile.js';
import { type Draw, threefry, unit } from '../../../engine/reference/threefry.js';
import {
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_STEPS,
  NUM_TRAITS,
  PROFILE_SIZE,
} from '../../../world/fields.js';
import type { World } from '../../../world/world.js';
import { CRITIC_INPUTS } from './critic-shape.js';

/** n episodes. The rows are in the order of episodes, then steps. */
export interface Rollouts {
  /** f32 [n * 28, FEATURE_COUNT]. */
  readonly inputs: Float32Array;
  /** f32 [n * 28, CRITIC_INPUTS]. */
  readonly criticInputs: Float32Array;
  /** u8 [n * 28]. */
  readonly actions: Uint8Array;
  /** f32 [n * 28]: the log-probability of each action. */
  readonly logProbs: Float32Array;
  /** f32 [n, 3]. */
  readonly targets: Float32Array;
  /** f32 [n]. */
  readonly finalScores: Float32Array;
  readonly beliefMae: Float32Array;
}

export interface RolloutOptions {
  /** u32 [n]: the seeds of the profiles. */
  readonly profileSeeds: Uint32Array;
  /** u32 [n]: the seeds of noise and events, and of the choices. */
  readonly seeds: Uint32Array;
  /** Returns the student's outputs, f32 [n, OUTPUT_COUNT], for inputs f32 [n, FEATURE_COUNT]. */
  readonly outputsOf: (inputs: Float32Array) => Float32Array;
}

/** The stream of the choices among the words of a draw. The engine's streams have other numbers. */
const CHOICES = 0x43484f53;

/** Plays an episode in each environment. @param env opened with `imagination`, so no noise is that of a real episode. */
export async function rollOut(
  env: AnyVecEnv,
  { profileSeeds, seeds, outputsOf }: RolloutOptions,
): Promise<Rollouts> {
  const { numEnvs, world } = env;
  const { profiles, targets, known } = peopleOf(profileSeeds, world);
  const features = new Features(world.params, numEnvs);
  const rows = numEnvs * NUM_STEPS;
  const [inputs, criticInputs] = [
    new Float32Array(rows * FEATURE_COUNT),
    new Float32Array(rows * CRITIC_INPUTS),
  ];
  const [actions, logProbs] = [new Uint8Array(rows), new Float32Array(rows)];
  const stepInputs = new Float32Array(numEnvs * FEATURE_COUNT);
  let result = await env.reset({ seed: seeds, profiles });
  for (let step = 0; step < NUM_STEPS; step++) {
    for (let i = 0; i < numEnvs; i++) {
      const row = stepInputs.subarray(i * FEATURE_COUNT, (i + 1) * FEATURE_COUNT);
      features.observe(result.observations, i, row);
      inputs.set(row, (i * NUM_STEPS + step) * FEATURE_COUNT);
      criticInputs.set(row, (i * NUM_STEPS + step) * CRITIC_INPUTS);
      criticInputs.set(
        known.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE),
        (i * NUM_STEPS + step) * CRITIC_INPUTS + FEATURE_COUNT,
      );
    }
    const outputs = outputsOf(stepInputs);
    const chosen = new Uint8Array(numEnvs);
    for (let i = 0; i < numEnvs; i++) {
      const row = i * NUM_STEPS + step;
      const logits = outputs.subarray(i * OUTPUT_COUNT + OUTPUT.logits, i * OUTPUT_COUNT + NUM_ACTIONS);
      const choice = choose(logits, unit(threefry(seeds[i], CHOICES, step, 0, draw).x0));
      chosen[i] = actions[row] = choice.action;
      logProbs[row] = choice.logProb;
    }
    result = await env.step(chosen, { beliefs: beliefsOf(outputs, numEnvs) });
  }
  const { finalScores, beliefMae } = result;
  return {
    ...{ inputs, criticInputs, actions, logProbs, targets },
    finalScores: finalScores.slice(),
    beliefMae: beliefMae.slice(),
  };
}

const draw: Draw = { x0: 0, x1: 0 };

/** Returns the profiles of seeds, their belief targets, and the profiles with all numbers near [-1, 1]. */
function peopleOf(seeds: Uint32Array, { params }: World) {
  const profiles = new Float32Array(seeds.length * PROFILE_SIZE);
  const known = new Float32Array(profiles.length);
  const targets = new Float32Array(seeds.length * NUM_BELIEFS);
  for (const [i, seed] of seeds.entries()) {
    const profile = profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE);
    sampleProfile(params, seed, profile);
    beliefTarget(params, profile, targets.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS));
    for (let k = 0; k < NUM_TRAITS; k++) {
      known[i * PROFILE_SIZE + k] = (2 * (profile[k] - params.traitLow[k])) / params.traitSpan[k] - 1;
    }
    for (let k = NUM_TRAITS; k < PROFILE_SIZE; k++) {
      known[i * PROFILE_SIZE + k] = NUM_METERS * profile[k] - 1;
    }
  }
  return { profiles, targets, known };
}

/** Returns an action with a probability that its logit gives. @param share uniform in [0, 1). */
export function choose(logits: Float32Array, share: number): { action: number; logProb: number } {
  const highest = logits.reduce((most, logit) => Math.max(most, logit));
  const weights = Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = weights.reduce((total, weight) => total + weight);
  let remaining = share * sum;
  let action = weights.length - 1;
  for (let k = 0; k < weights.length; k++) {
    remaining -= weights[k];
    if (remaining >= 0) continue;
    action = k;
    break;
  }
  return { action, logProb: logits[action] - highest - Math.log(sum) };
}

/** Returns the beliefs of outputs, f32 [n, 3]. */
function beliefsOf(outputs: Float32Array, count: number): Float32Array {
  const beliefs = new Float32Array(count * NUM_BELIEFS);
  for (let k = 0; k < beliefs.length; k++) {
    const [i, belief] = [Math.floor(k / NUM_BELIEFS), k % NUM_BELIEFS];
    beliefs[k] = clamp01(MIDDLE + outputs[i * OUTPUT_COUNT + OUTPUT.means + belief]);
  }
  return beliefs;
}
