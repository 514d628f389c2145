/** Input files: refused, if they are to be, before any work is done. */
import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { UsageError } from '../failure.js';
import { stat } from './output-file.js';

/** Refuses a path that is no file. '-' is the standard input. */
export function checkInput(option: string, path: string): void {
  const from = path === '-' ? null : stat(path);
  if (path === '-' || (from !== null && !from.isDirectory())) return;
  const what = from === null ? 'there is none' : 'it is a directory';
  throw new UsageError(`Expected ${option} to name a file, got ${path}; ${what}. Check the path.`);
}

/** Refuses a path that is the same file as another. */
export function checkOther(option: string, path: string, other: string, otherPath: string): void {
  const [from, to] = [path, otherPath].map((each) => (each === '-' ? null : stat(each)));
  if (!from?.isFile() || to === null || from.dev !== to.dev || from.ino !== to.ino) return;
  throw new UsageError(
    `Expected ${option} to be another file than ${other}, got ${path}, which is the same. Name another.`,
  );
}

/** What an error calls an input. */
export const inputName = (path: string): string => (path === '-' ? 'standard input' : path);

/** A stream that ends with the signal's reason when that is aborted. */
export const openInput = (path: string, signal: AbortSignal): Readable =>
  addAbortSignal(signal, path === '-' ? process.stdin : createReadStream(path));
