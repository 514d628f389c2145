/** What is said back of what was refused: all of it if it is brief, else what it is. */
import { describe } from '../../validate/values.js';

/** Values, and characters of texts and keys. Whoever sends a mebibyte by mistake is not helped by one. */
const MOST = 1000;
/** Lists within lists: writing JSON takes a stack as deep, which clients could exhaust. */
const DEEPEST = 16;

/** For JSON: the value itself, or its description as text. */
export const echoOf = (value: unknown): unknown => (isBrief(value) ? value : describe(value));

function isBrief(value: unknown): boolean {
  let left = MOST;
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const below: unknown[] = [];
    for (const each of level) {
      left -= typeof each === 'string' ? each.length : 1;
      if (typeof each === 'object' && each !== null) left -= take(each, left, below);
      if (left < 0 || depth > DEEPEST) return false;
    }
    level = below;
  }
  return true;
}

/** Adds what it holds. @returns what that takes of `most`, or more than that once it is too much. */
function take(parent: object, most: number, found: unknown[]): number {
  // Arrays of a binary frame are no JSON.
  if (ArrayBuffer.isView(parent) || (Array.isArray(parent) && parent.length > most)) return most + 1;
  let length = 0;
  for (const key in parent) {
    if (!Array.isArray(parent)) length += key.length;
    found.push((parent as Record<string, unknown>)[key]);
    if (length + found.length > most) return most + 1;
  }
  return length;
}
