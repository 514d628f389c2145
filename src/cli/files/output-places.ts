/** The places of a command's outputs: no two may be the same, nor what is kept beside one of them until it is whole. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../failure.js';
import { checkNotGrader } from './grader-file.js';
import { checkOutput, targetOf } from './output-file.js';

export interface PlannedOutput {
  /** As a caller writes it: "--json". */
  readonly option: string;
  /** '-' is the standard output. */
  readonly path: string;
  /** Files that are kept until it is whole. */
  readonly meanwhile?: readonly string[];
}

/**
 * Refuses, before any work is done, places that cannot be written to, the grader's file, and places that are taken.
 * @param grader of `--grader`. @throws UsageError.
 */
export function checkOutputs(outputs: readonly PlannedOutput[], grader: string | undefined): void {
  const taken = new Map<string, PlannedOutput>();
  for (const output of outputs) {
    const { option, path, meanwhile = [] } = output;
    checkOutput(option, path);
    for (const each of [path, ...meanwhile]) checkNotGrader(option, each, grader);
    const other = taken.get(placeOf(path));
    if (other !== undefined) refuse(output, other.option);
    taken.set(placeOf(path), output);
  }
  for (const { option, meanwhile = [] } of outputs) {
    const taker = meanwhile.map((path) => taken.get(placeOf(path))).find((each) => each !== undefined);
    if (taker !== undefined) refuse(taker, `those kept until ${option} is whole`);
  }
}

function refuse({ option, path }: PlannedOutput, other: string): never {
  throw new UsageError(`Expected ${option} to be another file than ${other}, got ${path}. Name another.`);
}

/** The same for all names of a place, whether or not there is a file. @param path in a directory that is there, or '-'. */
function placeOf(path: string): string {
  if (path === '-') return path;
  const target = targetOf(path);
  return join(realpathSync(dirname(target)), basename(target));
}
