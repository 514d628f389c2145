/** Results of replayed episodes: computed by an engine, or stored by a shard. */

import type { Grader } from '../../engine/graders/grader.js';
import {
  BaselinePlayer,
  type Graded,
  gradeResults,
  PAIRED_BASELINES,
  pickEpisodes,
} from '../../evaluation/reevaluation/baselines.js';
import { type Mismatch, TrajectoryReplayer } from '../../evaluation/reevaluation/trajectory-replayer.js';
import type { ReplayEngine } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';

/** The results of one episode, as `encodeArrays` of shared/array-json.ts accepts them. */
export interface EpisodeResult {
  readonly mismatches: readonly Mismatch[];
  readonly graded: Graded;
  /** Results of PAIRED_BASELINES by name; empty without baselines. */
  readonly baselines: Readonly<Record<string, Graded>>;
}

/** A source of the results of replayed episodes: `PlayedResults` or `StoredResults`. */
export interface ResultSource extends AsyncDisposable {
  /** Returns the results of episodes, in their order. */
  resultsOf(episodes: readonly TrajectoryEpisode[]): Promise<EpisodeResult[]>;
}

/** Replays episodes and plays the baselines. */
export class PlayedResults implements ResultSource {
  readonly #grader: Grader;
  readonly #replayer: TrajectoryReplayer;
  readonly #baselines: BaselinePlayer | null;

  private constructor(grader: Grader, replayer: TrajectoryReplayer, baselines: BaselinePlayer | null) {
    this.#grader = grader;
    this.#replayer = replayer;
    this.#baselines = baselines;
  }

  /** Opens the replayer. @param baselines whether `resultsOf` also plays the baselines. @throws as `createVecEnv`. */
  static async open(
    grader: Grader,
    engine: ReplayEngine,
    { baselines }: { readonly baselines: boolean },
  ): Promise<PlayedResults> {
    const replayer = await TrajectoryReplayer.open(engine);
    return new PlayedResults(grader, replayer, baselines ? new BaselinePlayer(engine) : null);
  }

  async resultsOf(episodes: readonly TrajectoryEpisode[]): Promise<EpisodeResult[]> {
    if (episodes.length === 0) return [];
    const { mismatches, ...replayed } = await this.#replayer.replay(episodes);
    const graded = gradeResults(replayed, this.#grader);
    const played = await this.#baselines?.play(episodes, this.#grader);
    const names = played === undefined ? [] : Object.values(PAIRED_BASELINES);
    return episodes.map((_, i) => ({
      mismatches: mismatches[i],
      graded: pickEpisodes(graded, [i]),
      baselines: Object.fromEntries(names.map((name) => [name, pickEpisodes(played!.get(name)!, [i])])),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replayer[Symbol.asyncDispose]();
    await this.#baselines?.[Symbol.asyncDispose]();
  }
}

/** Holds the results of episodes until the episodes are garbage-collected. */
export class StoredResults implements ResultSource {
  readonly #results = new WeakMap<TrajectoryEpisode, EpisodeResult>();

  /** Stores the result of an episode. */
  store(episode: TrajectoryEpisode, result: EpisodeResult): void {
    this.#results.set(episode, result);
  }

  /** Returns the stored results of episodes. @throws Error for an episode without a result. */
  async resultsOf(episodes: readonly TrajectoryEpisode[]): Promise<EpisodeResult[]> {
    return episodes.map((episode) => {
      const result = this.#results.get(episode);
      if (result !== undefined) return result;
      throw new Error(
        `Expected the result of seed ${episode.seed} in a shard, got none. Compute the shard again.`,
      );
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
