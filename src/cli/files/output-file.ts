/** Writes output files atomically: to a temporary file beside the target, which is then renamed. */
import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { UsageError } from '../failure.js';
import { rethrowWithPath } from './file-fault.js';
import { createTemporary, type TemporaryFile, tryTemporary } from './temporary-file.js';

/** A destination of data; '-' is the standard output. */
export interface Output {
  write(data: string | Uint8Array): Promise<void>;
  /** Moves the finished file to its place. */
  commit(): Promise<void>;
  /** Removes the unfinished file, if possible. Does nothing after `commit`. */
  discard(): Promise<void>;
}

/** Refuses, before any work is done, a path that cannot be written. @throws UsageError. */
export function checkOutput(option: string, path: string): void {
  if (path === '-') return;
  if (path === '')
    throw new UsageError(`Expected ${option} to name a file, got an empty name. Name one, or - .`);
  const existing = stat(path);
  if (existing?.isDirectory() || path.endsWith('/')) {
    throw new UsageError(
      `Expected ${option} to name a file, got ${path}, which is a directory. Name a file in it.`,
    );
  }
  // A device or a pipe is opened directly; no temporary file is created beside it.
  if (existing !== null && !existing.isFile()) {
    attempt(option, path, path, () => accessSync(path, constants.W_OK));
    return;
  }
  const place = targetOf(path);
  const directory = dirname(place);
  if (!stat(directory)?.isDirectory()) {
    throw new UsageError(
      `Expected the directory of ${option} ${path} to exist, but there is no ${directory}. Create it first.`,
    );
  }
  if (existing?.isFile() && DESCRIPTOR.test(path)) {
    throw new UsageError(
      `Expected ${option} to name a file, got ${path}, which is an open file descriptor. Name the file itself, or - for the standard output.`,
    );
  }
  attempt(option, path, directory, () => tryTemporary(place));
}

/** Paths of open descriptors. Writing to one would replace its file, with the data of other writers. */
const DESCRIPTOR = /^\/(dev\/(std(in|out|err)|fd\/\d+)|proc\/[^/]+\/fd\/\d+)$/;

/** Refuses a directory to which no files can be written. It need not exist yet. @throws UsageError. */
export function checkDirectory(option: string, path: string): void {
  if (path === '')
    throw new UsageError(`Expected ${option} to name a directory, got an empty name. Name one.`);
  let existing = resolve(path);
  let missing: string | null = null;
  while (stat(existing) === null && existing !== dirname(existing))
    [missing, existing] = [existing, dirname(existing)];
  if (!stat(existing)?.isDirectory()) {
    throw new UsageError(
      `Expected ${option} to name a directory, got ${path}, but ${existing} is not a directory. Name another.`,
    );
  }
  attempt(option, path, existing, () => {
    if (missing === null) tryTemporary(join(existing, PROBE));
    else tryDirectory(missing);
  });
}

/** The target name of trial files in a directory whose output names are not known yet. */
export const PROBE = 'probe';

/**
 * Creates a directory and removes it. If the process is killed in between, the next run finds an empty directory, which
 * it would create anyway.
 */
function tryDirectory(path: string): void {
  mkdirSync(path);
  rmdirSync(path);
}

/** Creates a directory and its missing parents. @returns the created directories, the innermost first. */
export function makeDirectory(path: string): string[] {
  if (stat(path) !== null) return [];
  const parents = makeDirectory(dirname(resolve(path)));
  // Creates one level at a time: where mkdir fails, as in /proc, a recursive mkdir of Node 20 never returns.
  mkdirSync(path);
  return [path, ...parents];
}

/**
 * Runs `write` as a trial: permissions alone do not reveal quotas, read-only mounts and special file systems.
 * @throws UsageError if it fails.
 */
function attempt(option: string, path: string, place: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `Expected ${place} to be writable, for ${option} ${path}, got ${code}. Choose another place.`,
    );
  }
}

/** Paths of temporary files that are not yet committed. */
const unfinished = new Set<string>();

/** Removes unfinished files when the process ends. */
export function discardOpenOutputs(): void {
  for (const path of unfinished) rmSync(path, { force: true });
}

