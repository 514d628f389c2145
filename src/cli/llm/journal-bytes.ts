/** Reads and writes the bytes of a journal's files (journal.ts): lines of episodes, and the amount spent on a language model. */
import { readFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { LineSpan } from '../../shared/line-spans.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { UsageError } from '../command-errors.js';
import { stat } from '../files/paths.js';
import { syncToDisk } from '../files/sync-to-disk.js';

/** The file of an episode's line, and the line's place in it. */
export interface Entry extends LineSpan {
  readonly handle: FileHandle;
}

/** The beginning of every episode's line, up to the schema's name. */
const LINE_HEAD = JSON.stringify({ schema: { name: SCHEMAS.trajectory.name } }).slice(0, -2);

/** Returns whether a text can be the beginning of an episode's line. It ignores zero bytes at the end, left by a crash. */
export function isBeginning(text: string): boolean {
  const written = text.replace(/\0+$/, '');
  return written.startsWith(LINE_HEAD) || LINE_HEAD.startsWith(written);
}

/** Writes all bytes at an offset of a file, and syncs the file to disk. */
export async function writeAt(handle: FileHandle, start: number, bytes: Buffer): Promise<void> {
  await writeFully(handle, start, bytes);
  await syncToDisk(handle);
}

/** Writes all bytes at an offset of a file. A single system call may write fewer. */
export async function writeFully(handle: FileHandle, start: number, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
  }
}

/** Reads the bytes of an episode's line. @throws UsageError if another process has shortened the file. */
export async function bytesOf({ handle, start, end }: Entry): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0)
      throw new UsageError(
        'Expected the output to stay unchanged, but another process shortened it. Try again.',
      );
    done += bytesRead;
  }
  return bytes;
}

/** Returns the stored amount in dollars; 0 if the file is missing or empty. @throws UsageError for a file with another text. */
export function readAmount(path: string): number {
  if (stat(path) === null) return 0;
  const text = readFileSync(path, 'utf8').trim();
  if (text === '') return 0;
  const amount = /^\{"spent_usd":([\d.e+-]+)\}$/.exec(text)?.[1];
  if (amount !== undefined && Number.isFinite(Number(amount))) return Number(amount);
  throw new UsageError(
    `Expected ${path} to hold the amount spent, got something else. Write {"spent_usd":0} into it, with the right amount instead of 0.`,
  );
}
