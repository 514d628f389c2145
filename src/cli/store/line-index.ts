/** Finds the lines of episodes in files, by keys. */
import type { FileHandle } from 'node:fs/promises';
import { UsageError } from '../command-errors.js';

/** A line of a file, without its line end: the byte offsets of its first byte and of the byte after its last. */
export interface StoredLine {
  readonly handle: FileHandle;
  readonly start: number;
  readonly end: number;
}

const LF = 0x0a;
/** The number of bytes of a read. Chosen by hand: a smaller chunk needs more reads. */
const CHUNK_BYTES = 2 ** 18;

/** Yields the lines of a file, in constant memory. `whole` is false for a last line without a line end. */
export async function* linesOf(handle: FileHandle): AsyncGenerator<StoredLine & { readonly whole: boolean }> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let [start, position] = [0, 0];
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) break;
    const read = chunk.subarray(0, bytesRead);
    for (let at = read.indexOf(LF); at >= 0; at = read.indexOf(LF, at + 1)) {
      yield { handle, start, end: position + at, whole: true };
      start = position + at + 1;
    }
    position += bytesRead;
  }
  if (start < position) yield { handle, start, end: position, whole: false };
}

/** Reads the bytes of a line. @throws UsageError if another process has shortened the file. */
export async function bytesOf({ handle, start, end }: StoredLine): Promise<Buffer> {
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
      if (line !== undefined) yield (await bytesOf(line)).toString();
    }
  }
}
