/** Output files that are either whole or not there: written beside the target, then renamed. */
import { accessSync, constants, mkdirSync, realpathSync, rmSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from '../failure.js';
import { naming } from './file-fault.js';

/** Somewhere to write to; '-' is the standard output. */
export interface Output {
  write(data: string | Uint8Array): Promise<void>;
  /** Puts what was written in its place. */
  commit(): Promise<void>;
  /** Removes what was written, as far as it can be. Harmless after `commit`. */
  discard(): Promise<void>;
}

/** Refuses, before any work is done, a path that could not be written in the end. */
export function checkOutput(option: string, path: string): void {
  if (path === '-') return;
  if (path === '')
    throw new UsageError(`Expected ${option} to name a file, got an empty name. Name one, or - .`);
  const directory = dirname(path);
  const there = stat(directory);
  if (!there?.isDirectory()) {
    throw new UsageError(
      `Expected the directory of ${option} ${path} to exist, but there is no ${directory}. Create it first.`,
    );
  }
  if (stat(path)?.isDirectory()) {
    throw new UsageError(
      `Expected ${option} to name a file, got ${path}, which is a directory. Name a file in it.`,
    );
  }
  checkWritable(directory, option, path);
}

/** The same for a directory of several files, which need not be there yet. */
export function checkDirectory(option: string, path: string): void {
  if (path === '')
    throw new UsageError(`Expected ${option} to name a directory, got an empty name. Name one.`);
  let there = resolve(path);
  while (stat(there) === null && there !== dirname(there)) there = dirname(there);
  if (!stat(there)?.isDirectory()) {
    throw new UsageError(
      `Expected ${option} to name a directory, got ${path}, but ${there} is none. Name another.`,
    );
  }
  checkWritable(there, option, path);
}

/** Creates a directory, and what is missing above it. @returns what was made, the innermost first. */
export function makeDirectory(path: string): string[] {
  if (stat(path) !== null) return [];
  const above = makeDirectory(dirname(resolve(path)));
  // Level by level: where none can be made, as in /proc, Node 20 would try to make all of them for ever.
  mkdirSync(path);
  return [path, ...above];
}

function checkWritable(directory: string, option: string, path: string): void {
  try {
    accessSync(directory, constants.W_OK);
  } catch {
    throw new UsageError(
      `Expected to be allowed to write in ${directory} for ${option} ${path}, but may not. Choose another place.`,
    );
  }
}

/** So that the name beside a file of a long name is not too long for a file system. */
const MAX_STEM = 64;
const unfinished = new Set<string>();

/** Removes what is half-written, for a process that ends now. */
export function discardOpenOutputs(): void {
  for (const path of unfinished) rmSync(path, { force: true });
}

/** Where text for people goes: whoever asks for an output on the standard output wants nothing else there. */
export const besideOutputs = (...paths: readonly (string | undefined)[]): NodeJS.WriteStream =>
  paths.includes('-') ? process.stderr : process.stdout;

/** Opens a path that `checkOutput` has let pass. */
export async function openOutput(path: string): Promise<Output> {
  if (path === '-') return standardOutput;
  const target = stat(path);
  // A device or a pipe is written to, not replaced.
  if (target !== null && !target.isFile()) return new DirectOutput(await open(path, 'w'), path);
  const place = targetOf(path);
  const beside = join(dirname(place), `.${basename(place).slice(0, MAX_STEM)}.${process.pid}.tmp`);
  unfinished.add(beside);
  return new FileOutput(await open(beside, 'w', target?.mode), beside, place);
}

/** What takes a path's place: where a link points, so that the link stays one. */
export const targetOf = (path: string): string => (stat(path) === null ? path : realpathSync(path));

/** A value as a file of JSON. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Writes a value as JSON, whole or not at all. */
export const writeJson = (path: string, value: unknown): Promise<void> =>
  writeTogether([{ path, data: jsonText(value) }]);

export interface OutputFile {
  readonly path: string;
  readonly data: string | Uint8Array;
}

/** Files that are written together: opened one by one, committed in their order; what was not is gone when it is disposed of. */
export class Outputs implements AsyncDisposable {
  readonly #opened: Output[] = [];

  /** As `openOutput`. */
  async open(path: string): Promise<Output> {
    const output = await openOutput(path);
    this.#opened.push(output);
    return output;
  }

  async commit(): Promise<void> {
    for (const output of this.#opened) await output.commit();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const output of this.#opened) await output.discard();
  }
}

/** Writes files, each of them whole. None takes its place before all are written; they do so in their order. */
export async function writeTogether(files: readonly OutputFile[]): Promise<void> {
  await using outputs = new Outputs();
  for (const { path, data } of files) await (await outputs.open(path)).write(data);
  await outputs.commit();
}

/** Null for what is not there. */
export function stat(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // Something in a file, as if that were a directory.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    throw error;
  }
}

class FileOutput implements Output {
  readonly #handle: FileHandle;
  readonly #beside: string;
  readonly #target: string;
  #closed = false;

  constructor(handle: FileHandle, beside: string, target: string) {
    this.#handle = handle;
    this.#beside = beside;
    this.#target = target;
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#handle.writeFile(data).catch(naming(this.#target));
  }

  async commit(): Promise<void> {
    // On the disk before it takes the old one's name: a crash leaves one of the two, whole.
    await this.#handle.sync().catch(naming(this.#target));
    await this.#close();
    await rename(this.#beside, this.#target);
    unfinished.delete(this.#beside);
  }

  async discard(): Promise<void> {
    await this.#close();
    await rm(this.#beside, { force: true });
    unfinished.delete(this.#beside);
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#handle.close();
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
    await this.#handle.writeFile(data).catch(naming(this.#target));
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
