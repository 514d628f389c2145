/** Texts of figures: numbers, and the width of lines without measuring them. */
import { FONT_SIZE } from './theme.js';

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

/** Upper bounds of character widths in the font Inter, regular and semibold, as shares of the font size. */
const NARROW = 0.4;
const MEDIUM = 0.64;
const WIDE = 0.88;
const NARROW_CHARACTERS = new Set(' !"\'(),-./1:;I[\\]`fijlrt|');
const WIDE_CHARACTERS = new Set('%@ACDGHMNOQUVWXYmw');

/** Estimates the width of a line of text, in the unit of the font size. Characters beyond ASCII count as wide. */
export function textWidth(text: string, fontSize: number): number {
  let shares = 0;
  for (const character of text) shares += shareOf(character);
  return shares * fontSize;
}

/** Estimates the width of the widest line in the default font size, in pixels. */
export const widestOf = (texts: readonly string[]): number =>
  Math.max(...texts.map((text) => textWidth(text, FONT_SIZE)));

function shareOf(character: string): number {
  if (NARROW_CHARACTERS.has(character)) return NARROW;
  return WIDE_CHARACTERS.has(character) || character > '~' ? WIDE : MEDIUM;
}
