/** The finished episodes of a language model's shard. Each is in Redis as soon as it ends. */
import { type CompactEpisode, toCompact } from '../../rollouts/trajectories/compact-episode.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeKey } from '../../rollouts/trajectories/write-line.js';
import type { Queue } from './job-store.js';
import { jobKeys } from './keys.js';
import { compress, decompress } from './serve-shards.js';

export class ModelEpisodes {
  readonly #queue: Queue;
  readonly #name: string;
  readonly #keys: readonly string[];
  readonly #stored: Set<string>;

  private constructor(queue: Queue, name: string, keys: readonly string[], stored: Set<string>) {
    this.#queue = queue;
    this.#name = name;
    this.#keys = keys;
    this.#stored = stored;
  }

  /** Reads which episodes of a shard are stored. @param keys of its episodes, as `episodeKey` returns them, in order. */
  static async open(queue: Queue, name: string, keys: readonly string[]): Promise<ModelEpisodes> {
    const { episodes } = jobKeys(queue.prefix, name);
    const values = await queue.redis.hmgetBuffer(episodes, ...keys);
    const stored = new Set(keys.filter((_, i) => values[i] !== null));
    return new ModelEpisodes(queue, name, keys, stored);
  }

  /** Returns whether an episode is stored. */
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
    await this.#queue.redis.hsetnx(jobKeys(this.#queue.prefix, this.#name).episodes, key, value);
    this.#stored.add(key);
  }

  /** Returns the episodes in order. */
  async all(): Promise<CompactEpisode[]> {
    const { episodes } = jobKeys(this.#queue.prefix, this.#name);
    const values = await this.#queue.redis.hmgetBuffer(episodes, ...this.#keys);
    return values.map((value) => JSON.parse(decompress(value!).toString()));
  }
}
