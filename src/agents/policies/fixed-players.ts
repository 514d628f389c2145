/** Players of the fixed policies (random, heuristic, open-loop), which every backend can also play in one call. */

import type { EpisodeStarts, PolicyPlayer, PolicySetting, PolicyView } from '../../engine/policy/policy.js';
import { heuristicAction, randomAction } from '../../engine/reference/baselines.js';
import { NUM_METERS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';
import { openLoopActions, sequenceGraderUnder } from './open-loop.js';

/** The actions and beliefs of a fixed policy. */
export interface FixedActions {
  /** u8 [n]: codes. Newly allocated. */
  readonly actions: Uint8Array;
  /** f32 [n, 3], newly allocated; null without beliefs. */
  readonly beliefs: Float32Array | null;
}

/** A player of a fixed policy. Its methods return no promises. */
export interface FixedPlayer extends PolicyPlayer {
  reset(episodes: EpisodeStarts): void;
  act(view: PolicyView): FixedActions;
  reasons?(i: number): string;
  [Symbol.dispose](): void;
}

/** Returns a player that computes the action of one environment at a time. */
const playerOf = (
  action: (view: PolicyView, i: number) => number,
  reset: FixedPlayer['reset'] = () => {},
): FixedPlayer => ({
  reset,
  act: (view) => ({ actions: Uint8Array.from(view.steps, (_, i) => action(view, i)), beliefs: null }),
  [Symbol.dispose]() {},
});

/** The default seed of policies in `VecEnv.run`. */
const POLICY_SEED = 0;

/** Opens the random policy. The player draws the actions that `VecEnv.run('random')` draws in episodes with the same seeds. */
export function randomPlayer({ numEnvs, world }: PolicySetting): FixedPlayer {
  const seeds = new Uint32Array(numEnvs);
  return playerOf(
    ({ steps }, i) => randomAction(world.params, seeds[i], steps[i], POLICY_SEED),
    (episodes) => {
      for (const [i, begins] of episodes.mask.entries()) if (begins === 1) seeds[i] = episodes.seeds[i];
    },
  );
}

/** Opens the heuristic policy. */
export const heuristicPlayer = ({ world }: PolicySetting): FixedPlayer =>
  playerOf(({ observations }, i) => {
    const at = i * OBSERVATION_SIZE;
    const meters = observations.subarray(at + OBSERVATION.meters, at + OBSERVATION.meters + NUM_METERS);
    return heuristicAction(world.params, observations[at + OBSERVATION.slot], meters);
  });

/** Opens the open-loop policy of a grader, or of v2 if the grader has no sequence. */
export function openLoopPlayer({ grader }: PolicySetting): FixedPlayer {
  // '' names no grader.
  const actions = openLoopActions(sequenceGraderUnder(grader?.name ?? ''));
  // After the 28th step the sequence has no action. The caller ignores the 0 that is returned for such an environment.
  return playerOf(({ steps }, i) => actions[steps[i]] ?? 0);
}
