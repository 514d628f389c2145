/** Formats numbers as JSON without loss. */

/**
 * Formats a number as JSON text. Parsing the text returns the same number. -0 becomes -0.0: `JSON.stringify` would print
 * 0, and some parsers read -0 as the integer 0.
 * @returns 'null' for NaN and infinities, which JSON lacks.
 */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  return Object.is(value, -0) ? '-0.0' : String(value);
}

/** Formats entries `from` up to `to` (excluded) as a JSON array. */
export function listText(values: ArrayLike<number>, from = 0, to = values.length): string {
  let text = '[';
  for (let at = from; at < to; at++)
    text += at === from ? numberText(values[at]) : `,${numberText(values[at])}`;
  return `${text}]`;
}
