/** The shortest decimals of float32 numbers, compared with exact arithmetic. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { float32Decimal, float32Decimals } from '../../src/shared/float32-decimal.js';
import { drawsOf } from '../support/random.js';

const fromBits = (bits: number): number => new Float32Array(Uint32Array.of(bits).buffer)[0];

/** A decimal: `digits` times ten to the power `exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The unit of exact arithmetic is 2^-150 x 10^-60. All float32s, their midpoints and decimals are multiples of it. */
const UNIT_BITS = 150n;
const UNIT_TENS = 60;
/** Returns a number as a multiple of the unit. */
const scaled = (value: number): bigint => {
  let [significand, power] = [value, 0n];
  while (!Number.isInteger(significand)) [significand, power] = [significand * 2, power + 1n];
  return (BigInt(significand) << (UNIT_BITS - power)) * 10n ** BigInt(UNIT_TENS);
};
const scaledDecimal = ({ digits, exponent }: Decimal): bigint =>
  (digits << UNIT_BITS) * 10n ** BigInt(UNIT_TENS + exponent);

/** Returns the shortest decimal of a positive float32, found by trying every number of digits. */
function expectedDecimal(bits: number): number {
  const exact = scaled(fromBits(bits));
  const [below, above] = [scaled(fromBits(bits - 1)), scaled(fromBits(bits + 1))];
  // A decimal halfway between two float32s converts to the one with even bits.
  const isEven = bits % 2 === 0;
  const isIn = (decimal: Decimal): boolean => {
    const twice = 2n * scaledDecimal(decimal);
    const [low, high] = [below + exact, exact + above];
    return isEven ? twice >= low && twice <= high : twice > low && twice < high;
  };
  for (let count = 1; ; count++) {
    const exponent = Number(fromBits(bits).toExponential(8).split('e')[1]) - count + 1;
    const unit = scaledDecimal({ digits: 1n, exponent });
    const first = exact / unit;
    const candidates = [first, first + 1n].map((digits) => ({ digits, exponent })).filter(isIn);
    if (candidates.length === 0) continue;
    const distance = (decimal: Decimal): bigint => {
      const difference = scaledDecimal(decimal) - exact;
      return difference < 0n ? -difference : difference;
    };
    const [a, b = a] = candidates;
    const isNearer = distance(b) < distance(a) || (distance(b) === distance(a) && b.digits % 2n === 0n);
    const { digits } = isNearer ? b : a;
    return Number(`${digits}e${exponent}`);
  }
}

const positiveBits = (low: number, high: number) => fc.integer({ min: low, max: high });
const [SMALLEST, SMALLEST_NORMAL, ONE, LARGEST] = [1, 0x00800000, 0x3f800000, 0x7f7fffff];

describe('the shortest decimal', () => {
  it.each<[bits: number, text: string]>([
    [0x3f333333, '0.7'],
    [0x3eaaaaab, '0.33333334'],
    [0x4b800000, '16777216'],
    // 2097152.25 is halfway between two decimals that convert back to it. The even decimal is chosen.
    [0x4a000001, '2097152.2'],
    [0x4a000003, '2097152.8'],
    // The decimals of eight digits nearest to 2^-96 and 2^87 do not convert back, but the next decimals do.
    [0x0f800000, '1.2621775e-29'],
    [0x6b000000, '1.5474251e+26'],
    [SMALLEST, '1e-45'],
    [SMALLEST_NORMAL, '1.1754944e-38'],
    [LARGEST, '3.4028235e+38'],
  ])('of the float32 with the bits %i is %s', (bits, text) => {
    expect(String(float32Decimal(fromBits(bits)))).toBe(text);
    expect(String(float32Decimal(-fromBits(bits)))).toBe(`-${text}`);
  });

  it.each([
    ['all but the largest', SMALLEST, LARGEST - 1],
    ['subnormal', SMALLEST, SMALLEST_NORMAL - 1],
    ['from 2^-16 to 1', ONE - 0x08000000, ONE],
    ['with ties', 0x49800000, 0x4b800000],
  ])('of random float32s (%s) equals the decimal that exact arithmetic finds', (_, low, high) => {
    fc.assert(
      fc.property(positiveBits(low, high), (bits) => {
        const value = fromBits(bits);
        const decimal = float32Decimal(value);
        if (decimal !== expectedDecimal(bits)) throw new Error(`${value}: ${decimal}`);
        if (Math.fround(Number(String(decimal))) !== value) throw new Error(`${value} does not convert back`);
        if (float32Decimal(-value) !== -decimal) throw new Error(`${value}: another decimal if negative`);
      }),
      { numRuns: drawsOf(3000) },
    );
  });

  it('of every normal power of two, and of the next float32, equals the decimal that exact arithmetic finds', () => {
    for (let exponent = 1; exponent < 255; exponent++) {
      for (const bits of [0, 1].map((least) => exponent * 2 ** 23 + least)) {
        expect(float32Decimal(fromBits(bits))).toBe(expectedDecimal(bits));
      }
    }
  });

  it('of 0, NaN, an infinity or a number that is not a float32 is the number itself', () => {
    const others = [0.7, 1 / 3, 1e300, 5e-324, 2 ** 40 + 1, Number.NaN, Infinity, -Infinity, 0, -0];
    expect(float32Decimals(others)).toEqual(others);
  });
});
