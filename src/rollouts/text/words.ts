/** The words of an answer (digits and action names), for a parser that reads character by character. */
import { ACTION_NAMES } from '../../world/fields.js';

/** Kinds of characters. From FIRST_OF_WORD on, a kind is a character that occurs in words. */
const OTHER = 0;
/** Splits a line into pieces. */
export const SEPARATOR = 1;
/** Ignored: marks of emphasis, quotes and brackets. */
export const DROPPED = 2;
/** Ignored at the end of a piece only. */
export const TRAILING = 3;
const FIRST_OF_WORD = 4;

/** Both cases of a letter are one kind, and so are `-` and `_`. */
const WORD_CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz_';
const KINDS = FIRST_OF_WORD + WORD_CHARACTERS.length;

const ASCII = 128;
const KIND = new Uint8Array(ASCII);
function mark(characters: string, kind: number): void {
  for (const character of characters) KIND[character.charCodeAt(0)] = kind;
}
mark('\t\n\v\f\r ,', SEPARATOR);
mark('`*"\'()[]{}', DROPPED);
mark('.!;:', TRAILING);
for (const [k, character] of [...WORD_CHARACTERS].entries()) {
  mark(character + character.toUpperCase(), FIRST_OF_WORD + k);
}
mark('-', KIND['_'.charCodeAt(0)]);

/** Returns the kind of a UTF-16 code unit. Letters and digits are ASCII; white space is that of `\s`. */
export const kindOf = (unit: number): number =>
  unit < ASCII ? KIND[unit] : isWideSpace(unit) ? SEPARATOR : OTHER;

const isWideSpace = (unit: number): boolean =>
  unit === 0xa0 ||
  unit === 0x1680 ||
  (unit >= 0x2000 && unit <= 0x200a) ||
  unit === 0x2028 ||
  unit === 0x2029 ||
  unit === 0x202f ||
  unit === 0x205f ||
  unit === 0x3000 ||
  unit === 0xfeff;

/** The node of no word: no word begins with the characters read. */
export const DEAD = 0;
/** The node before the first character. */
export const ROOT = 1;
/** The word of a node that ends no word. */
export const NO_WORD = -1;
/** Words below this are digits; the others are this plus an action's code. */
export const FIRST_ACTION = 10;

const WORDS = [...'0123456789', ...ACTION_NAMES];
const NODES = 2 + WORDS.join('').length;
const NEXT = new Uint8Array(NODES * KINDS);
const WORD = new Int8Array(NODES).fill(NO_WORD);

let nodes = 2;
for (const [word, name] of WORDS.entries()) {
  let node = ROOT;
  for (const character of name) {
    const edge = node * KINDS + kindOf(character.charCodeAt(0));
    if (NEXT[edge] === DEAD) NEXT[edge] = nodes++;
    node = NEXT[edge];
  }
  WORD[node] = word;
}

/** Returns the next node, or DEAD if no word continues with this character. */
export const follow = (node: number, kind: number): number => NEXT[node * KINDS + kind];

/** The word that ends at a node: a digit, FIRST_ACTION plus an action's code, or NO_WORD. */
export const wordAt = (node: number): number => WORD[node];
