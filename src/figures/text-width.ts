/** Estimates the width of text without measuring it. */
import { FONT_SIZE } from './theme.js';

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
