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

/** Parses a completion into `answer`. Clears it if the completion has no answer. Never throws. */
export function parseAnswer(text: string, answer: ParsedAnswer): void {
  const start = answerStart(text);
  for (let to = text.length; to > start; ) {
    let from = to;
    while (from > start && !isLineBreak(text.charCodeAt(from - 1))) from--;
    if (parseLine(text, from, to, answer)) return;
    to = from - 1;
  }
  answer.clear();
}

/**
 * Returns the index where an answer may begin: after the last closing tag. Without a closing tag, returns 0, or the
 * text's end if there is an opening tag.
 */
function answerStart(text: string): number {
  let opened = false;
  for (let at = text.length - 1; at >= 0; at--) {
    if (text.charCodeAt(at) !== LESS_THAN) continue;
    if (isTag(text, at, CLOSING)) return at + CLOSING.length;
    opened ||= isTag(text, at, OPENING);
  }
  return opened ? text.length : 0;
}

const codeUnitsOf = (text: string): Uint8Array =>
  Uint8Array.from(text, (character) => character.charCodeAt(0));
const OPENING = codeUnitsOf('<reasoning>');
const CLOSING = codeUnitsOf('</reasoning>');
const [LESS_THAN] = OPENING;
const [LF, CR, COLON, UPPER_A, UPPER_Z] = codeUnitsOf('\n\r:AZ');
const TO_LOWER = codeUnitsOf('a')[0] - UPPER_A;

/** Returns whether the text has a tag at index `at`. Case of ASCII letters is ignored. */
function isTag(text: string, at: number, tag: Uint8Array): boolean {
  if (at + tag.length > text.length) return false;
  for (let k = 0; k < tag.length; k++) {
    const unit = text.charCodeAt(at + k);
    const lower = unit >= UPPER_A && unit <= UPPER_Z ? unit + TO_LOWER : unit;
    if (lower !== tag[k]) return false;
  }
  return true;
}

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
