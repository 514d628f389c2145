/** Checks the range of many float32s by their bits, several times faster than comparing numbers. */

/** A range of floats: 0, and magnitudes from `low` to `high`. It includes negative floats only if `signed`. */
export interface FloatRange {
  readonly low: number;
  readonly high: number;
  readonly signed: boolean;
}

/** All bits but the sign. */
const MAGNITUDE = 0x7fffffff;

/** Returns a view of floats as integers with the same bits. */
const wordsOf = (floats: Float32Array): Int32Array =>
  new Int32Array(floats.buffer, floats.byteOffset, floats.length);

/**
 * Returns the bits of a float as an integer. For positive floats, a larger float has larger bits; infinity and NaN have the
 * largest. The bits of negative floats are negative integers.
 */
const bitsOf = (float: number): number => wordsOf(Float32Array.of(float))[0];

/**
 * Returns the index of the first float outside a range; -1 if there is none. NaN is outside every range. Replaces each -0 that
 * it finds by 0.
 * @param floats rows of `width` floats, changed in place. @param mask u8 [rows], the rows to check; null for all.
 */
export function firstOutside(
  floats: Float32Array,
  { low, high, signed }: FloatRange,
  width: number,
  mask: Uint8Array | null,
): number {
  const words = wordsOf(floats);
  // Without the sign bit, a negative float has the bits of its magnitude. With it, the bits are negative: below every range.
  const bitMask = signed ? MAGNITUDE : -1;
  const [lowBits, highBits] = [bitsOf(low), bitsOf(high)];
  for (let row = 0, at = 0; at < words.length; row++) {
    const end = at + width;
    if (mask !== null && mask[row] === 0) at = end;
    for (; at < end; at++) {
      const bits = words[at] & bitMask;
      if (bits >= lowBits && bits <= highBits) continue;
      if ((words[at] & MAGNITUDE) !== 0) return at;
      // The float is 0 or -0.
      words[at] = 0;
    }
  }
  return -1;
}
