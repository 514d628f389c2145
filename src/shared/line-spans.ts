/** Finds the lines of a file. */
import type { FileHandle } from 'node:fs/promises';

/** The place of a line in its file. */
export interface LineSpan {
  /** Byte offsets in the file, without the line end. */
  readonly start: number;
  readonly end: number;
}

const LF = 0x0a;
/** The number of bytes of a read. Chosen by hand: a smaller chunk needs more reads. */
const CHUNK_BYTES = 2 ** 18;

/** Yields the lines of a file, in constant memory. `whole` is false for a last line without a line end. */
export async function* lineSpans(handle: FileHandle): AsyncGenerator<LineSpan & { whole: boolean }> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let [start, position] = [0, 0];
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) break;
    const read = chunk.subarray(0, bytesRead);
    for (let at = read.indexOf(LF); at >= 0; at = read.indexOf(LF, at + 1)) {
      yield { start, end: position + at, whole: true };
      start = position + at + 1;
    }
    position += bytesRead;
  }
  if (start < position) yield { start, end: position, whole: false };
}
