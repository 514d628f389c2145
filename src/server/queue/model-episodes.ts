/** The finished episodes of a language model's shard. Each is in Redis as soon as it ends. */
import { type CompactEpisode, toCompact } from '../../rollouts/trajectories/compact-episode.js';
import type { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeKey } from '../../rollouts/trajectories/write-line.js';
import type { Queue } from './job-store.js';
import { episodesKey } from './keys.js';
import { compress, decompress } from './serve-shards.js';

export class ModelEpisodes {
  readonly #redis: Queue['redis'];
  readonly #key: string;
  readonly #stored: Set<string>;

  private constructor(redis: Queue['redis'], key: string, stored: readonly string[]) {
    this.#redis = redis;
    this.#key = key;
    this.#stored = new Set(stored);
  }

  /** Reads which episodes of a shard are stored. */
  static async open({ redis, prefix }: Queue, name: string, index: number): Promise<ModelEpisodes> {
    const key = episodesKey(prefix, name, index);
    return new ModelEpisodes(redis, key, await redis.hkeys(key));
  }

  /** Returns whether an episode is stored. @param key as `episodeKey` returns it. */
  has(key: string): boolean {
    return this.#stored.has(key);
  }

  get size(): number {
    return this.#stored.size;
  }

  /** Stores an episode, unless it is stored. */
  async add(episode: TrajectoryEpisode): Promise<void> {
    const key = episodeKey(episode);
    const value = compress(Buffer.from(JSON.stringify(toCompact(episode))));
    await this.#redis.hsetnx(this.#key, key, value);
    this.#stored.add(key);
  }

  /** Returns the stored episodes, in the order of their seeds. */
  async all(): Promise<CompactEpisode[]> {
    const values = Object.entries(await this.#redis.hgetallBuffer(this.#key)).sort();
    return values
      .map(([, value]) => JSON.parse(decompress(value).toString()) as CompactEpisode)
      .sort((one, other) => one.seed - other.seed);
  }

  /** Yields the stored episodes as whole ones. */
  async *read(replayer: EpisodeReplayer): AsyncGenerator<TrajectoryEpisode> {
    if (this.size > 0) yield* await replayer.fromCompact(await this.all());
  }
}
