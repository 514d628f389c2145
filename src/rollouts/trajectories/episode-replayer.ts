/** Computes whole episodes from their compact form (compact-episode.ts) by replays, in batches. */
import { floatsOf } from '../../engine/graders/grader.js';
import type { Env } from '../../engine/vec-env/async-vec-env.js';
import type { EngineOptions, StepResult } from '../../engine/vec-env/vec-env-options.js';
import { ACTION_NAMES, NUM_BELIEFS, NUM_STEPS, OBSERVATION_SIZE } from '../../world/fields.js';
import { ResizableAnyEnv } from '../resizable-env.js';
import { type Prompt, prompts } from '../text/prompt.js';
import { systemText } from '../text/prompt-text.js';
import { type CompactEpisode, lineOf, toCompact } from './compact-episode.js';
import { EpisodeRecorder, episodeEndAt } from './episode-recorder.js';
import { type PlayedMove, reasoningIn } from './move.js';
import type { StoredBelief, StoredFinal, TrajectoryEpisode } from './trajectory-episode.js';
import { parseEpisode } from './trajectory-lines.js';

/** The engine of a replay. It does not change the results. */
export type ReplayEngine = EngineOptions;

/** The maximum number of episodes that are replayed at once. Chosen by hand: a whole episode takes about 50 kB. */
const MAX_BATCH = 256;

/** Replays episodes in environments, which it opens when they are needed. Dispose of it to close them. */
export class EpisodeReplayer implements AsyncDisposable {
  readonly #envs: ResizableAnyEnv;

  /** Opens nothing before the first replay. */
  constructor({ backend, kernel, threads }: ReplayEngine = {}) {
    this.#envs = new ResizableAnyEnv({ backend, kernel, threads, observation: { history: true } });
  }

  /**
   * Returns whole episodes. `episodeLine` (trajectory-lines.ts) gives the line of the original
   * episode, byte for byte. `final` has the recorded results, so that `reeval` can compare them with those of a replay.
   * @param compact any number of episodes, from `toCompact` or `parseCompact`. @throws as `createVecEnv`.
   */
  async fromCompact(compact: readonly CompactEpisode[]): Promise<TrajectoryEpisode[]> {
    const episodes: TrajectoryEpisode[] = [];
    for (let first = 0; first < compact.length; first += MAX_BATCH) {
      episodes.push(...(await this.#replay(compact.slice(first, first + MAX_BATCH))));
    }
    return episodes;
  }

  /**
   * Returns episodes in compact form. If the replay of an episode differs, for example because its line was edited, the
   * compact form contains the line, so that nothing is lost. @throws as `createVecEnv`.
   */
  async toCompact(episodes: readonly TrajectoryEpisode[]): Promise<CompactEpisode[]> {
    const compact = episodes.map(toCompact);
    const replayed = await this.fromCompact(compact);
    return compact.map((each, i) => {
      const line = lineOf(episodes[i]);
      return line === lineOf(replayed[i]) ? each : { ...each, line };
    });
  }

  async #replay(compact: readonly CompactEpisode[]): Promise<TrajectoryEpisode[]> {
    const env = await this.#envs.of(compact.length);
    const builders = compact.map((each) => new EpisodeBuilder(env, each));
    const moveAt = ({ actions, beliefs, completions }: CompactEpisode, t: number) =>
      ({ action: actions[t], belief: beliefs[t], hasPrompt: completions !== null }) as const;
    let end: StepResult | null = null;
    for await (const { rows, prompts, result } of replayMoves(env, compact, moveAt)) {
      for (const [i, builder] of builders.entries()) {
        const observation = rows[i].subarray(0, OBSERVATION_SIZE);
        builder.step(observation, prompts?.[i][1].content ?? null, result.rewards[i]);
      }
      end = result;
    }
    return builders.map((builder, i) => builder.end(end!, i));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#envs[Symbol.asyncDispose]();
  }
}

/** Builds a whole episode from a compact episode while it is replayed. */
class EpisodeBuilder {
  readonly #compact: CompactEpisode;
  readonly #recorder: EpisodeRecorder;
  readonly #system: string | null;
  #t = 0;

