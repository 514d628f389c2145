/** The shortest decimals of float32 numbers, for JSON and other text: 0.7 instead of 0.699999988079071. */

/** Integers with an absolute value below this are their own shortest decimals. */
const INTEGER_LIMIT = 2 ** 24;
/** Significant digits with which every float32 reads back. */
const MAX_DIGITS = 9;
const MANTISSA = 0x7fffff;

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/**
 * Indexed by the exponent bits of a float32: the smallest power of ten whose reciprocal is less than the distance between
 * neighbouring float32 numbers with these bits. An entry is 0 for the numbers that always need `decimalBySearch`: those from
 * 2^23 on, and those below 2^-16, whose product with the power may not be an exact float64.
 */
const SCALES = Float64Array.from({ length: 256 }, (_, exponent) => {
  // 127 is the bias of a float32's exponent, and 23 the number of bits of its mantissa.
  const power = exponent - 127;
  if (power < -16 || power > 22) return 0;
  let digits = 0;
  while (10 ** -digits >= 2 ** (power - 23)) digits++;
  return 10 ** digits;
});

/**
 * Returns the float64 that prints as the shortest decimal that reads back to the same float32. If several decimals are
 * equally short, it returns the nearest; if two are equally near, the one with an even last digit.
 * @param value a float32. NaN, infinities, -0 and numbers that are not float32 are returned unchanged.
 */
export function float32Decimal(value: number): number {
  // A 32-bit integer stays the same under `| 0`.
  if ((value | 0) === value && Math.abs(value) < INTEGER_LIMIT) return value;
  float[0] = value;
  const scale = SCALES[(bits[0] >>> 23) & 0xff];
  if (scale === 0) return decimalBySearch(value);
  // At most one multiple of 10 / scale lies in the interval of numbers that read back to the float32.
  const coarse = Math.round(value * (scale / 10)) / (scale / 10);
  if (Math.fround(coarse) === value) return coarse;
  const fine = roundToEven(value * scale) / scale;
  return Math.fround(fine) === value ? fine : decimalBySearch(value);
}

function roundToEven(value: number): number {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

/**
 * Removes digits while a decimal still reads back. Does not round to even: no number for which this function is called lies
 * halfway between two decimals that read back.
 */
function decimalBySearch(value: number): number {
  let shortest = value;
  for (let digits = MAX_DIGITS; digits > 0; digits--) {
    const decimal = candidates(value, digits).find((each) => Math.fround(each) === value);
    if (decimal === undefined) break;
    shortest = decimal;
  }
  return shortest;
}

/**
 * Returns the nearest decimal with `digits` significant digits. For a power of two it also returns the next decimal away
 * from zero. The interval of numbers that read back is twice as wide on the side away from zero, so the next decimal may
 * read back when the nearest does not.
 */
function candidates(value: number, digits: number): number[] {
  const nearest = value.toExponential(digits - 1);
  // `float32Decimal` has set `bits`. The mantissa of a power of two is 0.
  if (bits[0] & MANTISSA) return [Number(nearest)];
  const [significand, exponent] = nearest.replace('.', '').split('e');
  const next = Number(significand) + Math.sign(value);
  return [Number(nearest), Number(`${next}e${Number(exponent) - digits + 1}`)];
}

/** Returns `float32Decimal` of each entry. */
export function float32Decimals(values: ArrayLike<number>): number[] {
  // Faster than Array.from, which calls an iterator.
  const decimals: number[] = [];
  for (let k = 0; k < values.length; k++) decimals.push(float32Decimal(values[k]));
  return decimals;
}
