/** Stored episodes, played again together and compared with what they say. */
import { EnvOfSize } from '../evaluate/env-of-size.js';
import { floatsOf } from '../graders/grader.js';
import { prompts } from '../text/prompt.js';
import type { TrajectoryEpisode } from '../trajectory/episode.js';
import { endAt } from '../trajectory/episode-recorder.js';
import type { StepResult, VecEnvOptions } from '../vec-env/options.js';
import type { VecEnv } from '../vec-env.js';
import { NUM_BELIEFS, NUM_COMPONENTS, NUM_STEPS } from '../world/fields.js';
import { codeOf, EpisodeReplay } from './episode-replay.js';
import type { Mismatch } from './mismatch.js';

/** How to compute: changes no result. */
export type Engine = Pick<VecEnvOptions, 'backend' | 'kernel' | 'threads'>;

/** f32 of n episodes, row-major, newly allocated. */
export interface Earned {
  readonly components: Float32Array;
  readonly beliefMae: Float32Array;
  readonly earlyMeans: Float32Array;
  readonly lateMeans: Float32Array;
}

export interface Replayed extends Earned {
  /** [n]: what each episode says otherwise. */
  readonly mismatches: readonly (readonly Mismatch[])[];
}

/** Replays batches of episodes on one engine. What is played are the recorded actions and beliefs. */
export class TrajectoryReplayer implements Disposable {
  readonly #envs: EnvOfSize;

  /** @throws as `createVecEnv`. */
  constructor({ backend, kernel, threads }: Engine) {
    this.#envs = new EnvOfSize({ backend, kernel, threads, observation: { history: true } });
    // At once, so that a backend that is not there is known before anything is read.
    this.#envs.of(1);
  }

  /** Any that runs as the others do. */
  get env(): VecEnv {
    return this.#envs.of(1);
  }

  /** @param episodes at least one. @throws as `createVecEnv`. */
  replay(episodes: readonly TrajectoryEpisode[]): Replayed {
    const env = this.#envs.of(episodes.length);
    let result = begin(env, episodes);
    const replays = episodes.map((episode) => new EpisodeReplay(episode));
    for (let t = 0; t < NUM_STEPS; t++) {
      look(t, replays, episodes, result.observations);
      const { actions, beliefs } = movesOf(episodes, t);
      result = env.step(actions, { beliefs });
      for (const [i, replay] of replays.entries()) replay.earns(t, result.rewards[i]);
    }
    for (const [i, replay] of replays.entries()) replay.ends(endAt(result, i));
    return {
      mismatches: replays.map(({ comparison }) => comparison.mismatches),
      components: result.components.slice(),
      beliefMae: result.beliefMae.slice(),
      earlyMeans: result.earlyMeans.slice(),
      lateMeans: result.lateMeans.slice(),
    };
  }

  [Symbol.dispose](): void {
    this.#envs[Symbol.dispose]();
  }
}

function begin(env: VecEnv, episodes: readonly TrajectoryEpisode[]): StepResult {
  const graders = new Float32Array(episodes.length * NUM_COMPONENTS);
  for (const [i, { grader }] of episodes.entries()) {
    graders.set(floatsOf(grader.weights), i * NUM_COMPONENTS);
  }
  return env.reset({
    seed: Uint32Array.from(episodes, ({ seed }) => seed),
    profiles: episodes.map(({ profile_mode }) => profile_mode),
    graders,
  });
}

/** @param observations [n, width], with their history. */
function look(
  t: number,
  replays: readonly EpisodeReplay[],
  episodes: readonly TrajectoryEpisode[],
  observations: Float32Array,
): void {
  const wanted = episodes.some(({ steps }) => steps[t].prompt !== null);
  const asked = wanted ? prompts(observations) : null;
  const width = observations.length / episodes.length;
  for (const [i, replay] of replays.entries()) replay.sees(t, observations, i * width, asked?.[i] ?? null);
}

function movesOf(episodes: readonly TrajectoryEpisode[], t: number) {
  const beliefs = new Float32Array(episodes.length * NUM_BELIEFS).fill(Number.NaN);
  for (const [i, { steps }] of episodes.entries()) {
    const { belief } = steps[t];
    if (belief !== null) beliefs.set(belief, i * NUM_BELIEFS);
  }
  return { actions: Uint8Array.from(episodes, ({ steps }) => codeOf(steps[t])), beliefs };
}
