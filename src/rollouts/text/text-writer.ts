/** Writes ASCII texts as bytes, and makes strings of them at the end: faster than joining a hundred strings for each text. */
import { formatHundredths, HUNDRED, MAX_PRECOMPUTED } from './format-hundredths.js';

/** More bytes than any prompt has, even if each number has 25 bytes, the most that `formatHundredths` writes. */
const LONGEST = 8192;
/**
 * In Node, texts of at least this many bytes together become one large string, and each text a slice of it. Node keeps
 * strings of more than 1,031,913 bytes outside JavaScript's heap, where garbage collection does not copy them.
 */
const LARGE = 1_100_000;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const { Buffer: NodeBuffer } = globalThis as { Buffer?: typeof Buffer };

/** The bytes of a text, padded with zeros. They are written eight at a time. */
export interface Fragment {
  /** Eight bytes each, the first in the lowest bits. No ASCII text has the bits of a NaN, which JavaScript may change. */
  readonly words: Float64Array;
  readonly length: number;
}

/** Returns ASCII text as a fragment. */
export function fragmentOf(text: string): Fragment {
  const { length } = text;
  const words = new Float64Array(Math.ceil(length / 8));
  const bytes = new Uint8Array(8 * words.length);
  encoder.encodeInto(text, bytes);
  const view = new DataView(bytes.buffer);
  words.forEach((_, k) => {
    words[k] = view.getFloat64(8 * k, true);
  });
  return { words, length };
}

/**
 * The index of 0 in `Numbers`, plus 0.5, so that cutting off a position's fraction rounds it. HUNDRED is a little more than
 * 100, so that halves round away from zero.
 */
const ZERO_POSITION = MAX_PRECOMPUTED + 0.5;
/** The index for all numbers that are not precomputed: one after the last precomputed number. */
const NOT_PRECOMPUTED = 2 * MAX_PRECOMPUTED + 1;

/** Numbers, each after the same prefix. */
export interface Numbers {
  readonly prefix: string;
  /** Prefix and number, padded with zeros. The number of h hundredths is at index h + MAX_PRECOMPUTED. */
  readonly words: Float64Array;
  /** The number of bytes of each; 0 if it is more than eight, and for NOT_PRECOMPUTED. */
  readonly lengths: Uint8Array;
}

/** Precomputes numbers after a prefix of at most three ASCII characters. */
export function numbersAfter(prefix: string): Numbers {
  const fragments = Array.from({ length: 2 * MAX_PRECOMPUTED + 1 }, (_, at) =>
    fragmentOf(prefix + formatHundredths((at - MAX_PRECOMPUTED) / 100)),
  );
  return {
    prefix,
    words: Float64Array.from(fragments, ({ words }) => words[0]),
    lengths: Uint8Array.from([...fragments.map(({ length }) => (length <= 8 ? length : 0)), 0]),
  };
}

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
    const view = this.#words;
    const start = this.#length;
    for (let k = 0; k < words.length; k++) view.setFloat64(start + 8 * k, words[k], true);
    this.#length = start + length;
  }

  /** Appends `values[from]` to `values[from + count - 1]`, each after the prefix, as `formatHundredths` writes it. */
  putNumbers(numbers: Numbers, values: Float32Array, from: number, count: number): void {
    const view = this.#words;
    const { words, lengths } = numbers;
    let end = this.#length;
    for (let k = from; k < from + count; k++) {
      // The integer part is `hundredthsOf(values[k]) + MAX_PRECOMPUTED`. `| 0` is faster than `Math.round`.
      const position = values[k] * HUNDRED + ZERO_POSITION;
      const at = position >= 0 && position < lengths.length ? position | 0 : NOT_PRECOMPUTED;
      const length = lengths[at];
      if (length === 0) {
        this.#length = end;
        this.put(fragmentOf(numbers.prefix + formatHundredths(values[k])));
        end = this.#length;
        continue;
      }
      view.setFloat64(end, words[at], true);
      end += length;
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
