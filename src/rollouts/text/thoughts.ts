/** Finds the thoughts of a completion: text between tags, in which nothing is an answer (docs/world.md, "The text form"). */
import { checkName } from '../../shared/values.js';

/** How a completion begins: outside a thought, or inside a thought that its prompt opened. */
export const THOUGHT_STARTS = ['closed', 'open'] as const;

/** Returns whether completions begin inside a thought. @throws InputError `unknown_name` or `wrong_type`. */
export const beginsInThought = (thought: string = 'closed'): boolean =>
  checkName('thought', thought, THOUGHT_STARTS) === 'open';

/** A thought of a text. All numbers are indices of UTF-16 code units. */
export interface Thought {
  /** The name of its opening tag, in lower case; null if only the prompt has that tag. */
  readonly name: string | null;
  /** Where it begins, with its opening tag. */
  readonly start: number;
  /** The range of its text, without the tags. */
  readonly from: number;
  readonly to: number;
  /** Where its closing tag ends; null for an unfinished thought, which has none. */
  readonly end: number | null;
}

/**
 * A tag: `<NAME>` or `</NAME>`, with a usual name of such tags, or Mistral's `[THINK]` or `[/THINK]`, in any case. Without
 * the flag u, these letters match ASCII letters only.
 */
const TAG =
  /<(\/?)(reasoning|think|thinking|thought|thoughts|reflection|analysis|scratchpad|seed:think)>|\[(\/?)(think)\]/gi;

/**
 * Returns the first thought at index `at` or later; null if there is none. A thought ends at the closing tag of its own name.
 * One of which the text has only the closing tag ends at any. One that the prompt opened ends at any whose opening tag it does
 * not contain: it may quote the form of an answer, with tags. A tag that it begins with repeats the prompt's.
 * @param inThought whether index `at` is inside a thought that the prompt opened.
 */
export function nextThought(text: string, at: number, inThought: boolean): Thought | null {
  TAG.lastIndex = at;
  let name: string | null = null;
  let [start, from, isInside] = [at, at, inThought];
  /** The names of opening tags inside a thought that the prompt opened. */
  let inner: Set<string> | null = null;
  for (let tag = TAG.exec(text); tag !== null; tag = TAG.exec(text)) {
    const tagName = (tag[2] ?? tag[4]).toLowerCase();
    const isClosing = (tag[1] ?? tag[3]) !== '';
    if (isClosing) {
      if ((name ?? tagName) === tagName && !inner?.has(tagName))
        return { name, start, from, to: tag.index, end: TAG.lastIndex };
    } else if (!isInside || (name === null && inner === null && text.slice(at, tag.index).trim() === '')) {
      [name, start, from, isInside] = [tagName, tag.index, TAG.lastIndex, true];
    } else if (name === null) {
      inner = (inner ?? new Set()).add(tagName);
    }
  }
  return isInside ? { name, start, from, to: text.length, end: null } : null;
}

/**
 * Returns the range in which an answer may be: after the last finished thought and before an unfinished one; an empty range
 * if the only thought is unfinished.
 * @param inThought whether the text begins inside a thought.
 */
export function answerRange(text: string, inThought: boolean): { from: number; to: number } {
  let from: number | null = null;
  for (let at = 0; ; at = from) {
    const thought = nextThought(text, at, inThought && from === null);
    if (thought === null) return { from: from ?? 0, to: text.length };
    if (thought.end === null) return { from: from ?? thought.start, to: thought.start };
    from = thought.end;
  }
}
