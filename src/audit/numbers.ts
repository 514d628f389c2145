/** Numbers as an audit writes them. */

const DIGITS = 3;

/** To three decimals. What rounds to nothing has no sign. */
export const fixed = (value: number): string => value.toFixed(DIGITS).replace(/^-(0\.0+)$/, '$1');
