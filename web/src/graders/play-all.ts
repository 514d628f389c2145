/** Plays the episodes of all contestants, with the same profiles for each. */

import { Inference } from '../../../src/agents/inference/inference.js';
import { openLoopActions, repeatActions } from '../../../src/agents/policies/open-loop.js';
import type { Outputs } from '../../../src/engine/backends/backend.js';
import { heuristicAction, randomAction } from '../../../src/engine/reference/baselines.js';
import type { VecEnv } from '../../../src/engine/vec-env/vec-env.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { type ActionSource, type BeliefSource, CONTESTANTS, sequenceGraderOf } from './contestants.js';

const CONSTANT = [0.5, 0.5, 0.5];

/** The components of each contestant, by CONTESTANTS: f32 [n, 6] each. */
export type ComponentsByContestant = readonly Float32Array[];

/** Plays one episode per seed with every contestant. @param seeds u32 [numEnvs], which determine profiles and noise. */
export function playAll(env: VecEnv, seeds: Uint32Array): ComponentsByContestant {
  return CONTESTANTS.map(({ actionSource, beliefSource }) => {
    const result =
      beliefSource === 'inference'
        ? runWithInference(env, actionSource, seeds)
        : run(env, actionSource, beliefSource, seeds);
    return result.components.slice();
  });
}

function run(
  env: VecEnv,
  actionSource: ActionSource,
  beliefSource: BeliefSource,
  seeds: Uint32Array,
): Outputs {
  env.reset({ seed: seeds });
  const sequence = sequenceGraderOf(actionSource);
  const choice =
    sequence === null
      ? (actionSource as 'random' | 'heuristic')
      : repeatActions(openLoopActions(sequence), env.numEnvs);
  return env.run(choice, beliefSource === 'constant' ? { beliefs: CONSTANT } : {});
}

/** Runs step by step with inference. Only the last belief is graded, so only that one is computed. */
function runWithInference(env: VecEnv, actionSource: ActionSource, seeds: Uint32Array): Outputs {
  const inference = new Inference(env.world, env.numEnvs);
  const actionsAt = actionChooser(env, actionSource, seeds);
  let result = env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS - 1; step++) {
    inference.observe(result.observations);
    result = env.step(actionsAt(result.observations, step));
  }
  inference.observe(result.observations);
  return env.step(actionsAt(result.observations, NUM_STEPS - 1), { beliefs: inference.beliefs() });
}

/** Returns a function that chooses the same actions as `env.run`. */
function actionChooser({ world, numEnvs }: VecEnv, actionSource: ActionSource, seeds: Uint32Array) {
  const { params } = world;
  const grader = sequenceGraderOf(actionSource);
  const sequence = grader === null ? null : openLoopActions(grader);
  return (observations: Float32Array, step: number): Uint8Array =>
    Uint8Array.from({ length: numEnvs }, (_, i) => {
      if (sequence !== null) return sequence[step];
      if (actionSource === 'random') return randomAction(params, seeds[i], step, 0);
      const at = i * OBSERVATION_SIZE;
      const meters = observations.subarray(at + OBSERVATION.meters, at + OBSERVATION.meters + NUM_METERS);
      return heuristicAction(params, observations[at + OBSERVATION.slot], meters);
    });
}
