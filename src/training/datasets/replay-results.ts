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

/** Results of episodes, in their order. */
export interface ReplayResults {
  readonly mismatches: readonly (readonly Mismatch[])[];
  readonly graded: Graded;
  /** Results of PAIRED_BASELINES by name; empty without baselines. */
  readonly baselines: ReadonlyMap<string, Graded>;
}

/** A source of the results of replayed episodes: `PlayedResults` or `StoredResults`. */
export interface ResultSource extends AsyncDisposable {
  /** Returns the results of episodes. @param episodes at least one. */
  resultsOf(episodes: readonly TrajectoryEpisode[]): Promise<ReplayResults>;
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

  async resultsOf(episodes: readonly TrajectoryEpisode[]): Promise<ReplayResults> {
    const { mismatches, ...replayed } = await this.#replayer.replay(episodes);
    const graded = gradeResults(replayed, this.#grader);
    const played = await this.#baselines?.play(episodes, this.#grader);
    const paired =
      played && Object.values(PAIRED_BASELINES).map((name) => [name, played.get(name)!] as const);
    return { mismatches, graded, baselines: new Map(paired) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replayer[Symbol.asyncDispose]();
    await this.#baselines?.[Symbol.asyncDispose]();
  }
}

/** The results of one episode, as `encodeArrays` of shared/array-json.ts accepts them. */
export interface EpisodeResult {
  readonly mismatches: readonly Mismatch[];
  readonly graded: Graded;
  readonly baselines: Readonly<Record<string, Graded>>;
}

/** Returns the results of the episode at an index. */
export const resultAt = ({ mismatches, graded, baselines }: ReplayResults, i: number): EpisodeResult => ({
  mismatches: mismatches[i],
  graded: pickEpisodes(graded, [i]),
  baselines: Object.fromEntries(Array.from(baselines, ([name, each]) => [name, pickEpisodes(each, [i])])),
});

/** Holds the results of episodes until the episodes are garbage-collected. */
export class StoredResults implements ResultSource {
  readonly #results = new WeakMap<TrajectoryEpisode, EpisodeResult>();

  /** Stores the result of an episode. */
  store(episode: TrajectoryEpisode, result: EpisodeResult): void {
    this.#results.set(episode, result);
  }

  /** Returns the stored results of episodes. @throws Error for an episode without a result. */
  async resultsOf(episodes: readonly TrajectoryEpisode[]): Promise<ReplayResults> {
    const results = episodes.map((episode) => this.#resultOf(episode));
    const names = Object.keys(results[0].baselines);
    return {
      mismatches: results.map(({ mismatches }) => mismatches),
      graded: joined(results.map(({ graded }) => graded)),
      baselines: new Map(
        names.map((name) => [name, joined(results.map(({ baselines }) => baselines[name]))]),
      ),
    };
  }

  #resultOf(episode: TrajectoryEpisode): EpisodeResult {
    const result = this.#results.get(episode);
    if (result !== undefined) return result;
    throw new Error(
      `Expected the result of seed ${episode.seed} in a shard, got none. Compute the shard again.`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Concatenates the results of episodes. */
function joined(all: readonly Graded[]): Graded {
  const join = (field: keyof Graded): Float32Array => {
    const parts = all.map((graded) => graded[field]);
    const values = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    for (const part of parts) {
      values.set(part, end);
      end += part.length;
    }
    return values;
  };
  return {
    components: join('components'),
    beliefMae: join('beliefMae'),
    firstHalfMeans: join('firstHalfMeans'),
    secondHalfMeans: join('secondHalfMeans'),
    finalScores: join('finalScores'),
  };
}