/** Returns the stream for messages: the standard error if an output goes to the standard output. */
export const messageStream = (...paths: readonly (string | undefined)[]): NodeJS.WriteStream =>
  paths.includes('-') ? process.stderr : process.stdout;

/** Opens a path that `checkOutput` accepted. */
export async function openOutput(path: string): Promise<Output> {
  if (path === '-') return standardOutput;
  const target = stat(path);
  // A device or a pipe is written to directly, not replaced.
  if (target !== null && !target.isFile()) return new DirectOutput(await open(path, 'w'), path);
  const place = targetOf(path);
  const temporary = await createTemporary(place, target?.mode);
  unfinished.add(temporary.path);
  return new FileOutput(temporary, place);
}

/**
 * Returns the path of the file to write. Links are followed, so that a link stays a link, even if its target does not
 * exist yet. @throws Error `ELOOP`.
 */
export function targetOf(path: string): string {
  if (stat(path) !== null) return realpathSync(path);
  const directory = dirname(path);
  if (!stat(directory)?.isDirectory() || !isLink(path)) return path;
  const to = readlinkSync(path);
  // Not normalised: ".." after a link is relative to the link's target.
  return targetOf(isAbsolute(to) ? to : `${realpathSync(directory)}/${to}`);
}

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

/** Formats a value as a JSON file. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Writes a value as a JSON file, atomically. */
export const writeJson = (path: string, value: unknown): Promise<void> =>
  writeFilesAtomically([{ path, data: jsonText(value) }]);

export interface OutputFile {
  readonly path: string;
  readonly data: string | Uint8Array;
}

/** Outputs that are committed together, in order. Disposal removes those that were not committed. */
export class Outputs implements AsyncDisposable {
  readonly #opened: Output[] = [];

  /** Opens an output, as `openOutput` does. */
  async open(path: string): Promise<Output> {
    const output = await openOutput(path);
    this.#opened.push(output);
    return output;
  }

  async commit(): Promise<void> {
    for (const output of this.#opened) await output.commit();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const results = await Promise.allSettled(this.#opened.map((output) => output.discard()));
    const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failed !== undefined) throw failed.reason;
  }
}

/** Writes files atomically. All are written before the first is renamed to its target; they are renamed in order. */
export async function writeFilesAtomically(files: readonly OutputFile[]): Promise<void> {
  await using outputs = new Outputs();
  for (const { path, data } of files) await (await outputs.open(path)).write(data);
  await outputs.commit();
}

/** Returns the status of a path; null if it does not exist. */
export function stat(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // A path below a file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    throw error;
  }
}

class FileOutput implements Output {
  readonly #temporary: TemporaryFile;
  readonly #target: string;
  #closed = false;

  constructor(temporary: TemporaryFile, target: string) {
    this.#temporary = temporary;
    this.#target = target;
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#temporary.handle.writeFile(data).catch(rethrowWithPath(this.#target));
  }

  async commit(): Promise<void> {
    // Synced to disk before the rename, so that after a crash either the old or the new file exists, complete.
    await this.#temporary.handle.sync().catch(rethrowWithPath(this.#target));
    await this.#close();
    await rename(this.#temporary.path, this.#target);
    unfinished.delete(this.#temporary.path);
  }

  async discard(): Promise<void> {
    try {
      await this.#close();
    } finally {
      await rm(this.#temporary.path, { force: true });
      unfinished.delete(this.#temporary.path);
    }
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#temporary.release();
    await this.#temporary.handle.close().catch(rethrowWithPath(this.#target));
  }
}

class DirectOutput implements Output {
  readonly #handle: FileHandle;
  readonly #target: string;
  #closed = false;

  constructor(handle: FileHandle, target: string) {
    this.#handle = handle;
    this.#target = target;
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#handle.writeFile(data).catch(rethrowWithPath(this.#target));
  }

  async commit(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#handle.close();
  }

  discard = this.commit;
}

const standardOutput: Output = {
  write: (data) =>
    new Promise((resolve, reject) => {
      process.stdout.write(data, (error) => (error ? reject(error) : resolve()));
    }),
  commit: async () => {},
  discard: async () => {},
};
