/** Finds the answer in a completion (docs/world.md, "The text form") in one pass from the end, in linear time. */
import { NO_ACTION } from '../../engine/validate/actions.js';
import { NUM_BELIEFS } from '../../world/fields.js';
import {
  DEAD,
  DROPPED,
  FIRST_ACTION,
  follow,
  kindOf,
  NO_WORD,
  ROOT,
  SEPARATOR,
  TRAILING,
  wordAt,
} from './words.js';

/** A parsed answer. One object is reused for many texts, so that parsing allocates nothing. */
export class Answer {
  /** Code, -1 for none. */
  action = NO_ACTION;
  /** The number of `digits`: 0 or 3 after parsing. */
  count = 0;
  /** u8 [3], each 0 to 9. */
  readonly digits = new Uint8Array(NUM_BELIEFS);

  clear(): void {
    this.action = NO_ACTION;
    this.count = 0;
  }

  /** Adds a word to the answer. @returns false if an answer cannot have this word here. */
  take(word: number): boolean {
    if (word === NO_WORD) return false;
    if (word < FIRST_ACTION) {
      if (this.count === NUM_BELIEFS) return false;
      this.digits[this.count++] = word;
      return true;
    }
    if (this.action !== NO_ACTION || this.count % NUM_BELIEFS !== 0) return false;
    this.action = word - FIRST_ACTION;
    return true;
  }

  get isWhole(): boolean {
    return this.count === NUM_BELIEFS || (this.count === 0 && this.action !== NO_ACTION);
  }
}

/** Reads a completion into `answer`; without an answer it has no action and no digits. Never throws. */
export function readAnswer(text: string, answer: Answer): void {
  const start = startOfAnswer(text);
  for (let to = text.length; to > start; ) {
    let from = to;
    while (from > start && !isLineBreak(text.charCodeAt(from - 1))) from--;
    if (readLine(text, from, to, answer)) return;
    to = from - 1;
  }
  answer.clear();
}

/** Returns the index after the last closing tag; the text's end if reasoning was opened and not closed; else 0. */
function startOfAnswer(text: string): number {
  let opened = false;
  for (let at = text.length - 1; at >= 0; at--) {
    if (text.charCodeAt(at) !== LESS_THAN) continue;
    if (isTag(text, at, CLOSING)) return at + CLOSING.length;
    opened ||= isTag(text, at, OPENING);
  }
  return opened ? text.length : 0;
}

const unitsOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const OPENING = unitsOf('<reasoning>');
const CLOSING = unitsOf('</reasoning>');
const [LESS_THAN] = OPENING;
const [LF, CR, COLON, UPPER_A, UPPER_Z] = unitsOf('\n\r:AZ');
const TO_LOWER = unitsOf('a')[0] - UPPER_A;

/** Returns whether a tag stands at `at`, in upper or lower case. Only ASCII letters match. */
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

/** Reads a line without its label (up to the first colon), and if that fails, the whole line. */
function readLine(text: string, from: number, to: number, answer: Answer): boolean {
  let colon = from;
  while (colon < to && text.charCodeAt(colon) !== COLON) colon++;
  if (colon < to && readPieces(text, colon + 1, to, answer)) return true;
  return readPieces(text, from, to, answer);
}

/** Reads the pieces from `from` up to `to` (excluded) into `answer`. Returns whether they are an answer. */
function readPieces(text: string, from: number, to: number, answer: Answer): boolean {
  answer.clear();
  let node = ROOT;
  let ending = false;
  for (let at = from; at <= to; at++) {
    const kind = at === to ? SEPARATOR : kindOf(text.charCodeAt(at));
    if (kind === DROPPED) continue;
    if (kind === SEPARATOR) {
      if (node !== ROOT && !answer.take(wordAt(node))) return false;
      node = ROOT;
      ending = false;
    } else if (kind === TRAILING) {
      ending = true;
    } else {
      node = ending ? DEAD : follow(node, kind);
      if (node === DEAD) return false;
    }
  }
  return answer.isWhole;
}
