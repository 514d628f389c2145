/**
 * Stores the results of a job's shards in FILE.shards, so that they can be removed from Redis before FILE, the output of
 * `rhythm-vec queue collect`, is complete. A header line names the job; records follow, each with a checksum, in the order of
 * their arrival. A record that a killed collector wrote only in part is dropped: Redis still has its result.
 */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { CollectedResult, ShardStore } from '../../server/queue/collect.js';
import type { StoredJob } from '../../server/queue/job-store.js';
import { QueueError } from '../../server/queue/queue-error.js';
import { makeDirectory, stat, targetOf } from '../files/paths.js';
import { rethrowWithPath } from '../files/rethrow-with-path.js';
import { syncToDisk } from '../files/sync-to-disk.js';
import { createTemporary, type TemporaryFile } from '../files/temporary-file.js';

/**
 * The sizes of a record's head and checksum. A record has a head, the compressed result, and a CRC-32 of both. The head has the
 * shard's index and the size of the compressed result as u32, and the SHA-256 of the uncompressed result.
 */
const HEAD_BYTES = 40;
const CRC_BYTES = 4;
/** The number of results that are copied at once. Chosen by hand: more take more memory. */
const COPIED = 64;

/** Where the compressed result of a record is in the file. */
interface Span {
  /** SHA-256 of the uncompressed result. */
  readonly digest: Buffer;
  /** The position and size of the compressed result, in bytes. */
  readonly at: number;
  readonly size: number;
}

/** A job that is submitted again after it was collected or cancelled has the same name and another submission. */
type JobId = Pick<StoredJob, 'name' | 'submission'>;

/** Returns the path of the file with the results. @param path of the output. */
export const collectedOf = (path: string): string => `${targetOf(path)}.shards`;

/** The open file with the results of a job. */
export class CollectedShards implements ShardStore {
  readonly path: string;
  readonly #temporary: TemporaryFile;
  readonly #spans = new Map<number, Span>();
  /** The length of the file in bytes, without the remains of a failed write. */
  #end: number;
  /** Reads the file; null until the file has its final name. */
  #reader: FileHandle | null = null;

  private constructor(path: string, temporary: TemporaryFile, end: number) {
    this.path = path;
    this.#temporary = temporary;
    this.#end = end;
  }

