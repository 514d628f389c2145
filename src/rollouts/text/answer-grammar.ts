/** Finds the answer in a completion (docs/world.md, "The text form"), from the last line to the first, in linear time. */
import { NO_ACTION } from '../../engine/validate/actions.js';
import { NUM_BELIEFS } from '../../world/fields.js';
import {
  characterKind,
  DEAD,
  DROPPED,
  FIRST_ACTION,
  NO_WORD,
  nextNode,
  ROOT,
  SEPARATOR,
  TRAILING,
  wordOf,
} from './answer-words.js';
import { answerRange } from './thoughts.js';

/** A parsed answer. One object is reused for all texts, so that parsing allocates no memory. */
export class ParsedAnswer {
  /** The action code; -1 for no action. */
  action = NO_ACTION;
  /** The number of `digits`: 0 or 3 after parsing. */
  count = 0;
  /** u8 [3], each 0 to 9. */
  readonly digits = new Uint8Array(NUM_BELIEFS);

  clear(): void {
    this.action = NO_ACTION;
    this.count = 0;
  }

  /** Adds a word. Returns false if no answer begins with these words. */
  add(word: number): boolean {
    if (word === NO_WORD) return false;
    if (word < FIRST_ACTION) {
      if (this.count === NUM_BELIEFS) return false;
      this.digits[this.count++] = word;
      return true;
    }
    // An action comes before the digits or after all three.
    if (this.action !== NO_ACTION || this.count % NUM_BELIEFS !== 0) return false;
    this.action = word - FIRST_ACTION;
    return true;
  }

  /** Whether the words are a complete answer: three digits, an action, or both. */
  get isComplete(): boolean {
    return this.count === NUM_BELIEFS || (this.count === 0 && this.action !== NO_ACTION);
  }
}

/**
 * Parses a completion into `answer`. Clears it if the completion has no answer. Never throws.
 * @param inThought whether the completion begins inside a thought.
 */
export function parseAnswer(text: string, answer: ParsedAnswer, inThought: boolean): void {
  const { from: start, to: end } = answerRange(text, inThought);
  for (let to = end; to > start; ) {
    let from = to;
    while (from > start && !isLineBreak(text.charCodeAt(from - 1))) from--;
    if (parseLine(text, from, to, answer)) return;
    to = from - 1;
  }
  answer.clear();
}

const [LF, CR, COLON] = Array.from('\n\r:', (character) => character.charCodeAt(0));

/** CR LF counts as two line breaks: the line between them is empty and holds no answer. */
const isLineBreak = (unit: number): boolean => unit === LF || unit === CR;

/**
 * Parses the line from `from` to `to - 1`: first without its label, which ends at the first colon, then the whole line.
 * Returns whether the line is an answer.
 */
function parseLine(text: string, from: number, to: number, answer: ParsedAnswer): boolean {
  let colon = from;
  while (colon < to && text.charCodeAt(colon) !== COLON) colon++;
  if (colon < to && parseWords(text, colon + 1, to, answer)) return true;
  return parseWords(text, from, to, answer);
}

/** Parses the words from `from` to `to - 1` into `answer`. Returns whether they are an answer. */
function parseWords(text: string, from: number, to: number, answer: ParsedAnswer): boolean {
  answer.clear();
  let node = ROOT;
  let ending = false;
  for (let at = from; at <= to; at++) {
    const kind = at === to ? SEPARATOR : characterKind(text.charCodeAt(at));
    if (kind === DROPPED) continue;
    if (kind === SEPARATOR) {
      if (node !== ROOT && !answer.add(wordOf(node))) return false;
      node = ROOT;
      ending = false;
    } else if (kind === TRAILING) {
      ending = true;
    } else {
      node = ending ? DEAD : nextNode(node, kind);
      if (node === DEAD) return false;
    }
  }
  return answer.isComplete;
}
