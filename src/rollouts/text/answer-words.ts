/**
 * Recognises the words of an answer (digits and action names) character by character, with a trie. A word is stored as a
 * number: the digit, or FIRST_ACTION plus the code of the action.
 */
import { ACTION_NAMES } from '../../world/fields.js';

// Kinds of characters. Kinds from FIRST_OF_WORD on are characters of words.
/** A character that no answer contains. */
const OTHER = 0;
/** Separates words. */
export const SEPARATOR = 1;
/** Ignored: Markdown emphasis, quotes and brackets. */
export const DROPPED = 2;
/** Ignored at the end of a word. */
export const TRAILING = 3;
const FIRST_OF_WORD = 4;

/** Upper and lower case of a letter are one kind, and so are `-` and `_`. */
const WORD_CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz_';
const KINDS = FIRST_OF_WORD + WORD_CHARACTERS.length;

/** The number of ASCII characters. */
const ASCII = 128;
/** The kind of each ASCII character. */
const KIND = new Uint8Array(ASCII);
/** Sets the kind of characters. */
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

/** Returns the kind of a UTF-16 code unit. Letters and digits are ASCII; white space is as in the regular expression `\s`. */
export const characterKind = (unit: number): number =>
  unit < ASCII ? KIND[unit] : isWideSpace(unit) ? SEPARATOR : OTHER;

/** Returns whether a code unit is white space outside ASCII. */
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

/** The node of the trie from which no word can be completed. */
export const DEAD = 0;
/** The node of the trie before the first character of a word. */
export const ROOT = 1;
/** The word of a node at which no word ends. */
export const NO_WORD = -1;
/** The word of the action with code 0. Smaller words are digits. */
export const FIRST_ACTION = 10;

/** The names of the words, by word. */
const WORDS = [...'0123456789', ...ACTION_NAMES];
const NODES = 2 + WORDS.join('').length;
/** u8 [NODES, KINDS]: see `nextNode`. */
const NEXT = new Uint8Array(NODES * KINDS);
/** i8 [NODES]: see `wordOf`. */
const WORD = new Int8Array(NODES).fill(NO_WORD);

// Build the trie.
let nodes = 2;
for (const [word, name] of WORDS.entries()) {
  let node = ROOT;
  for (const character of name) {
    const edge = node * KINDS + characterKind(character.charCodeAt(0));
    if (NEXT[edge] === DEAD) NEXT[edge] = nodes++;
    node = NEXT[edge];
  }
  WORD[node] = word;
}

/** Returns the node after a character of a kind; DEAD if no word continues with it. */
export const nextNode = (node: number, kind: number): number => NEXT[node * KINDS + kind];

/** Returns the word that ends at a node: a digit, FIRST_ACTION plus an action's code, or NO_WORD. */
export const wordOf = (node: number): number => WORD[node];
