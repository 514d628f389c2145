/** Formats a refused input for an error: itself if it is short, else its type and size. */
import { describe } from '../../shared/values.js';

/** The most values plus characters of texts and keys. */
const MOST = 1000;
/** The most nested lists. Writing JSON recurses that deep, so clients could exhaust the stack. */
const DEEPEST = 16;

/** Returns the value itself, or its description as text. */
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

/**
 * Adds the members of an object to `found`. @returns the characters of its keys; more than `most` if it is too large.
 */
function take(parent: object, most: number, found: unknown[]): number {
  // Typed arrays of binary frames are not JSON.
  if (ArrayBuffer.isView(parent) || (Array.isArray(parent) && parent.length > most)) return most + 1;
  let length = 0;
  for (const key in parent) {
    if (!Array.isArray(parent)) length += key.length;
    found.push((parent as Record<string, unknown>)[key]);
    if (length + found.length > most) return most + 1;
  }
  return length;
}
