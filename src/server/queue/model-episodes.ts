/** The finished episodes of a shard of a language model's job. Each episode is stored in Redis as soon as it ends. */
import { type CompactEpisode, toCompact } from '../../rollouts/trajectories/compact-episode.js';
import type { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeKey } from '../../rollouts/trajectories/trajectory-lines.js';
import type { Queue } from './job-store.js';
import { episodesKey, jobKeys, type ShardData } from './keys.js';
import { QueueError } from './queue-error.js';
import { untilAccepted } from './redis-retry.js';
import { ADD_EPISODE } from './scripts.js';
import { compress, decompress } from './serve-shards.js';

/** The finished episodes of one shard: those that Redis had when the shard began, and those that ended since. */
export class ModelEpisodes {
  readonly #queue: Queue;
  readonly #shard: ShardData;
  /** The episodes as Redis has them or will have them, by `episodeKey`. */
  readonly #episodes: Map<string, CompactEpisode>;
  readonly #saving = new Set<Promise<void>>();
  #failure: Error | null = null;

  private constructor(queue: Queue, shard: ShardData, stored: Map<string, CompactEpisode>) {
    this.#queue = queue;
    this.#shard = shard;
    this.#episodes = stored;
  }

  /** Reads the stored episodes of a shard. */
  static async open(queue: Queue, shard: ShardData): Promise<ModelEpisodes> {
    const { redis, prefix } = queue;
    const values = Object.entries(await redis.hgetallBuffer(episodesKey(prefix, shard)));
    return new ModelEpisodes(queue, shard, new Map(values.map(([key, value]) => [key, parse(value)])));
  }

  /** Returns whether an episode has ended, stored or not yet stored. @param key as `episodeKey` returns it. */
  has(key: string): boolean {
    return this.#episodes.has(key);
  }

  /**
   * Begins to store an episode, and does not wait until it is stored; `saved` waits. So other episodes can end while Redis is
   * full, and no episode is lost. If another worker has already stored this episode, the stored episode replaces this one.
   * @throws QueueError if an earlier episode was refused, because the shard is finished or its job has ended; other errors of
   *   Redis.
   */
  async add(episode: TrajectoryEpisode): Promise<void> {
    const [key, compact] = [episodeKey(episode), toCompact(episode)];
    this.#episodes.set(key, compact);
    const saving: Promise<void> = this.#save(key, compact)
      .catch((error) => {
        this.#failure ??= error;
      })
      .finally(() => this.#saving.delete(saving));
    this.#saving.add(saving);
    if (this.#failure !== null) throw this.#failure;
  }

  async #save(key: string, episode: CompactEpisode): Promise<void> {
    const { redis, prefix } = this.#queue;
    const { job, submission, index } = this.#shard;
    const keys = [jobKeys(prefix, job).job, jobKeys(prefix, job).digests, episodesKey(prefix, this.#shard)];
    const args = [submission, index, key, compress(Buffer.from(JSON.stringify(episode)))];
    const stored = await untilAccepted(() =>
      redis.callBuffer('EVAL', ADD_EPISODE, keys.length, ...keys, ...args),
    );
    if (stored === null) {
      throw new QueueError(
        `Expected shard ${index} of ${job} to be unfinished, got a shard that has a result or whose job has ended. Nothing needs to be done.`,
      );
    }
    this.#episodes.set(key, parse(stored as Buffer));
  }

  /** Whether some episodes are not stored yet. */
  get isSaving(): boolean {
    return this.#saving.size > 0;
  }

  /** Waits until Redis has stored or refused every episode. */
  async saved(): Promise<void> {
    await Promise.all(this.#saving);
  }

  /** Returns the episodes, by seed and then by `episodeKey`. @throws as `add`. */
  all(): CompactEpisode[] {
    if (this.#failure !== null) throw this.#failure;
    const sorted = [...this.#episodes].sort(([one], [other]) => (one < other ? -1 : 1));
    return sorted.map(([, episode]) => episode).sort((one, other) => one.seed - other.seed);
  }

  /** Yields the episodes in full: replayed from their compact form. */
  async *read(replayer: EpisodeReplayer): AsyncGenerator<TrajectoryEpisode> {
    if (this.#episodes.size > 0) yield* await replayer.fromCompact(this.all());
  }
}

const parse = (value: Buffer): CompactEpisode => JSON.parse(decompress(value).toString());
