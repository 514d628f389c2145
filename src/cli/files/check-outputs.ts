/** Checks, before any work is done, that a command can write its outputs, and that they are different files of a known format. */
import { accessSync, constants, mkdirSync, realpathSync, rmdirSync } from 'node:fs';
import { devNull } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { FORMATS, type RowFormat } from '../../shared/row-files/file-formats.js';
import { UsageError } from '../command-errors.js';
import { checkNotGrader } from './grader-file.js';
import { tryTemporary } from './output-file.js';
import { existingPart, foldedName, stat, targetOf } from './paths.js';

export interface PlannedOutput {
  /** The option, such as "--json". */
  readonly option: string;
  /** '-' is the standard output. */
  readonly path: string;
  /** Files such as PATH.partial that may exist until the output is complete. */
  readonly workFiles?: readonly string[];
}

/**
 * Checks the outputs of a command. Refuses paths that cannot be written, the grader's file, and the paths of other outputs
 * and of their `workFiles`.
 * @param grader the value of `--grader`. @throws UsageError.
 */
export function checkOutputs(outputs: readonly PlannedOutput[], grader?: string): void {
  const outputsByKey = new Map<string, PlannedOutput>();
  for (const output of outputs) {
    const { option, path, workFiles = [] } = output;
    checkOutput(option, path);
    for (const each of [path, ...workFiles]) checkNotGrader(option, each, grader);
    const key = fileKey(path);
    // The null device stores nothing, so several outputs may use it.
    if (key === devNull) continue;
    const other = outputsByKey.get(key);
    if (other !== undefined) refuse(output, other.option);
    outputsByKey.set(key, output);
  }
  for (const { option, workFiles = [] } of outputs) {
    const other = workFiles.map((path) => outputsByKey.get(fileKey(path))).find((each) => each !== undefined);
    if (other !== undefined) refuse(other, `the temporary files of ${option}`);
  }
}

function refuse({ option, path }: PlannedOutput, other: string): never {
  throw new UsageError(
    `Expected ${option} to be another file than ${other}, got ${path}. Name another file.`,
  );
}

/**
 * Returns a text that is the same for all paths of a file, and for names that some file systems treat as equal. The file
 * need not exist.
 * @param path '-', or a path whose directory may be missing.
 */
export function fileKey(path: string): string {
  if (path === '-') return path;
  const target = targetOf(path);
  const { existing, missing } = existingPart(dirname(target));
  return join(realpathSync.native(existing), ...[...missing, basename(target)].map(foldedName));
}

/** Paths of open descriptors. A rename would replace the descriptor's file, and lose what other processes wrote to it. */
const DESCRIPTOR = /^\/(dev\/(std(in|out|err)|fd\/\d+)|proc\/[^/]+\/fd\/\d+)$/;

/** Checks that a path can be written. @throws UsageError. */
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
  tryDirectory({ option, path, what: 'a file in a directory' }, dirname(target), target);
}

/** The name of the file that `checkDirectory` tries, because it does not know the names of the outputs. */
export const PROBE = 'probe';

/** Checks that files can be written to a directory, which need not exist yet. @throws UsageError. */
export function checkDirectory(option: string, path: string): void {
  if (path === '')
    throw new UsageError(`Expected ${option} to name a directory, got an empty name. Name a directory.`);
  tryDirectory({ option, path, what: 'a directory' }, path, join(path, PROBE));
}

/**
 * Checks that a file can be created in a directory, or the directory if it is missing.
 * @param path the value of the option. @param what the option must name, for errors. @throws UsageError.
 */
function tryDirectory(
  { option, path, what }: { readonly option: string; readonly path: string; readonly what: string },
  directory: string,
  file: string,
): void {
  const { existing, missing } = existingPart(directory);
  if (!stat(existing)?.isDirectory()) {
    throw new UsageError(
      `Expected ${option} to name ${what}, got ${path}, but ${existing} is not a directory. Name another path.`,
    );
  }
  attempt(option, path, existing, () => {
    if (missing.length === 0) return tryTemporary(file);
    // If the process is killed before the removal, the next run finds an empty directory, which it would create anyway.
    const created = join(existing, missing[0]);
    mkdirSync(created);
    rmdirSync(created);
  });
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

/**
 * Returns the format of --format, or else of the file's ending; undefined if neither names one. If both do, they must agree,
 * because many programs choose a reader by the ending. @param option the option that names the file.
 * @throws UsageError if they differ.
 */
export function formatOf(option: string, path: string, format: string | undefined): RowFormat | undefined {
  const ending = extname(path).slice(1).toLowerCase();
  const named = FORMATS.find(({ name }) => name === ending);
  const chosen = FORMATS.find(({ name }) => name === format) ?? named;
  if (named === undefined || named === chosen) return chosen;
  throw new UsageError(
    `Expected ${option} to end with .${chosen!.name}, as --format says, got ${path}. Change ${option} or --format.`,
  );
}
