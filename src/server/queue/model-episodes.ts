/** The finished episodes of a language model's shard. Each is in Redis as soon as it ends. */
import { type CompactEpisode, toCompact } from '../../rollouts/trajectories/compact-episode.js';
import type { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeKey } from '../../rollouts/trajectories/write-line.js';
import type { Queue } from './job-store.js';
import { episodesKey, jobKeys, type ShardData } from './keys.js';
import { QueueError } from './queue-error.js';
import { ADD_EPISODE } from './scripts.js';
import { compress, decompress } from './serve-shards.js';

export class ModelEpisodes {
  readonly #queue: Queue;
  readonly #shard: ShardData;
  /** The episodes as Redis has them, by `episodeKey`. */
  readonly #stored: Map<string, CompactEpisode>;

  private constructor(queue: Queue, shard: ShardData, stored: Map<string, CompactEpisode>) {
    this.#queue = queue;
    this.#shard = shard;
    this.#stored = stored;
  }

  /** Reads the stored episodes of a shard. */
  static async open(queue: Queue, shard: ShardData): Promise<ModelEpisodes> {
    const { redis, prefix } = queue;
    const values = Object.entries(await redis.hgetallBuffer(episodesKey(prefix, shard)));
    return new ModelEpisodes(queue, shard, new Map(values.map(([key, value]) => [key, parse(value)])));
  }

  /** Returns whether an episode is stored. @param key as `episodeKey` returns it. */
  has(key: string): boolean {
    return this.#stored.has(key);
  }

  /**
   * Stores an episode. If another worker has stored it already, that one counts.
   * @throws QueueError if the shard is finished, or its job has ended.
   */
  async add(episode: TrajectoryEpisode): Promise<void> {
    const { redis, prefix } = this.#queue;
    const { job, submission, index } = this.#shard;
    const keys = [jobKeys(prefix, job).job, jobKeys(prefix, job).results, episodesKey(prefix, this.#shard)];
    const key = episodeKey(episode);
    const args = [submission, index, key, compress(Buffer.from(JSON.stringify(toCompact(episode))))];
    const stored = await redis.callBuffer('EVAL', ADD_EPISODE, keys.length, ...keys, ...args);
    if (stored === null) {
      throw new QueueError(`Expected shard ${index} of ${job} to lack episodes, got a finished shard.`);
    }
    this.#stored.set(key, parse(stored as Buffer));
  }

  /** Returns the stored episodes, in the order of their seeds. */
  all(): CompactEpisode[] {
    const sorted = [...this.#stored].sort(([one], [other]) => (one < other ? -1 : 1));
    return sorted.map(([, episode]) => episode).sort((one, other) => one.seed - other.seed);
  }

  /** Yields the stored episodes as whole ones. */
  async *read(replayer: EpisodeReplayer): AsyncGenerator<TrajectoryEpisode> {
    if (this.#stored.size > 0) yield* await replayer.fromCompact(this.all());
  }
}

const parse = (value: Buffer): CompactEpisode => JSON.parse(decompress(value).toString());
