/** Finds the lines of episodes in files, by keys. */
import type { FileHandle } from 'node:fs/promises';
import { readFully } from '../files/input-file.js';
import { withoutMark } from '../files/lines.js';

/** A line of a file, without its line end: the byte offsets of its first byte and of the byte after its last. */
export interface StoredLine {
  readonly handle: FileHandle;
  readonly start: number;
  readonly end: number;
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