  get #handle(): FileHandle {
    return this.#temporary.handle;
  }

  /**
   * Opens the results of a job. Those of an earlier collector are copied to a new file, so that the earlier collector cannot
   * change them if it is still running.
   * @param isOpen whether a job may still need the file. @throws QueueError if FILE.shards has results of another
   *   open job, or is no file of shards. Results of a job that is no longer open are replaced.
   */
  static async open(
    path: string,
    job: JobId,
    isOpen: (other: JobId) => Promise<boolean>,
  ): Promise<CollectedShards> {
    makeDirectory(dirname(path));
    const header = headerOf(job);
    const shards = new CollectedShards(path, await createTemporary(path), header.length);
    try {
      await shards.#handle.writeFile(header);
      if (stat(path) !== null) await shards.#copy(job, isOpen);
      if (shards.size > 0) await shards.#sync();
      return shards;
    } catch (error) {
      await shards.close();
      return rethrowWithPath(path)(error);
    }
  }

  /** Flushes all results to disk. The first time, also renames the temporary file to its final name. */
  async #sync(): Promise<void> {
    await syncToDisk(this.#handle);
    if (this.#reader !== null) return;
    this.#temporary.release();
    await rename(this.#temporary.path, this.path);
    this.#reader = await open(this.path);
    const folder = await open(dirname(this.path));
    await syncToDisk(folder).finally(() => folder.close());
  }

  /** Copies the results that an earlier collector of the job left. @throws QueueError as `open`. */
  async #copy(job: JobId, isOpen: (other: JobId) => Promise<boolean>): Promise<void> {
    const old = await open(this.path);
    try {
      const other = await jobIn(old);
      if (other?.name === job.name && other.submission === job.submission) {
        let batch: CollectedResult[] = [];
        for await (const result of recordsIn(old, headerOf(job).length)) {
          batch.push(result);
          if (batch.length < COPIED) continue;
          await this.#append(batch);
          batch = [];
        }
        await this.#append(batch);
      } else if (other === null || (await isOpen(other))) {
        throw new QueueError(
          `Expected ${this.path} to have results of ${job.name}, got ${other === null ? 'another file' : `results of ${other.name}`}. ` +
            `${other === null ? 'Move' : 'Collect that job first, move'} the file away, or name another --output.`,
        );
      }
    } finally {
      await old.close();
    }
  }

  get size(): number {
    return this.#spans.size;
  }

  has(index: number): boolean {
    return this.#spans.has(index);
  }

  async add(results: readonly CollectedResult[]): Promise<void> {
    if (results.length === 0) return;
    await this.#append(results).catch(rethrowWithPath(this.path));
    await this.#sync().catch(rethrowWithPath(this.path));
  }

  async #append(results: readonly CollectedResult[]): Promise<void> {
    for (const { index, digest, compressed } of results) {
      const head = Buffer.alloc(HEAD_BYTES);
      head.writeUInt32LE(index, 0);
      head.writeUInt32LE(compressed.length, 4);
      head.set(digest, 8);
      const crc = Buffer.alloc(CRC_BYTES);
      crc.writeUInt32LE(crc32(compressed, crc32(head)), 0);
      const record = Buffer.concat([head, compressed, crc]);
      // A write at this position overwrites the remains of a failed write.
      for (let done = 0; done < record.length; ) {
        done += (await this.#handle.write(record, done, record.length - done, this.#end + done)).bytesWritten;
      }
      const span = { digest: Buffer.from(digest), at: this.#end + HEAD_BYTES, size: compressed.length };
      this.#spans.set(index, span);
      this.#end += record.length;
    }
  }

  async read(index: number): Promise<CollectedResult> {
    const { digest, at, size } = this.#spans.get(index)!;
    const compressed = await bytesAt(this.#reader!, at, size).catch(rethrowWithPath(this.path));
    return { index, digest, compressed };
  }

  /** Closes the file. Removes it if it does not have its final name yet. */
  async close(): Promise<void> {
    this.#temporary.release();
    await this.#handle.close();
    await this.#reader?.close();
    if (this.#reader === null) await rm(this.#temporary.path, { force: true });
  }

  /** Removes the file. Call this when the results are no longer needed. */
  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}

/** Removes FILE.shards if it has the results of this job, whose FILE is complete. @param path of FILE.shards. */
export async function removeCollected(path: string, { name, submission }: JobId): Promise<void> {
  if (stat(path) === null) return;
  const handle = await open(path);
  const job = await jobIn(handle).finally(() => handle.close());
  if (job?.name === name && job.submission === submission) await rm(path, { force: true });
}

const headerOf = ({ name, submission }: JobId): Buffer =>
  Buffer.from(`rhythm-vec shards 1 ${name} ${submission}\n`);

/** The maximum length of a header in bytes. Chosen by hand: headers are shorter. */
const HEADER_BYTES = 256;

/** Returns the job that a file of shards belongs to; null for a file of another kind. */
async function jobIn(handle: FileHandle): Promise<JobId | null> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  const text = buffer.toString('latin1', 0, bytesRead);
  const match = /^rhythm-vec shards 1 (\S+) (\S+)\n/.exec(text);
  return match === null ? null : { name: match[1], submission: match[2] };
}

/** Yields the records before the first that is incomplete or damaged. */
async function* recordsIn(handle: FileHandle, first: number): AsyncGenerator<CollectedResult> {
  const { size: end } = await handle.stat();
  for (let at = first; at + HEAD_BYTES + CRC_BYTES <= end; ) {
    const head = await bytesAt(handle, at, HEAD_BYTES);
    const [index, size] = [head.readUInt32LE(0), head.readUInt32LE(4)];
    if (at + HEAD_BYTES + size + CRC_BYTES > end) return;
    const rest = await bytesAt(handle, at + HEAD_BYTES, size + CRC_BYTES);
    const compressed = rest.subarray(0, size);
    if (crc32(compressed, crc32(head)) !== rest.readUInt32LE(size)) return;
    yield { index, digest: head.subarray(8), compressed };
    at += HEAD_BYTES + size + CRC_BYTES;
  }
}

async function bytesAt(handle: FileHandle, at: number, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  for (let done = 0; done < size; ) {
    const { bytesRead } = await handle.read(bytes, done, size - done, at + done);
    if (bytesRead === 0) throw new Error('the file was shortened while it was read');
    done += bytesRead;
  }
  return bytes;
}
