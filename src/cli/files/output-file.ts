/** Writes outputs. A file is written atomically: to a temporary file, which is then renamed to the target. */
import { accessSync, constants, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from '../command-errors.js';
import { existingPart, makeDirectory, removeEmpty, stat, targetOf } from './paths.js';
import { rethrowWithPath } from './rethrow-with-path.js';
import { syncToDisk } from './sync-to-disk.js';
import { createTemporary, type TemporaryFile, tryTemporary } from './temporary-file.js';

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

/** Checks that a path can be written, before any work is done. @throws UsageError. */
export function checkOutput(option: string, path: string): void {
  if (path === '-') return;
  if (path === '')
    throw new UsageError(
      `Expected ${option} to name a file, got an empty name. Name a file, or pass - for the standard output.`,
    );
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
  if (existing?.isFile() && DESCRIPTOR.test(path)) {
    throw new UsageError(
      `Expected ${option} to name a file, got ${path}, which is an open file descriptor. Name the file itself, or - for the standard output.`,
    );
  }
  const target = targetOf(path);
  const write = () => tryTemporary(target);
  tryDirectory({ option, path, what: 'a file in a directory' }, dirname(target), write);
}

/** Paths of open descriptors. A rename would replace the descriptor's file, and lose what other processes wrote to it. */
const DESCRIPTOR = /^\/(dev\/(std(in|out|err)|fd\/\d+)|proc\/[^/]+\/fd\/\d+)$/;

/** Checks that files can be written to a directory, which need not exist yet. @throws UsageError. */
export function checkDirectory(option: string, path: string): void {
  if (path === '')
    throw new UsageError(`Expected ${option} to name a directory, got an empty name. Name a directory.`);
  const write = (directory: string) => tryTemporary(join(directory, PROBE));
  tryDirectory({ option, path, what: 'a directory' }, path, write);
}

/**
 * Checks that a directory can be written, or created if it does not exist.
 * @param path the value of the option. @param what the option must name, for errors. @param write writes to the
 *   existing directory as a trial. @throws UsageError.
 */
function tryDirectory(
  { option, path, what }: { readonly option: string; readonly path: string; readonly what: string },
  directory: string,
  write: (directory: string) => void,
): void {
  const { existing, missing } = existingPart(directory);
  if (!stat(existing)?.isDirectory()) {
    throw new UsageError(
      `Expected ${option} to name ${what}, got ${path}, but ${existing} is not a directory. Name another path.`,
    );
  }
  attempt(option, path, existing, () =>
    missing.length === 0 ? write(existing) : tryCreation(join(existing, missing[0])),
  );
}

/** The name of the file that `checkDirectory` tries, because it does not know the names of the outputs. */
export const PROBE = 'probe';

/**
 * Creates a directory and removes it. If the process is killed in between, the next run finds an empty directory, which
 * it would create anyway.
 */
function tryCreation(path: string): void {
  mkdirSync(path);
  rmdirSync(path);
}

/** Runs `write` as a trial. @param path the value of the option. @param tried the path to which `write` writes. */
function attempt(option: string, path: string, tried: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `Expected ${tried} to be writable, for ${option} ${path}, got ${code}. Choose another place.`,
    );
  }
}

/** Paths of temporary files that are not yet committed. */
const unfinished = new Set<string>();

/** Removes all unfinished files, before a signal or an error ends the process. */
export function discardOpenOutputs(): void {
  for (const path of unfinished) rmSync(path, { force: true });
}

/** Returns the stream for messages: the standard error if an output goes to the standard output. */
export const messageStream = (...paths: readonly (string | undefined)[]): NodeJS.WriteStream =>
  paths.includes('-') ? process.stderr : process.stdout;

/** Opens a path that `checkOutput` accepted. Creates its directory if it is missing. */
export async function openOutput(path: string): Promise<Output> {
  if (path === '-') return standardOutput;
  const existing = stat(path);
  // A device or a pipe is written to directly, not replaced.
  if (existing !== null && !existing.isFile()) return new DirectOutput(await open(path, 'w'), path);
  const target = targetOf(path);
  const created = makeDirectory(dirname(target));
  const temporary = await createTemporary(target, existing?.mode);
  unfinished.add(temporary.path);
  return new FileOutput(temporary, target, created);
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

/** Writes files atomically: all of them, in order, or none. */
export async function writeFilesAtomically(files: readonly OutputFile[]): Promise<void> {
  await using outputs = new Outputs();
  for (const { path, data } of files) await (await outputs.open(path)).write(data);
  await outputs.commit();
}

/** Refuses a target that has become a directory since `checkOutput`: renaming a file to it would fail. @throws UsageError. */
export function checkStillFile(target: string): void {
  if (!stat(target)?.isDirectory()) return;
  throw new UsageError(
    `Expected ${target} to be a file, got a directory, which was made meanwhile. Remove it, or name another file.`,
  );
}

/** A file that is written whole or not at all. */
class FileOutput implements Output {
  readonly #temporary: TemporaryFile;
  readonly #target: string;
  /** The directories that were created for the file, the innermost first. */
  readonly #created: readonly string[];
  #closed = false;

  constructor(temporary: TemporaryFile, target: string, created: readonly string[]) {
    this.#temporary = temporary;
    this.#target = target;
    this.#created = created;
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#temporary.handle.writeFile(data).catch(rethrowWithPath(this.#target));
  }

  async finish(): Promise<void> {
    if (this.#closed) return;
    // Synced to disk before the rename, so that after a crash the target is either the complete old or the complete new file.
    await syncToDisk(this.#temporary.handle).catch(rethrowWithPath(this.#target));
    await this.#close();
    checkStillFile(this.#target);
  }

  async commit(): Promise<void> {
    await this.finish();
    await rename(this.#temporary.path, this.#target);
    unfinished.delete(this.#temporary.path);
  }

  async discard(): Promise<void> {
    try {
      await this.#close();
    } finally {
      await rm(this.#temporary.path, { force: true });
      unfinished.delete(this.#temporary.path);
      removeEmpty(this.#created);
    }
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#temporary.release();
    await this.#temporary.handle.close().catch(rethrowWithPath(this.#target));
  }
}

/** A device or a pipe. */
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

  async finish(): Promise<void> {}

  async commit(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#handle.close();
  }

  // What was written to a device or pipe cannot be removed, so this only closes it.
  discard = this.commit;
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
