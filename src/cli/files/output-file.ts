/**
 * Writes outputs. A file is written atomically: under a temporary name beside its target, then renamed to the target. The
 * next run that writes the same target removes temporary files that killed runs left.
 *
 * Names: .rhythm-vec-TARGET-HOST-PID-RANDOM.tmp. TARGET and HOST are hashes of the names of the target and of this machine. The
 * length does not depend on the target's name.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fsync, futimesSync, openSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '../command-errors.js';
import {
  foldedName,
  makeDirectory,
  removeEmpty,
  rethrowWithPath,
  stat,
  targetOf,
  unfinished,
} from './paths.js';

/** An output that appears together with others: see `commitTogether`. */
export interface Committable {
  /**
   * Completes the file on disk, under its temporary name: does everything that may fail before `commit` moves the file. Does
   * nothing for a stream, and if it was called before.
   */
  finish(): Promise<void>;
  /** Ends the output: finishes it, and moves the file to its place. */
  commit(): Promise<void>;
}

/** A destination of data; '-' is the standard output. */
export interface Output extends Committable {
  write(data: string | Uint8Array): Promise<void>;
  /** Removes a file that was not moved to its place. Does nothing after `commit`. */
  discard(): Promise<void>;
}

/** Commits outputs in order. All are finished before the first is moved, so that a failure leaves none of them. */
export async function commitTogether(outputs: readonly Committable[]): Promise<void> {
  for (const output of outputs) await output.finish();
  for (const output of outputs) await output.commit();
}

/** Returns the stream for messages: the standard error if an output goes to the standard output. */
export const messageStream = (...paths: readonly (string | undefined)[]): NodeJS.WriteStream =>
  paths.includes('-') ? process.stderr : process.stdout;

/** Returns whether a path that `checkOutput` accepted is written directly: the standard output, a device or a pipe. */
export const isStream = (path: string): boolean => path === '-' || stat(path)?.isFile() === false;

/** Opens a path that `checkOutput` accepted. Creates its directory if it is missing. */
export async function openOutput(path: string): Promise<Output> {
  if (path === '-') return standardOutput;
  return isStream(path) ? directOutput(path, await open(path, 'w')) : NewFile.create(path);
}

/** Formats a value as a JSON file. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Writes a value as a JSON file, atomically. */
export const writeJson = (path: string, value: unknown): Promise<void> =>
  writeFilesAtomically([{ path, data: jsonText(value) }]);

export interface OutputFile {
  readonly path: string;
  readonly data: string | Uint8Array;
}

/** Writes files atomically: all of them, in order, or none. */
export async function writeFilesAtomically(files: readonly OutputFile[]): Promise<void> {
  await using outputs = new Outputs();
  for (const { path, data } of files) await (await outputs.open(path)).write(data);
  await outputs.commit();
}

/** Outputs that are committed together, in the order in which they were opened. Disposal removes those that were not committed. */
export class Outputs implements Committable, AsyncDisposable {
  readonly #opened: Output[] = [];

  /** Opens an output, as `openOutput` does. */
  async open(path: string): Promise<Output> {
    const output = await openOutput(path);
    this.#opened.push(output);
    return output;
  }

  /** Finishes all outputs. */
  async finish(): Promise<void> {
    for (const output of this.#opened) await output.finish();
  }

  /** Commits all outputs. */
  commit(): Promise<void> {
    return commitTogether(this.#opened);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const results = await Promise.allSettled(this.#opened.map((output) => output.discard()));
    const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failed !== undefined) throw failed.reason;
  }
}

/** The interval in milliseconds at which a process updates the modification time of its temporary files. */
export const TOUCH_MS = 3_600_000;
/** A file that was last modified longer ago than this, in milliseconds, counts as left by a killed run. */
export const ABANDONED_MS = 24 * TOUCH_MS;

/** A file that is written under a temporary name. */
export class NewFile implements Output {
  readonly handle: FileHandle;
  /** The path of the finished file. */
  readonly target: string;
  #path: string;
  /** The directories that were created for the file, the innermost first. */
  readonly #created: readonly string[];
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  private constructor(handle: FileHandle, path: string, target: string, created: readonly string[]) {
    this.handle = handle;
    this.target = target;
    this.#path = path;
    this.#created = created;
    this.#timer = setInterval(() => touch(handle.fd), TOUCH_MS).unref();
    unfinished.add(path);
  }

