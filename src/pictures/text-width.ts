/** How wide text will be, where nothing can measure it: a little too wide rather than too narrow. */
import { FONT_SIZE } from './theme.js';

/** Shares of the font size: upper bounds of Inter's, regular and semibold, for characters as they are common. */
const NARROW = 0.4;
const MEDIUM = 0.64;
const WIDE = 0.88;
const NARROW_CHARACTERS = new Set(' !"\'(),-./1:;I[\\]`fijlrt|');
const WIDE_CHARACTERS = new Set('%@ACDGHMNOQUVWXYmw');

/** The width of one line of text, in the unit of the font size. Characters beyond ASCII count as wide. */
export function textWidth(text: string, fontSize: number): number {
  let shares = 0;
  for (const character of text) shares += shareOf(character);
  return shares * fontSize;
}

/** The width of the widest of some lines in the usual size. */
export const widestOf = (texts: readonly string[]): number =>
  Math.max(...texts.map((text) => textWidth(text, FONT_SIZE)));

function shareOf(character: string): number {
  if (NARROW_CHARACTERS.has(character)) return NARROW;
  return WIDE_CHARACTERS.has(character) || character > '~' ? WIDE : MEDIUM;
}
