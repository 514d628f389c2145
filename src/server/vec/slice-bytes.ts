/** Reads slices of a JSON list from their bytes, without creating strings. */
import { BYTE } from '../protocol/json-limits.js';

/** The byte of the digit 0. */
const ZERO = 0x30;
/** Numbers with this many digits fit into 32 bits. */
const MAX_DIGITS = 9;

/** Returns a table: 1 for each byte of a text, 0 for all others. */
const membersOf = (text: string): Uint8Array => {
  const isMember = new Uint8Array(256);
  for (const byte of Buffer.from(text)) isMember[byte] = 1;
  return isMember;
};
const SPACE = membersOf(' \n\r\t');
const HEX = membersOf('0123456789abcdefABCDEF');
/** The bytes that may follow a backslash. A `u` also needs four hexadecimal digits. */
const ESCAPED = membersOf('"\\/bfnrtu');
/** The byte of the letter u. */
const LETTER_U = 0x75;

/**
 * Reads whole numbers of at most nine digits, without white space, into `into`. @returns their count; 0 if the slice has
 * anything else.
 */
export function readWholeNumbers(json: Buffer, from: number, to: number, into: Uint32Array): number {
  let count = 0;
  let value = 0;
  let digits = 0;
  for (let at = from; at <= to; at++) {
    const byte = at === to ? BYTE.comma : json[at];
    if (byte === BYTE.comma) {
      if (digits === 0) return 0;
      into[count++] = value;
      value = digits = 0;
    } else {
      const digit = byte - ZERO;
      const hasLeadingZero = value === 0 && digits > 0;
      if (digit < 0 || digit > 9 || hasLeadingZero || digits === MAX_DIGITS) return 0;
      value = 10 * value + digit;
      digits++;
    }
  }
  return count;
}

/** Counts the strings of a slice. @returns 0 if the slice has anything else, or a string that is not valid JSON. */
export function countStrings(json: Buffer, from: number, to: number): number {
  for (let at = from, count = 1; ; at++, count++) {
    at = afterSpaces(json, at, to);
    if (at >= to || json[at] !== BYTE.quote) return 0;
    at = afterSpaces(json, afterString(json, at + 1, to), to);
    if (at === to) return count;
    if (at > to || json[at] !== BYTE.comma) return 0;
  }
}

function afterSpaces(json: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && SPACE[json[at]] === 1) at++;
  return at;
}

/** Returns the position after the closing quote; beyond `to` if the string is not valid, or does not end before `to`. */
function afterString(json: Buffer, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const byte = json[at];
    if (byte === BYTE.quote) return at + 1;
    if (byte < 0x20) break;
    if (byte === BYTE.backslash && !isEscape(json, ++at)) break;
  }
  return to + 1;
}

/** Returns whether the bytes from `at` on complete a valid escape. @param at the position after the backslash. */
function isEscape(json: Buffer, at: number): boolean {
  if (json[at] !== LETTER_U) return ESCAPED[json[at]] === 1;
  for (let digit = at + 1; digit <= at + 4; digit++) if (HEX[json[digit]] !== 1) return false;
  return true;
}