  constructor({ world }: Env, compact: CompactEpisode) {
    const { condition, profile_mode: profileMode, seed, grader, sampling } = compact;
    const start = { player: compact, condition, profileMode, seed, grader, sampling };
    this.#compact = compact;
    this.#recorder = new EpisodeRecorder(world, start);
    this.#system = compact.completions && systemText(grader);
  }

  /** Records the next step. @param user the user message of its prompt, for episodes with prompts. */
  step(observation: Float32Array, user: string | null, reward: number): void {
    this.#recorder.step(observation, this.#moveAt(this.#t++, user), reward);
  }

  #moveAt(t: number, user: string | null): PlayedMove {
    const { actions, beliefs, parsed, completions, reasoning } = this.#compact;
    const completion = completions?.[t] ?? null;
    const belief = beliefs[t];
    return {
      action: ACTION_NAMES.indexOf(actions[t]),
      parsed: parsed[t],
      belief: belief && Float32Array.from(belief),
      system: completion === null ? null : this.#system,
      prompt: completion === null ? null : user,
      completion,
      reasoning: (completion === null ? null : reasoningIn(completion)) ?? reasoning?.[t] ?? null,
      usage: null,
    };
  }

  /** Returns the episode of environment i, or that of the line that its compact form contains. */
  end(result: StepResult, i: number): TrajectoryEpisode {
    const { version, world_digest, final, usage, line } = this.#compact;
    if (line !== undefined) return parseEpisode(line);
    const { sampling, hidden, ...episode } = this.#recorder.end(episodeEndAt(result, i));
    return {
      ...episode,
      ...{ version, world_digest, final: roundedFinal(final) },
      ...(usage && { usage }),
      ...(sampling && { sampling }),
      hidden,
    };
  }
}

const roundedFinal = (final: StoredFinal): StoredFinal =>
  Object.fromEntries(
    Object.entries(final).map(([name, value]) => [name, Math.fround(value)]),
  ) as unknown as StoredFinal;

/** A recorded move, and whether its prompt is needed. */
interface RecordedMove {
  /** The name of the action. */
  readonly action: string;
  readonly belief: StoredBelief | null;
  readonly hasPrompt: boolean;
}

/** A step of n replayed episodes. */
interface ReplayedStep {
  /** [n]: the observations before the step, with their histories. */
  readonly rows: readonly Float32Array[];
  /** [n]: the prompts of these observations; null if no move needs its prompt. */
  readonly prompts: readonly Prompt[] | null;
  readonly result: StepResult;
}

/**
 * Replays the moves of episodes, and yields each step.
 * @param env an environment for each episode, whose observations have histories. @param moveAt returns the move of step t.
 */
export async function* replayMoves<
  Episode extends Pick<TrajectoryEpisode, 'seed' | 'profile_mode' | 'grader'>,
>(
  env: Env,
  episodes: readonly Episode[],
  moveAt: (episode: Episode, t: number) => RecordedMove,
): AsyncGenerator<ReplayedStep> {
  const graders = Float32Array.from(episodes.flatMap(({ grader }) => [...floatsOf(grader.weights)]));
  let { observations } = await env.reset({
    seed: Uint32Array.from(episodes, ({ seed }) => seed),
    profiles: episodes.map(({ profile_mode }) => profile_mode),
    graders,
  });
  for (let t = 0; t < NUM_STEPS; t++) {
    const before = observations.slice();
    const width = before.length / episodes.length;
    const moves = episodes.map((episode) => moveAt(episode, t));
    const beliefs = new Float32Array(moves.length * NUM_BELIEFS).fill(Number.NaN);
    for (const [i, { belief }] of moves.entries()) if (belief !== null) beliefs.set(belief, i * NUM_BELIEFS);
    const actions = Uint8Array.from(moves, ({ action }) => ACTION_NAMES.indexOf(action));
    const result = await env.step(actions, { beliefs });
    yield {
      rows: episodes.map((_, i) => before.subarray(i * width, (i + 1) * width)),
      prompts: moves.some(({ hasPrompt }) => hasPrompt) ? prompts(before) : null,
      result,
    };
    observations = result.observations;
  }
}
