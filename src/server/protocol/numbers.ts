/** Numbers as JSON that reads back to the same bits. */

/**
 * A number as JSON text. The shortest decimal of a float32's double reads back to exactly that double, so to that float32;
 * the sign of -0, which `JSON.stringify` drops, is kept in a form that no reader takes for an integer.
 * @returns 'null' for NaN and infinities, which JSON does not have.
 */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  return Object.is(value, -0) ? '-0.0' : String(value);
}

/** Entries `from` to before `to`, with commas between them. */
export function numbersText(values: ArrayLike<number>, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++)
    text += at === from ? numberText(values[at]) : `,${numberText(values[at])}`;
  return text;
}

/** The same as a JSON array. */
export const listText = (values: ArrayLike<number>, from = 0, to = values.length): string =>
  `[${numbersText(values, from, to)}]`;
