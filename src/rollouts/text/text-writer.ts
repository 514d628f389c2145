/** Writes ASCII texts as bytes, and makes strings of them at the end: faster than joining a hundred strings for each text. */
import { formatHundredths, hundredthsOf, MAX_PRECOMPUTED } from './format-hundredths.js';

/** More bytes than the longest prompt has, counting 25 bytes for each number. */
const LONGEST = 8192;
/**
 * In Node, texts of at least this many bytes together become one large string, and each text a slice of it. Node keeps
 * strings of more than 1,031,913 bytes outside JavaScript's heap, where its collectors do not copy them.
 */
const LARGE = 1_100_000;
/** The highest byte of a number's second word is the length of its text, at most seven bytes. */
const LENGTH_SHIFT = 24;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const { Buffer: NodeBuffer } = globalThis as { Buffer?: typeof Buffer };

/** The bytes of a text, padded with zeros. They are written four at a time. */
export interface Fragment {
  /** u32 of four bytes, the first in the lowest bits. */
  readonly words: Uint32Array;
  readonly length: number;
}

/** Returns ASCII text as a fragment. */
export function fragmentOf(text: string): Fragment {
  const bytes = encoder.encode(text);
  const words = new Uint32Array(Math.ceil(bytes.length / 4));
  for (const [k, byte] of bytes.entries()) words[k >> 2] |= byte << (8 * (k & 3));
  return { words, length: bytes.length };
}

/** u32 [2001, 2]: a space, a number and the length of both, by hundredths plus MAX_PRECOMPUTED. */
const NUMBERS = Uint32Array.from(
  Array.from({ length: 2 * MAX_PRECOMPUTED + 1 }, (_, at) => {
    const { words, length } = fragmentOf(` ${formatHundredths((at - MAX_PRECOMPUTED) / 100)}`);
    return [words[0], (words[1] ?? 0) | (length << LENGTH_SHIFT)];
  }).flat(),
);

/** Collects texts. Several texts may be decoded together, as parts of one large string. */
export class TextWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #words: DataView;
  /** When this many bytes are written, the texts must be taken. */
  readonly #takeAt: number;
  #length = 0;
  #ends: number[] = [];

  /** @param isLarge whether to build large strings: faster if many texts are kept. Outside Node it has no effect. */
  constructor(isLarge: boolean) {
    this.#takeAt = isLarge && NodeBuffer !== undefined ? LARGE : 0;
    this.#bytes = new Uint8Array(this.#takeAt + LONGEST);
    this.#words = new DataView(this.#bytes.buffer);
  }

  /** Ends a text. @returns whether the texts must be taken before another is written. */
  end(): boolean {
    this.#ends.push(this.#length);
    return this.#length >= this.#takeAt;
  }

  /** Appends a fragment. */
  put({ words, length }: Fragment): void {
    const start = this.#length;
    for (let k = 0; k < words.length; k++) this.#words.setUint32(start + 4 * k, words[k], true);
    this.#length = start + length;
  }

  /** Appends the numbers `values[from]` to `values[from + count - 1]`, each after a space, as `formatHundredths` writes it. */
  putNumbers(values: Float32Array, from: number, count: number): void {
    const words = this.#words;
    let end = this.#length;
    for (let k = from; k < from + count; k++) {
      const hundredths = hundredthsOf(values[k]);
      if (!(Math.abs(hundredths) <= MAX_PRECOMPUTED)) {
        this.#length = end;
        this.put(fragmentOf(` ${formatHundredths(values[k])}`));
        end = this.#length;
        continue;
      }
      const at = 2 * (hundredths + MAX_PRECOMPUTED);
      const high = NUMBERS[at + 1];
      words.setUint32(end, NUMBERS[at], true);
      words.setUint32(end + 4, high, true);
      end += high >>> LENGTH_SHIFT;
    }
    this.#length = end;
  }

  /** Returns the texts that were ended, and empties the writer. */
  take(): string[] {
    const all = this.#decode();
    const ends = this.#ends;
    this.#length = 0;
    this.#ends = [];
    return ends.length === 1 ? [all] : ends.map((end, k) => all.slice(k === 0 ? 0 : ends[k - 1], end));
  }

  #decode(): string {
    const { buffer } = this.#bytes;
    if (this.#takeAt === 0) return decoder.decode(this.#bytes.subarray(0, this.#length));
    return NodeBuffer!.from(buffer).toString('latin1', 0, this.#length);
  }
}
