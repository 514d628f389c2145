/** A stream of bytes as numbered lines, in constant memory. */
import { madePrintable } from '../../validate/names.js';
import { decodeUtf8, withoutMark } from './utf8.js';

/** One line without its end. Either its text, or why it has none. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string | null;
  readonly problem?: string;
}

const LF = 0x0a;

/**
 * Splits at LF; a CR before it and a byte order mark before the first line are dropped.
 * A line longer than `maxBytes` is passed over without being kept; its number counts.
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
    const text = decodeUtf8(Buffer.concat(pieces));
    if (text === null) return { number, text, problem: 'Expected UTF-8, got bytes that are none.' };
    const unmarked = number === 1 ? withoutMark(text) : text;
    return { number, text: unmarked.endsWith('\r') ? unmarked.slice(0, -1) : unmarked };
  }
}

/** More of a reason than this helps nobody. */
const MAX_REASON = 400;

/** A reason as people see it: it quotes the input, which may hold anything, and a terminal is not to obey it. */
export function printable(reason: string): string {
  const short = reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}...` : reason;
  return madePrintable(short);
}
