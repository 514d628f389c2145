/** Checks that a command can write its outputs, and that they are different files. */
import { realpathSync } from 'node:fs';
import { devNull } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../command-errors.js';
import { checkNotGrader } from './grader-file.js';
import { checkOutput } from './output-file.js';
import { existingPart, targetOf } from './paths.js';
import { foldedName } from './temporary-file.js';

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
