/** Formats an invalid input for an error: returns the input itself if it is small, else a description. */
import { describe } from '../../shared/values.js';

/**
 * The maximum size of an input that errors repeat: the length of all strings and keys, and 1 for each other value. Chosen by
 * hand: a larger one makes errors longer, a smaller one leaves out more inputs.
 */
const MAX_SIZE = 1000;
/**
 * The maximum depth of an input that errors repeat. Chosen by hand. Writing JSON overflows the stack at a few thousand levels.
 */
const MAX_DEPTH = 16;

/** Returns the value itself, or its description as text. */
export const quotedInput = (value: unknown): unknown => (isBrief(value) ? value : describe(value));

function isBrief(value: unknown): boolean {
  let budget = MAX_SIZE;
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const children: unknown[] = [];
    for (const each of level) {
      budget -= typeof each === 'string' ? each.length : 1;
      if (typeof each === 'object' && each !== null) budget -= addMembers(each, budget, children);
      if (budget < 0 || depth > MAX_DEPTH) return false;
    }
    level = children;
  }
  return true;
}

/**
 * Adds the members of an object to `members`. @returns the number of characters of its keys, or a number above `limit`
 * for a typed array, or if keys and members exceed the limit.
 */
function addMembers(parent: object, limit: number, members: unknown[]): number {
  // Typed arrays of binary frames are not JSON.
  if (ArrayBuffer.isView(parent) || (Array.isArray(parent) && parent.length > limit)) return limit + 1;
  let length = 0;
  for (const key in parent) {
    if (!Array.isArray(parent)) length += key.length;
    members.push((parent as Record<string, unknown>)[key]);
    if (length + members.length > limit) return limit + 1;
  }
  return length;
}
