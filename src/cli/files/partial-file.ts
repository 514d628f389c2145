/**
 * A file of row groups that can be read while it grows. `publish` renames it from a temporary name to PATH.partial. Each write
 * replaces the last footer by row groups and a footer for all groups so far. During the write PATH.partial.footer has the last
 * footer, so that a kill loses no written group. The finished file is renamed to PATH.
 */
import { type FileHandle, rename, rm, stat as statOf, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../command-errors.js';
import { checkStillFile } from './output-file.js';
import { makeDirectory, stat, targetOf } from './paths.js';
import { rethrowWithPath } from './rethrow-with-path.js';
import { syncToDisk } from './sync-to-disk.js';
import { createTemporary, type TemporaryFile } from './temporary-file.js';

/** Returns the path of the unfinished file of an output. */
export const partialOf = (path: string): string => `${targetOf(path)}.partial`;
/** Returns the path of the last footer of an unfinished file. @param path of the unfinished file. */
export const footerOf = (path: string): string => `${path}.footer`;

/** Returns the paths of the files that may exist until an output is complete. @param path of the output. */
export const partialFiles = (path: string): string[] => [partialOf(path), footerOf(partialOf(path))];

/**
 * Pending groups are written if the last write took less than this share of the time since its end. Chosen by hand: a larger
 * share takes more time for footers; with a smaller one a kill loses more groups.
 */
const WRITING_SHARE = 0.05;

/** An unfinished file. */
export class PartialFile {
  readonly #target: string;
  readonly #temporary: TemporaryFile;
  /** Groups that are not yet written. */
  #pending: Uint8Array[] = [];
  /** The number of bytes of all written groups. */
  #end = 0;
  /** The last footer; null before the first write. */
  #footer: Uint8Array | null = null;
  /** When the last write ended, and its duration, in milliseconds. */
  #lastWrite = { at: performance.now(), took: 0 };
  #published = false;
  #closed = false;

  private constructor(target: string, temporary: TemporaryFile) {
    this.#target = target;
    this.#temporary = temporary;
  }

  /** Creates the file under a temporary name. @param path of a file, which need not exist. */
  static async open(path: string): Promise<PartialFile> {
    const target = targetOf(path);
    makeDirectory(dirname(target));
    return new PartialFile(target, await createTemporary(target, stat(target)?.mode));
  }

  /** The path of the unfinished file. */
  get path(): string {
    return `${this.#target}.partial`;
  }

  get #handle(): FileHandle {
    return this.#temporary.handle;
  }

  /**
   * Adds a row group. It is written at once, unless writing footers would take much of the time: then it is written with a
   * later group, or at the end.
   * @param footer returns the footer of all groups.
   */
  async append(group: Uint8Array, footer: () => Uint8Array): Promise<void> {
    this.#pending.push(group);
    const { at, took } = this.#lastWrite;
    if (performance.now() - at < took / WRITING_SHARE) return;
    await this.#write(footer());
  }

  /**
   * Writes the pending groups, and renames the file to PATH.partial, replacing any file of that name. Does nothing
   * without groups, or if the file was published before.
   */
  async publish(footer: () => Uint8Array): Promise<void> {
    if (this.#published) return;
    if (this.#pending.length > 0) await this.#write(footer());
    if (this.#footer === null) return;
    this.#published = true;
    await rename(this.#temporary.path, this.path);
  }

  async #write(footer: Uint8Array): Promise<void> {
    const from = performance.now();
    const [handle, last] = [this.#handle, this.#footer];
    const groups = Buffer.concat(this.#pending);
    try {
      if (last !== null) {
        if (this.#published) await writeFile(footerOf(this.path), last);
        await handle.truncate(this.#end);
      }
      await writeAt(handle, Buffer.concat([groups, footer]), this.#end);
    } catch (error) {
      if (last !== null) await this.#restore(last).catch(() => {});
      rethrowWithPath(this.path)(error);
    }
    this.#pending = [];
    this.#end += groups.length;
    this.#footer = footer;
    this.#lastWrite = { at: performance.now(), took: performance.now() - from };
  }

  /** Removes what a failed write left, and writes the last footer again. */
  async #restore(footer: Uint8Array): Promise<void> {
    await this.#handle.truncate(this.#end);
    await writeAt(this.#handle, footer, this.#end);
  }

  /** Writes the pending groups, and completes the file on disk. @throws UsageError as `checkStillFile` and `#checkName`. */
  async finish(footer: () => Uint8Array): Promise<void> {
    await this.#write(footer());
    await syncToDisk(this.#handle).catch(rethrowWithPath(this.#target));
    checkStillFile(this.#target);
    await this.#checkName();
  }

  /** Moves the finished file to its place. @throws UsageError as `#checkName`. */
  async commit(): Promise<void> {
    await this.#checkName();
    await this.#close();
    await rename(this.#published ? this.path : this.#temporary.path, this.#target);
    if (this.#published) await rm(footerOf(this.path), { force: true });
  }

  /** Checks that no other process replaced PATH.partial. @throws UsageError. */
  async #checkName(): Promise<void> {
    if (!this.#published) return;
    const [own, named] = [await this.#handle.stat(), await statOf(this.path).catch(() => null)];
    if (named?.ino === own.ino && named.dev === own.dev) return;
    throw new UsageError(
      `Expected ${this.path} to be the file of this process, but another process replaced it. Run one command for an output at a time.`,
    );
  }

  /**
   * Closes the unfinished file. Does nothing after `commit`.
   * @param keeps whether to publish the file, if it has a row group. A file that was published remains in any case.
   * @returns whether the file remains, as PATH.partial.
   */
  async end(footer: () => Uint8Array, keeps: boolean): Promise<boolean> {
    if (this.#closed) return false;
    try {
      if (keeps) await this.publish(footer);
      if (this.#published && this.#pending.length > 0) await this.#write(footer());
      if (this.#published) await rm(footerOf(this.path), { force: true });
      return this.#published;
    } finally {
      await this.#close();
      if (!this.#published) await rm(this.#temporary.path, { force: true });
    }
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#temporary.release();
    await this.#handle.close();
  }
}

async function writeAt(handle: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
  }
}
