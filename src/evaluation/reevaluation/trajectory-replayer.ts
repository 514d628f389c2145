/** Replays stored episodes in batches and compares every number with the stored number. */

import type { AnyVecEnv } from '../../engine/node.js';
import { ResizableAnyEnv } from '../../rollouts/resizable-env.js';
import { prompts } from '../../rollouts/text/prompt.js';
import { episodeEndAt } from '../../rollouts/trajectories/episode-recorder.js';
import { type ReplayEngine, resetTo } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { codeOf, EpisodeComparison } from './episode-comparison.js';
import type { Mismatch } from './mismatch.js';

/**
 * The results of n episodes that depend on no grader, newly allocated: components f32 [n, 8], row-major; the others f32 [n].
 */
export interface ComponentResults {
  readonly components: Float32Array;
  readonly beliefMae: Float32Array;
  readonly firstHalfMeans: Float32Array;
  readonly secondHalfMeans: Float32Array;
}

/** The results of a replay. */
export interface Replayed extends ComponentResults {
  /** [n]: mismatches of each episode. */
  readonly mismatches: readonly (readonly Mismatch[])[];
}

/** Replays the recorded actions and beliefs of episodes in batches. */
export class TrajectoryReplayer implements AsyncDisposable {
  readonly #envs: ResizableAnyEnv;
  /** An environment with the replay's backend, kernel and threads, for `describeRun`. */
  readonly env: AnyVecEnv;

  private constructor(envs: ResizableAnyEnv, env: AnyVecEnv) {
    this.#envs = envs;
    this.env = env;
  }

  /** Opens an environment, to report a missing backend before any file is read. @throws as `createVecEnv`. */
  static async open({ backend, kernel, threads }: ReplayEngine): Promise<TrajectoryReplayer> {
    const envs = new ResizableAnyEnv({ backend, kernel, threads, observation: { history: true } });
    return new TrajectoryReplayer(envs, await envs.of(1));
  }

  /** Replays episodes. @param episodes at least one. @throws as `createVecEnv`. */
  async replay(episodes: readonly TrajectoryEpisode[]): Promise<Replayed> {
    const env = await this.#envs.of(episodes.length);
    let result = await resetTo(env, episodes);
    const comparisons = episodes.map((episode) => new EpisodeComparison(episode));
    for (let t = 0; t < NUM_STEPS; t++) {
      compareSteps(t, comparisons, episodes, result.observations);
      const { actions, beliefs } = inputsOf(episodes, t);
      result = await env.step(actions, { beliefs });
      for (const [i, comparison] of comparisons.entries()) comparison.compareReward(t, result.rewards[i]);
    }
    for (const [i, comparison] of comparisons.entries()) comparison.compareEnd(episodeEndAt(result, i));
    return {
      mismatches: comparisons.map(({ mismatches }) => mismatches),
      components: result.components.slice(),
      beliefMae: result.beliefMae.slice(),
      firstHalfMeans: result.firstHalfMeans.slice(),
      secondHalfMeans: result.secondHalfMeans.slice(),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#envs[Symbol.asyncDispose]();
  }
}

/**
 * Compares observation, prompt, action and belief of step t in all episodes.
 * @param observations f32 [n, width], with their history.
 */
function compareSteps(
  t: number,
  comparisons: readonly EpisodeComparison[],
  episodes: readonly TrajectoryEpisode[],
  observations: Float32Array,
): void {
  const hasPrompts = episodes.some(({ steps }) => steps[t].prompt !== null);
  const replayedPrompts = hasPrompts ? prompts(observations) : null;
  const width = observations.length / episodes.length;
  for (const [i, comparison] of comparisons.entries())
    comparison.compareStep(t, observations, i * width, replayedPrompts?.[i] ?? null);
}

/** Returns the actions u8 [n] and beliefs f32 [n, 3] of step t. A row of three NaN states no belief. */
function inputsOf(episodes: readonly TrajectoryEpisode[], t: number) {
  const beliefs = new Float32Array(episodes.length * NUM_BELIEFS).fill(Number.NaN);
  for (const [i, { steps }] of episodes.entries()) {
    const { belief } = steps[t];
    if (belief !== null) beliefs.set(belief, i * NUM_BELIEFS);
  }
  return { actions: Uint8Array.from(episodes, ({ steps }) => codeOf(steps[t])), beliefs };
}
