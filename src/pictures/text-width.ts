/** How wide text will be, where nothing can measure it: a little too wide rather than too narrow. */

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

function shareOf(character: string): number {
  if (NARROW_CHARACTERS.has(character)) return NARROW;
  return WIDE_CHARACTERS.has(character) || character > '~' ? WIDE : MEDIUM;
}
