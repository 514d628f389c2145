/** Decodes bytes as UTF-8, splits a stream of bytes into numbered lines, and finds lines in files by keys. */
import type { FileHandle } from 'node:fs/promises';
import { toPrintable } from '../../shared/names.js';
import { UsageError } from '../command-errors.js';

/** One line without its line end: its text, or the problem. */
export interface Line {
  /** From 1 on. */
  readonly number: number;
  readonly text: string | null;
  readonly problem?: string;
  /** Byte offsets of the line's first byte and of the byte after its last. */
  readonly start: number;
  readonly end: number;
}

const LF = 0x0a;

/**
 * Yields the lines of a stream, split at LF. Removes a CR at the end of a line, and byte order marks at its beginning.
 * A line longer than `maxBytes` is not stored. In place of it, and of a line that is not UTF-8, a problem is yielded.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  let [number, start, end] = [1, 0, 0];
  let pieces: Uint8Array[] = [];
  const add = (piece: Uint8Array): void => {
    end += piece.length;
    if (end - start > maxBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const take = (): Line => {
    const line = { number, ...contentOf(pieces, end - start, maxBytes, number === 1), start, end };
    [number, start, end, pieces] = [number + 1, end + 1, end + 1, []];
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(LF); to >= 0; to = chunk.indexOf(LF, from)) {
      add(chunk.subarray(from, to));
      yield take();
      from = to + 1;
    }
    add(chunk.subarray(from));
  }
  if (end > start) yield take();
}

/** Returns the text of a line, or the problem. @param pieces its bytes, unless there are more than `maxBytes`. */
function contentOf(
  pieces: readonly Uint8Array[],
  bytes: number,
  maxBytes: number,
  isFirst: boolean,
): Pick<Line, 'text' | 'problem'> {
  if (bytes > maxBytes)
    return { text: null, problem: `Expected a line of at most ${maxBytes} bytes, got ${bytes}.` };
  // Empty lines are not decoded: a call of the decoder takes longer than all other work for such a line.
  if (bytes === 0) return { text: '' };
  const whole = Buffer.concat(pieces);
  const text = decodeUtf8(whole);
  if (text === null) {
    const other = isFirst ? otherFormat(whole) : undefined;
    return { text, problem: `Expected UTF-8, got ${other ?? 'other bytes.'}` };
  }
  const unmarked = withoutMark(text);
  return { text: unmarked.endsWith('\r') ? unmarked.slice(0, -1) : unmarked };
}

/** Formats that are passed by mistake, by their first two bytes: a description with the remedy. */
const FORMATS = {
  '1f8b': 'a gzip file. Unpack it first, for example with gunzip --keep.',
  fffe: 'UTF-16. Convert it first, for example with iconv --from-code UTF-16 --to-code UTF-8.',
  feff: 'UTF-16. Convert it first, for example with iconv --from-code UTF-16 --to-code UTF-8.',
} as const;

/** Returns the entry of FORMATS for a file that begins with `bytes`; undefined if unknown. */
const otherFormat = (bytes: Buffer): string | undefined =>
  FORMATS[bytes.toString('hex', 0, 2) as keyof typeof FORMATS];

/**
 * The number of characters after which a printed reason is cut. Chosen by hand: more fill the terminal, fewer omit the remedy.
 */
const MAX_REASON = 400;

/** Shortens a reason and replaces characters that terminals interpret, because the reason quotes the input. */
export function printable(reason: string): string {
  const short = reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}...` : reason;
  return toPrintable(short);
}

/** Returns the text of UTF-8 bytes, including byte order marks; null for invalid bytes. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Returns a text or a line without byte order marks at its beginning. Files that are joined have several. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF+/, '');

/** A line of a file, without its line end: the byte offsets of its first byte and of the byte after its last. */
export interface StoredLine {
  readonly handle: FileHandle;
  readonly start: number;
  readonly end: number;
}

/** Reads the bytes [start, end) of a file. @throws UsageError if another process has shortened the file. */
export async function readFully(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0) {
      throw new UsageError(
        'Expected no change of a file while it is read, but another process shortened it. Try again.',
      );
    }
    done += bytesRead;
  }
  return bytes;
}

/** Reads the text of a line, without byte order marks. @throws UsageError if another process has shortened the file. */
export const textOf = async ({ handle, start, end }: StoredLine): Promise<string> =>
  withoutMark((await readFully(handle, start, end)).toString());

/** The places of lines by the keys of their episodes. */
export class LineIndex {
  readonly #lines = new Map<string, StoredLine>();

  get size(): number {
    return this.#lines.size;
  }

  get keys(): string[] {
    return [...this.#lines.keys()];
  }

  has(key: string): boolean {
    return this.#lines.has(key);
  }

  add(key: string, line: StoredLine): void {
    this.#lines.set(key, line);
  }

  /** Yields the lines of these keys as text, in the order of `keys`. Skips keys without a line. */
  async *read(keys: Iterable<string>): AsyncGenerator<string> {
    for (const key of keys) {
      const line = this.#lines.get(key);
      if (line !== undefined) yield await textOf(line);
    }
  }
}
