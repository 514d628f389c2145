/** Plays whole episodes for tests of inference. */

import type { Inference } from '../../src/agents/inference/inference.js';
import { heuristicAction, randomAction } from '../../src/engine/reference/baselines.js';
import { createVecEnv } from '../../src/index.js';
import { NUM_METERS, NUM_SLOTS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../src/world/fields.js';
import type { World } from '../../src/world/world.js';

export type Actor = 'heuristic' | 'random';

/** Observations after the reset and each step, 29 arrays f32 [numEnvs, 22], and belief targets, f32 [numEnvs, 3]. */
export interface PlayedEpisodes {
  readonly observations: readonly Float32Array[];
  readonly targets: Float32Array;
}

interface EpisodeChoice {
  readonly numEnvs: number;
  readonly seed: number;
  readonly actor?: Actor;
}

/** Plays episodes with seeds from `seed` on. */
export function playObservedEpisodes(
  world: World,
  { numEnvs, seed, actor = 'heuristic' }: EpisodeChoice,
): PlayedEpisodes {
  using env = createVecEnv({ numEnvs, world: world.spec });
  const observations = [env.reset({ seed }).observations.slice()];
  for (let step = 0; step < NUM_STEPS; step++) {
    const actions = Uint8Array.from({ length: numEnvs }, (_, i) => {
      if (actor === 'random') return randomAction(world.params, seed + i, step, 0);
      const from = i * OBSERVATION_SIZE + OBSERVATION.meters;
      return heuristicAction(
        world.params,
        step % NUM_SLOTS,
        observations[step].subarray(from, from + NUM_METERS),
      );
    });
    observations.push(env.step(actions).observations.slice());
  }
  return { observations, targets: env.beliefTargets() };
}

/** Passes the observations of steps `first` to `end` - 1 to an inference. */
export function observeAll(
  inference: Inference,
  observations: readonly Float32Array[],
  first = 0,
  end = observations.length,
): Inference {
  for (const rows of observations.slice(first, end)) inference.observe(rows);
  return inference;
}

/** Returns one environment's observation of each step. */
export const rowsOfEnv = (observations: readonly Float32Array[], i: number): Float32Array[] =>
  observations.map((rows) => rows.slice(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE));

/** Returns the mean absolute error of beliefs. */
export const meanError = (beliefs: Float32Array, targets: Float32Array): number =>
  beliefs.reduce((sum, belief, at) => sum + Math.abs(belief - targets[at]), 0) / targets.length;
