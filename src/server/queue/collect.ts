/** Collects the results of a job. */
import { createHash, randomUUID } from 'node:crypto';
import { BudgetError } from '../../agents/llm/llm-errors.js';
import { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import { CLOCK } from '../../shared/http/clock.js';
import {
  countResults,
  finishJob,
  noteSpent,
  type Queue,
  readDifferences,
  readJob,
  readResult,
  registerCollector,
  releaseCollector,
  type StoredJob,
} from './job-store.js';
import { QueueError } from './queue-error.js';
import { checkRows, rowsIn, unpackResult } from './result-codec.js';
import { decompress } from './serve-shards.js';
import { isOverBudget, readSpending } from './shared-ledger.js';
import { failedShards, missingJob } from './status.js';

/** Milliseconds that a collector is counted, and between the extensions of that time. */
const COLLECTOR_MS = 30_000;
const EXTEND_MS = 10_000;
/** Milliseconds between looks at the number of results: the first, and the longest. */
const POLL = { first: 50, last: 1000 };

/** A collector of one job. Its results stay in Redis until `finish`. */
export class Collector {
  readonly #queue: Queue;
  readonly #id = randomUUID();
  readonly #timer: NodeJS.Timeout;
  readonly job: StoredJob;

  private constructor(queue: Queue, job: StoredJob) {
    this.#queue = queue;
    this.job = job;
    this.#timer = setInterval(() => void this.#register().catch(() => {}), EXTEND_MS);
  }

  /** @throws QueueError if there is no such job, or if its results were removed. */
  static async open(queue: Queue, name: string): Promise<Collector> {
    const job = await readJob(queue, name);
    if (job === null) throw await missingJob(queue, name);
    const collector = new Collector(queue, job);
    await collector.#register();
    if (job.state === 'open' || (await collector.count()) === job.shards) return collector;
    await collector.close();
    throw ended(job);
  }

  #register(): Promise<void> {
    return registerCollector(this.#queue, this.job.name, this.#id, COLLECTOR_MS);
  }

  /** Returns the number of shards with a result. */
  count(): Promise<number> {
    return countResults(this.#queue, this.job.name);
  }

  /**
   * Waits until every shard has a result. @param onCount called with the number of results.
   * @throws QueueError if the other shards failed, if a shard gave different results, or if the job ended; the signal's
   *   reason.
   */
  async wait(signal: AbortSignal, onCount: (count: number) => void): Promise<void> {
    const { name, shards } = this.job;
    for (let pause = POLL.first; ; pause = Math.min(POLL.last, 2 * pause)) {
      signal.throwIfAborted();
      await this.#checkDifferences();
      const count = await this.count();
      onCount(count);
      if (count === shards) return;
      const failed = await failedShards(this.#queue, this.job);
      if (failed.length > 0 && failed.length + (await this.count()) >= shards) {
        if (await isOverBudget(this.#queue, name)) throw new BudgetError(failed[0].error);
        throw allFailed(name, failed);
      }
      const job = await readJob(this.#queue, name);
      if (job?.state !== 'open') throw ended(job ?? { ...this.job, state: 'cancelled' });
      await CLOCK.wait(pause, signal);
    }
  }

  async #checkDifferences(): Promise<void> {
    const [first] = Object.entries(await readDifferences(this.#queue, this.job.name));
    if (first === undefined) return;
    const [index, machine] = first;
    throw new QueueError(
      `Expected every run of a shard to give the same bytes, got others from ${machine} for shard ${index} of ` +
        `${this.job.name}. Compare the versions and the processors of the workers, cancel the job and submit it again.`,
    );
  }

  /** Yields the files of the shards, one after the other. @throws QueueError if another collector removed the results. */
  async *lines(): AsyncGenerator<Uint8Array> {
    await using replayer = new EpisodeReplayer({ threads: 1 });
    for (let index = 0; index < this.job.shards; index++) yield* this.#read(index, replayer);
  }

  async *#read(index: number, replayer: EpisodeReplayer): AsyncGenerator<Uint8Array> {
    const result = await readResult(this.#queue, this.job.name, index);
    if (result === null) throw ended((await readJob(this.#queue, this.job.name)) ?? this.job);
    const bytes = decompress(result.compressed);
    if (!createHash('sha256').update(bytes).digest().equals(result.digest))
      throw damaged(this.job.name, index);
    checkRows(this.job, index, rowsIn(bytes));
    yield* unpackResult(bytes, replayer);
  }

  /** Records that the file is complete on disk. The last running collector removes the results. */
  async finish(file: string, sha256: string): Promise<void> {
    clearInterval(this.#timer);
    const spending = await readSpending(this.#queue, this.job.name);
    if (spending !== null) await noteSpent(this.#queue, this.job.name, spending.spent);
    await finishJob(this.#queue, this.job.name, this.#id, file, sha256);
  }

  /** Ends the collector, and keeps the results. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await releaseCollector(this.#queue, this.job.name, this.#id);
  }
}

function ended({ name, state, file, sha256, collectedAt }: StoredJob): QueueError {
  if (state !== 'collected') {
    return new QueueError(
      `Expected the job ${name} to run, got a cancelled job. Submit it again: the same command gives it the same name.`,
    );
  }
  const when = collectedAt === null ? '' : ` at ${new Date(collectedAt).toISOString()}`;
  return new QueueError(
    `Expected the results of ${name} in Redis, got a job that was collected${when} into ${file} (SHA-256 ${sha256}). ` +
      'Copy that file, or submit the job again.',
  );
}

const damaged = (name: string, index: number): QueueError =>
  new QueueError(
    `Expected the result of shard ${index} of ${name} as it was stored, got other bytes. Cancel the job and submit it again.`,
  );

/** The failed shards that an error lists. */
const LISTED = 3;

function allFailed(
  name: string,
  failed: readonly { readonly index: number; readonly error: string }[],
): QueueError {
  const listed = failed.slice(0, LISTED).map(({ index, error }) => `shard ${index}: ${error}`);
  const more = failed.length > LISTED ? `; and ${failed.length - LISTED} more` : '';
  return new QueueError(
    `Expected all shards of ${name} to succeed, got ${failed.length} failed (${listed.join('; ')}${more}). ` +
      'Mend the cause and submit the job again: finished shards are kept.',
  );
}
