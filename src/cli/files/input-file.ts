/** Opens input files, and refuses unusable paths before any work is done. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { InputError } from '../../shared/errors.js';
import { BadRow, parseJson } from '../../shared/row-schemas.js';
import { UsageError } from '../command-errors.js';
import { createProgress, type Progress } from '../progress.js';
import { checkKind, KINDS } from './file-kind.js';
import { decodeUtf8, printable, withoutMark } from './lines.js';
import { stat } from './paths.js';

/** Refuses a path that does not exist or is a directory. '-' is the standard input. @throws UsageError. */
export function checkInput(option: string, path: string): void {
  const from = path === '-' ? null : stat(path);
  if (path === '-' || (from !== null && !from.isDirectory())) return;
  const what = from === null ? 'it does not exist' : 'it is a directory';
  throw new UsageError(`Expected ${option} to name a file, got ${path}; ${what}. Check the path.`);
}

/** Refuses a path that names the same file as another option's path. @throws UsageError. */
export function checkDifferentFile(option: string, path: string, other: string, otherPath: string): void {
  const [from, to] = [path, otherPath].map((each) => (each === '-' ? null : stat(each)));
  if (!from?.isFile() || to === null || from.dev !== to.dev || from.ino !== to.ino) return;
  throw new UsageError(
    `Expected ${option} to be another file than ${other}, got ${path}, which is the same file. Name another file.`,
  );
}

/** Checks the path of `--bracket` before any work is done. @param outputs the command's output files. @throws UsageError. */
export function checkBracket(
  path: string | undefined,
  outputs: readonly { readonly option: string; readonly path: string }[] = [],
): void {
  if (path === undefined) return;
  if (path === '-') {
    throw new UsageError(
      'Expected --bracket to name a file, got -, the standard input. Write the audit to a file, and pass its name.',
    );
  }
  checkInput('--bracket', path);
  checkKind('--bracket', path, [KINDS.audit]);
  for (const output of outputs) checkDifferentFile(output.option, output.path, '--bracket', path);
}

/** Returns an input's name in errors. */
export const inputName = (path: string): string => (path === '-' ? 'standard input' : path);

/** Passes an input's bytes on, and counts them as progress. A pipe has no size, and no progress. */
export async function* withProgress(
  path: string,
  input: AsyncIterable<Uint8Array>,
  progress: Progress = createProgress('bytes'),
): AsyncGenerator<Uint8Array> {
  const file = path === '-' ? null : stat(path);
  let done = 0;
  try {
    for await (const chunk of input) {
      done += chunk.length;
      yield chunk;
      if (file?.isFile()) progress.update(done, file.size);
    }
  } finally {
    progress.stop();
  }
}

/** Opens an input stream. Aborting the signal ends it with an AbortError. */
export const openInput = (path: string, signal: AbortSignal): Readable =>
  addAbortSignal(signal, path === '-' ? process.stdin : createReadStream(path));

/** Returns the SHA-256 of a small file, hexadecimal. */
export const fileDigest = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');

/**
 * Reads the first `max` bytes of a file, and one more if there are more. Devices such as /dev/zero never end. Reading is
 * asynchronous, so that signals work while a pipe has no writer.
 */
export const readStart = (path: string, max: number, signal?: AbortSignal): Promise<Buffer> =>
  buffer(createReadStream(path, { end: max, signal }));

/**
 * Reads a small file of JSON and parses its value. '-' is the standard input.
 * @param max the maximum size in bytes. @param remedy for other bytes.
 * @throws UsageError that names the option and the file, also for a BadRow or an InputError of `parse`; an AbortError.
 */
export async function readJson<Value>(
  { option, path, max, remedy }: { option: string; path: string; max: number; remedy: string },
  parse: (value: unknown) => Value,
  signal: AbortSignal,
): Promise<Value> {
  const bytes = await readStart(path === '-' ? '/dev/stdin' : path, max, signal);
  return namingFile(option, path, () => {
    const text = bytes.length > max ? null : decodeUtf8(bytes);
    if (text !== null) return parse(parseJson(withoutMark(text)));
    const got = bytes.length > max ? 'more' : 'other bytes';
    throw new BadRow(`Expected UTF-8 of at most ${max} bytes, got ${got}. ${remedy}`);
  });
}

/** Calls `read`. @throws UsageError with the option and the path, for a BadRow or an InputError of `read`. */
export function namingFile<Value>(option: string, path: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BadRow || error instanceof InputError)) throw error;
    throw new UsageError(`${option} ${path}: ${printable(error.message)}`);
  }
}
