/** Plays the episodes of all ranked policies, with the same profiles for each. */
import { Inference } from '../../../src/agents/inference/inference.js';
import { openLoopActions, repeatActions } from '../../../src/agents/policies/open-loop.js';
import { readStudent } from '../../../src/agents/student/student.js';
import type { Outputs } from '../../../src/engine/backends/backend.js';
import { heuristicAction, randomAction } from '../../../src/engine/reference/baselines.js';
import type { VecEnv } from '../../../src/engine/vec-env/vec-env.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import type { StudentFile } from '../person/episode.js';
import { type ActionSource, type BeliefSource, RANKED_POLICIES, sequenceGraderOf } from './verdict.js';

const CONSTANT = [0.5, 0.5, 0.5];

/** The components of each policy, f32 [n, NUM_COMPONENTS]: first RANKED_POLICIES in their order, then the students. */
export type ComponentsByPolicy = readonly Float32Array[];

/**
 * Plays one episode per seed with every ranked policy. @param seeds u32 [numEnvs], which determine profiles and noise.
 * @param students students that were trained on the page. @throws InputError `bad_student`.
 */
export function playPolicies(
  env: VecEnv,
  seeds: Uint32Array,
  students: readonly StudentFile[] = [],
): ComponentsByPolicy {
  const ofPolicies = RANKED_POLICIES.map(({ actionSource, beliefSource }) => {
    const result =
      beliefSource === 'inference'
        ? runWithInference(env, actionSource, seeds)
        : run(env, actionSource, beliefSource, seeds);
    return result.components.slice();
  });
  return [...ofPolicies, ...students.map((student) => runStudent(env, student, seeds).components.slice())];
}

function runStudent(env: VecEnv, { file }: StudentFile, seeds: Uint32Array): Outputs {
  const { numEnvs, world } = env;
  const player = readStudent(file).open({ numEnvs, grader: null, world });
  const playing = new Uint8Array(numEnvs).fill(1);
  let result = env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    const { observations } = result;
    const { actions, beliefs } = player.act({
      observations,
      playing,
      steps: new Uint8Array(numEnvs).fill(step),
    });
    result = env.step(actions, { beliefs });
  }
  return result;
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

/**
 * Runs step by step with inference. States beliefs from step `beliefSkillFrom` on, the first that `belief_skill` counts. They
 * have the smallest expected absolute error, whatever the weights of the grader.
 */
function runWithInference(env: VecEnv, actionSource: ActionSource, seeds: Uint32Array): Outputs {
  const inference = new Inference(env.world, env.numEnvs);
  const actionsAt = actionChooser(env, actionSource, seeds);
  let result = env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    inference.observe(result.observations);
    const isGraded = step >= env.world.params.beliefSkillFrom;
    const options = isGraded ? { beliefs: inference.beliefs() } : {};
    result = env.step(actionsAt(result.observations, step), options);
  }
  return result;
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
