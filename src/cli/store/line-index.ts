/** Finds the lines of episodes in files, by keys. */
import type { FileHandle } from 'node:fs/promises';
import { UsageError } from '../command-errors.js';
import { withoutMark } from '../files/lines.js';

/** A line of a file, without its line end: the byte offsets of its first byte and of the byte after its last. */
export interface StoredLine {
  readonly handle: FileHandle;
  readonly start: number;
  readonly end: number;
}

/** Reads the text of a line, without byte order marks. @throws UsageError if another process has shortened the file. */
export async function textOf({ handle, start, end }: StoredLine): Promise<string> {
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
  return withoutMark(bytes.toString());
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
      if (line !== undefined) yield await textOf(line);
    }
  }
}
