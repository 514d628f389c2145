/** Formats numbers as JSON that reads back to the same bits. */

/**
 * Formats a number as JSON text. The shortest decimal of a float32's double reads back to exactly that double, and so
 * to that float32. -0, which `JSON.stringify` prints as 0, becomes -0.0, which no reader takes for an integer.
 * @returns 'null' for NaN and infinities, which JSON lacks.
 */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  return Object.is(value, -0) ? '-0.0' : String(value);
}

/** Joins entries `from` up to `to` (excluded) with commas. */
export function numbersText(values: ArrayLike<number>, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++)
    text += at === from ? numberText(values[at]) : `,${numberText(values[at])}`;
  return text;
}

/** Formats entries `from` up to `to` (excluded) as a JSON array. */
export const listText = (values: ArrayLike<number>, from = 0, to = values.length): string =>
  `[${numbersText(values, from, to)}]`;
