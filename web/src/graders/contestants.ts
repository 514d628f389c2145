/** Who is ranked: four ways to act, each with three ways to believe, all on the same people. */

import type { Outputs } from '../../../src/backends/backend.js';
import { Inference } from '../../../src/policies/inference/inference.js';
import { blindTape, repeatTape } from '../../../src/policies/tapes.js';
import { heuristicAction, randomAction } from '../../../src/reference/baselines.js';
import type { VecEnv } from '../../../src/vec-env/vec-env.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';

/** Says nothing of the person, says the middle of everything, or infers from what it sees. */
export type Believing = 'none' | 'constant' | 'inference';

export interface Contestant {
  readonly name: string;
  /** What it does. */
  readonly actions: string;
  readonly believing: Believing;
}

const TAPE = 'blind-tape-';
const ACTIONS = ['random', 'heuristic', `${TAPE}v1`, `${TAPE}v2`] as const;
type Acting = (typeof ACTIONS)[number];
type Tape = Extract<Acting, `${typeof TAPE}${string}`>;
const isTape = (acting: string): acting is Tape => acting.startsWith(TAPE);
const BELIEVING: readonly Believing[] = ['none', 'constant', 'inference'];
const CONSTANT = [0.5, 0.5, 0.5];

/** In the order in which the engine's tables show them. */
export const CONTESTANTS: readonly Contestant[] = BELIEVING.flatMap((believing) =>
  ACTIONS.map((actions) => ({
    name: believing === 'none' ? actions : `${actions}+${believing}`,
    actions,
    believing,
  })),
);

export const contestant = (name: string): Contestant => CONTESTANTS.find((each) => each.name === name)!;

export const isBlind = ({ actions }: Contestant): boolean => isTape(actions);

/** What everybody earned with the same people: f32 [n, 6], by CONTESTANTS. */
export type Earned = readonly Float32Array[];

/** Plays every contestant with each of these people. @param seeds u32 [numEnvs]: who they are, and their luck. */
export function playAll(env: VecEnv, seeds: Uint32Array): Earned {
  return CONTESTANTS.map(({ actions, believing }) => {
    const acting = actions as Acting;
    const result = believing === 'inference' ? watch(env, acting, seeds) : run(env, acting, believing, seeds);
    return result.components.slice();
  });
}

function run(env: VecEnv, acting: Acting, believing: Believing, seeds: Uint32Array): Outputs {
  env.reset({ seed: seeds });
  const choice = isTape(acting) ? repeatTape(tapeOf(acting), env.numEnvs) : acting;
  return env.run(choice, believing === 'constant' ? { beliefs: CONSTANT } : {});
}

const tapeOf = (acting: Tape): Uint8Array => blindTape(acting.slice(TAPE.length));

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
  const tape = isTape(acting) ? tapeOf(acting) : null;
  return (observations: Float32Array, step: number): Uint8Array =>
    Uint8Array.from({ length: numEnvs }, (_, i) => {
      if (tape !== null) return tape[step];
      if (acting === 'random') return randomAction(params, seeds[i], step, 0);
      const at = i * OBSERVATION_SIZE;
      const meters = observations.subarray(at + OBSERVATION.meters, at + OBSERVATION.meters + NUM_METERS);
      return heuristicAction(params, observations[at + OBSERVATION.slot], meters);
    });
}