  /** Creates an empty file. A file that exists at the path lends its mode. */
  static async create(path: string): Promise<NewFile> {
    const target = targetOf(path);
    const created = makeDirectory(dirname(target));
    removeAbandoned(target);
    const mode = stat(target)?.mode;
    const temporary = temporaryPath(target);
    const handle = await open(temporary, 'wx', mode);
    // `open` subtracts the umask from the mode. If chmod fails, the file keeps these stricter permissions.
    if (mode !== undefined) await handle.chmod(mode & 0o777).catch(() => {});
    return new NewFile(handle, temporary, target, created);
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.handle.writeFile(data).catch(rethrowWithPath(this.target));
  }

  /** Syncs to disk, so that after a crash the target is either the complete old or the complete new file. */
  async sync(): Promise<void> {
    await syncToDisk(this.handle).catch(rethrowWithPath(this.target));
    if (!stat(this.target)?.isDirectory()) return;
    throw new UsageError(
      `Expected ${this.target} to be a file, got a directory, which was made meanwhile. Remove it, or name another file.`,
    );
  }

  async finish(): Promise<void> {
    if (this.#closed) return;
    await this.sync();
    await this.close();
  }

  async commit(): Promise<void> {
    await this.finish();
    await this.moveTo(this.target);
  }

  /** Renames the file. `discard` then leaves it. */
  async moveTo(path: string): Promise<void> {
    await rename(this.#path, path);
    unfinished.delete(this.#path);
    this.#path = path;
  }

  async discard(): Promise<void> {
    try {
      await this.close();
    } finally {
      if (unfinished.delete(this.#path)) await rm(this.#path, { force: true });
      removeEmpty(this.#created);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    await this.handle.close().catch(rethrowWithPath(this.target));
  }
}

/** Does what the method `sync` of a handle does. Under Yarn's Plug'n'Play that method always throws. */
export const syncToDisk = ({ fd }: FileHandle): Promise<void> => promisify(fsync)(fd);

function touch(fd: number): void {
  const now = new Date();
  try {
    futimesSync(fd, now, now);
  } catch {
    // Some file systems store no times. If the file itself is lost, the next write fails.
  }
}

/** A device or a pipe. What was written to it cannot be removed, so `discard` only closes it. */
function directOutput(path: string, handle: FileHandle): Output {
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= handle.close();
    return closing;
  };
  return {
    write: (data) => handle.writeFile(data).catch(rethrowWithPath(path)),
    finish: async () => {},
    commit: close,
    discard: close,
  };
}

const standardOutput: Output = {
  write: (data) =>
    new Promise((resolve, reject) => {
      process.stdout.write(data, (error) => (error ? reject(error) : resolve()));
    }),
  finish: async () => {},
  commit: async () => {},
  discard: async () => {},
};

/** Matches the name of a temporary file. Its groups are TARGET, HOST and PID. */
const NAME = /^\.rhythm-vec-([\da-f]{16})-([\da-f]{16})-(\d+)-[\da-f]{16}\.tmp$/;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
const targetId = (target: string): string => hash(foldedName(basename(target)));
const HOST = hash(hostname());

/** Returns a new name for a temporary file of `target`. */
export function temporaryPath(target: string): string {
  const parts = [targetId(target), HOST, process.pid, randomBytes(8).toString('hex')];
  return join(dirname(target), `.rhythm-vec-${parts.join('-')}.tmp`);
}

/** Returns the paths of the temporary files of `target`, of running and of killed processes. */
export function temporaryFilesOf(target: string): string[] {
  const own = targetId(target);
  return namesIn(dirname(target))
    .filter((name) => NAME.exec(name)?.[1] === own)
    .map((name) => join(dirname(target), name));
}

/** Returns the names in a directory; [] if it cannot be read. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Removes the temporary files of killed runs for `target`. */
function removeAbandoned(target: string): void {
  for (const path of temporaryFilesOf(target)) {
    const [, , host, pid] = NAME.exec(basename(path))!;
    const isUntouched = Date.now() - (stat(path)?.mtimeMs ?? Date.now()) > ABANDONED_MS;
    if ((host === HOST && !isRunning(Number(pid))) || isUntouched) rmSync(path, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Checks that a temporary file of `target` can be created, and removes it at once. */
export function tryTemporary(target: string): void {
  removeAbandoned(target);
  const path = temporaryPath(target);
  closeSync(openSync(path, 'wx'));
  rmSync(path);
}
