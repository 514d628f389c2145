/** Paths of files: their status, their directories, the targets of links, and the paths of unfinished files. */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import type { RowFormat } from '../../shared/row-files/file-formats.js';

/** Returns the status of a path; null if it does not exist. */
export function stat(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // A parent of the path is a file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    throw error;
  }
}

/**
 * Returns the path of the file to write. Links are followed, so that a link stays a link, even if its target does not
 * exist yet.
 */
export function targetOf(path: string): string {
  if (stat(path) !== null) return realpathSync(path);
  const directory = dirname(path);
  if (!stat(directory)?.isDirectory() || !isLink(path)) return path;
  const to = readlinkSync(path);
  // The path is not normalised, because ".." after a link is relative to the link's target.
  return targetOf(isAbsolute(to) ? to : `${realpathSync(directory)}/${to}`);
}

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

/** Returns the path itself if it exists, else its innermost existing parent, and the names below that do not exist. */
export function existingPart(path: string): {
  readonly existing: string;
  readonly missing: readonly string[];
} {
  // An existing path is not normalised, because ".." after a link is relative to the link's target.
  if (stat(path) !== null) return { existing: path, missing: [] };
  const missing: string[] = [];
  let existing = resolve(path);
  while (stat(existing) === null && existing !== dirname(existing)) {
    missing.unshift(basename(existing));
    existing = dirname(existing);
  }
  return { existing, missing };
}

/** Creates a directory and its missing parents. @returns the created directories, the innermost first. */
export function makeDirectory(path: string): string[] {
  if (stat(path) !== null) return [];
  const parents = makeDirectory(dirname(resolve(path)));
  // Creates one level at a time: where mkdir fails, as in /proc, a recursive mkdir of Node 20 never returns.
  mkdirSync(path);
  return [path, ...parents];
}

/** Removes directories that are empty. @param directories the innermost first. */
export function removeEmpty(directories: readonly string[]): void {
  for (const directory of directories) {
    if (stat(directory) !== null && readdirSync(directory).length === 0) rmdirSync(directory);
  }
}

/** Returns the path of the unfinished file of an output. All links to a file share one. */
export const partialOf = (path: string): string => `${targetOf(path)}.partial`;
/** Returns the path of the last footer of an unfinished Parquet file. @param partial the path of that file. */
export const footerOf = (partial: string): string => `${partial}.footer`;
/** Returns the path of the file by which a command locks an output. */
export const lockOf = (path: string): string => `${targetOf(path)}.lock`;

/** Returns the paths of the files that may exist beside an output until it is complete. */
export function workFilesOf(path: string, format: RowFormat, hasModel: boolean): string[] {
  if (hasModel) return [partialOf(path), lockOf(path)];
  if (path === '-') return [];
  return [partialOf(path), ...(format.name === 'jsonl' ? [] : [footerOf(partialOf(path))])];
}

/** Returns the same text for names that differ only in case or Unicode normalisation: some file systems treat them as one. */
export const foldedName = (name: string): string => name.normalize('NFC').toLowerCase();

/**
 * Returns a handler that throws an error again, with `path` if it is a system error without one, such as an error of a call on
 * an open file.
 */
export const rethrowWithPath =
  (path: string) =>
  (error: unknown): never => {
    if (error instanceof Error && 'syscall' in error && !('path' in error)) {
      Object.assign(error, { path, message: `${error.message} '${path}'` });
    }
    throw error;
  };

/** Paths of temporary files that have not been moved to their places. */
export const unfinished = new Set<string>();

/** Removes all unfinished files, before a signal or an error ends the process. */
export function discardOpenOutputs(): void {
  for (const path of unfinished) rmSync(path, { force: true });
}
