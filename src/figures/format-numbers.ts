/** Formats numbers for figures: with the minus sign U+2212, and without negative zero. */

/** Formats a number with `digits` decimals. */
export const decimal = (value: number, digits: number): string => {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
};

/** Formats a number with `digits` decimals and its sign; 0 has none. */
export const signed = (value: number, digits: number): string => {
  const text = decimal(value, digits);
  return text.startsWith('−') || Number(text) === 0 ? text : `+${text}`;
};
