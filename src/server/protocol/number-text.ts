/** Writes float32 numbers as JSON: the shortest decimals that read back to the same bits. */
import { float32Decimal, float32Decimals } from '../../shared/float32-decimal.js';

/**
 * Formats a float32 as JSON text. -0 becomes -0.0: `JSON.stringify` would print 0, and some parsers read -0 as the integer 0.
 * @returns 'null' for NaN and infinities, which JSON lacks.
 */
export const numberText = (value: number): string => decimalText(float32Decimal(value));

function decimalText(decimal: number): string {
  if (!Number.isFinite(decimal)) return 'null';
  return isNegativeZero(decimal) ? '-0.0' : String(decimal);
}

/** Formats entries `from` up to `to` (excluded) as a JSON array. */
export function listText(values: Float32Array, from = 0, to = values.length): string {
  const decimals = float32Decimals(values.subarray(from, to));
  // JSON.stringify is faster, but drops the sign of zero.
  return decimals.some(isNegativeZero) ? `[${decimals.map(decimalText).join()}]` : JSON.stringify(decimals);
}

const isNegativeZero = (value: number): boolean => Object.is(value, -0);
