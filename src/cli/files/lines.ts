/** Decodes bytes as UTF-8, and splits a stream of bytes into numbered lines. */
import { toPrintable } from '../../shared/names.js';

/** One line without its line end: its text, or the problem. */
export interface Line {
  /** From 1 on. */
  readonly number: number;
  readonly text: string | null;
  readonly problem?: string;
}

const LF = 0x0a;

/**
 * Yields the lines of a stream, split at LF. Removes a CR at the end of a line, and byte order marks at its beginning.
 * A line longer than `maxBytes` is not stored. In place of it, and of a line that is not UTF-8, a problem is yielded.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  const line = new PendingLine(maxBytes);
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(LF); to >= 0; to = chunk.indexOf(LF, from)) {
      line.add(chunk.subarray(from, to));
      yield line.end();
      from = to + 1;
    }
    line.add(chunk.subarray(from));
  }
  if (!line.empty) yield line.end();
}

/** The pieces of the line that is being read. */
class PendingLine {
  readonly #maxBytes: number;
  #number = 1;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get empty(): boolean {
    return this.#bytes === 0;
  }

  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  end(): Line {
    const number = this.#number++;
    const bytes = this.#bytes;
    const pieces = this.#pieces;
    this.#bytes = 0;
    this.#pieces = [];
    if (bytes > this.#maxBytes) {
      const problem = `Expected a line of at most ${this.#maxBytes} bytes, got ${bytes}.`;
      return { number, text: null, problem };
    }
    // Empty lines are not decoded: a call of the decoder takes longer than all other work for such a line.
    const whole = Buffer.concat(pieces);
    const text = bytes === 0 ? '' : decodeUtf8(whole);
    if (text === null) {
      const other = number === 1 ? otherFormat(whole) : undefined;
      return { number, text, problem: `Expected UTF-8, got ${other ?? 'other bytes.'}` };
    }
    const unmarked = withoutMark(text);
    return { number, text: unmarked.endsWith('\r') ? unmarked.slice(0, -1) : unmarked };
  }
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

const MARK = Buffer.from('\uFEFF');

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

/** Returns the number of bytes of the byte order marks at the beginning of UTF-8. */
export function markLength(bytes: Buffer): number {
  let length = 0;
  while (MARK.equals(bytes.subarray(length, length + MARK.length))) length += MARK.length;
  return length;
}
