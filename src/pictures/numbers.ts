/** Numbers as pictures print them: a true minus, and no negative zero. */

export const decimal = (value: number, digits: number): string => {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
};

/** With its sign. */
export const signed = (value: number, digits: number): string => {
  const text = decimal(value, digits);
  return text.startsWith('−') || Number(text) === 0 ? text : `+${text}`;
};
