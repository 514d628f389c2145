/** Plays the contestants' weeks, everybody's with the same people. */
import type { Outputs } from '../../../src/backends/backend.js';
import { Inference } from '../../../src/policies/inference/inference.js';
import { blindTape, repeatTape } from '../../../src/policies/tapes.js';
import { heuristicAction, randomAction } from '../../../src/reference/baselines.js';
import type { VecEnv } from '../../../src/vec-env/vec-env.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { type Acting, type Believing, CONTESTANTS, tapeOf } from './contestants.js';

const CONSTANT = [0.5, 0.5, 0.5];

/** What everybody earned with the same people: f32 [n, 6], by CONTESTANTS. */
export type Earned = readonly Float32Array[];

/** Plays every contestant with each of these people. @param seeds u32 [numEnvs]: who they are, and their luck. */
export function playAll(env: VecEnv, seeds: Uint32Array): Earned {
  return CONTESTANTS.map(({ acting, believing }) => {
    const result = believing === 'inference' ? watch(env, acting, seeds) : run(env, acting, believing, seeds);
    return result.components.slice();
  });
}

function run(env: VecEnv, acting: Acting, believing: Believing, seeds: Uint32Array): Outputs {
  env.reset({ seed: seeds });
  const tape = tapeOf(acting);
  const choice =
    tape === null ? (acting as 'random' | 'heuristic') : repeatTape(blindTape(tape), env.numEnvs);
  return env.run(choice, believing === 'constant' ? { beliefs: CONSTANT } : {});
}

/** The same actions, watched: the last belief is the one that is graded, so only that one is asked for. */
function watch(env: VecEnv, acting: Acting, seeds: Uint32Array): Outputs {
  const inference = new Inference(env.world, env.numEnvs);
  const act = actor(env, acting, seeds);
  let result = env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS - 1; step++) {
    inference.observe(result.observations);
    result = env.step(act(result.observations, step));
  }
  inference.observe(result.observations);
  return env.step(act(result.observations, NUM_STEPS - 1), { beliefs: inference.beliefs() });
}

/** Chooses as a call of `run` does. */
function actor({ world, numEnvs }: VecEnv, acting: Acting, seeds: Uint32Array) {
  const { params } = world;
  const grader = tapeOf(acting);
  const tape = grader === null ? null : blindTape(grader);
  return (observations: Float32Array, step: number): Uint8Array =>
    Uint8Array.from({ length: numEnvs }, (_, i) => {
      if (tape !== null) return tape[step];
      if (acting === 'random') return randomAction(params, seeds[i], step, 0);
      const at = i * OBSERVATION_SIZE;
      const meters = observations.subarray(at + OBSERVATION.meters, at + OBSERVATION.meters + NUM_METERS);
      return heuristicAction(params, observations[at + OBSERVATION.slot], meters);
    });
}
