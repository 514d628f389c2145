/** Names that callers choose: their case, whether a table can print them, and what a misspelled one probably means. */
import { distance } from 'fastest-levenshtein';

/** Returns `earlyMean` for `early_mean`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** Returns `early_mean` for `earlyMean`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the name of a field in files and messages: `early_mean` for `firstHalfMean`, else that of `snakeCase`. */
export const storedField = (name: string): string =>
  snakeCase(name)
    .replace(/^first_half_mean/, 'early_mean')
    .replace(/^second_half_mean/, 'late_mean');

/** The maximum length of a name that fits a table. Chosen by hand. */
const MAX_LENGTH = 60;

/** The maximum length of a model's name, which may be a path on a server. Chosen by hand. */
const MAX_MODEL_LENGTH = 200;

/** The rule of `isPrintable`, as errors state it. */
export const PRINTABLE = `1 to ${MAX_LENGTH} printable characters`;

/** The rule of `isModelName`, as errors state it. */
export const MODEL_NAME = `1 to ${MAX_MODEL_LENGTH} printable characters`;

/**
 * Characters that a terminal interprets or that UTF-8 files cannot hold: controls, line ends, direction marks, lone
 * surrogates.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Returns whether a value is a name that fits a table, is not blank, and contains no UNPRINTABLE character. */
export const isPrintable = (value: unknown): value is string => isText(value, MAX_LENGTH);

/** Returns whether a value is a model's name: as `isPrintable`, but of up to MAX_MODEL_LENGTH characters. */
export const isModelName = (value: unknown): value is string => isText(value, MAX_MODEL_LENGTH);

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= maxLength &&
  value.search(UNPRINTABLE) < 0;

/** Replaces UNPRINTABLE characters by U+FFFD. */
export const toPrintable = (text: string): string => text.replace(UNPRINTABLE, '\uFFFD');

/** Returns a text, cut after `maxLength` characters. A text that was cut ends with "...". */
export const shortened = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;

/** Splits a name into lower-case words. `resetMask`, `reset_mask` and `RESET-MASK` give the same words. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_-]+/);

const plain = (name: string): string => wordsOf(name).join('');

/**
 * Longer texts get no suggestion: they are not misspelled names, and the edit distance of a whole file takes minutes. Chosen
 * by hand.
 */
const MAX_GUESS = 100;

/** Returns ` Did you mean "x"?`, or `otherwise` if no known name is near. */
export function didYouMean(
  name: string,
  known: readonly string[],
  otherwise = ' Use one of these names.',
): string {
  if (name.length > MAX_GUESS) return otherwise;
  const suggestion = nearest(name, known) ?? containedName(name, known);
  return suggestion === undefined ? otherwise : ` Did you mean "${suggestion}"?`;
}

/**
 * Returns the known name with the smallest edit distance, if no other is as near, and if the distance is at most half of the
 * known name's length, and at most 2 or a third of that length. The bounds are chosen by hand.
 */
function nearest(name: string, known: readonly string[]): string | undefined {
  const guess = plain(name);
  const [best, edits] = onlyBest(known, (candidate) => -distance(guess, plain(candidate)));
  if (best === undefined) return undefined;
  const { length } = plain(best);
  return -edits <= Math.min(length / 2, Math.max(2, length / 3)) ? best : undefined;
}

/**
 * Returns the known name whose words all occur in the unknown name: `autoreset` for `autoresetMode`. If there are several,
 * returns the one with the most words.
 */
function containedName(name: string, known: readonly string[]): string | undefined {
  const words = wordsOf(name);
  const contained = known.filter((candidate) => wordsOf(candidate).every((word) => words.includes(word)));
  return onlyBest(contained, (candidate) => wordsOf(candidate).length)[0];
}

/** Returns the name with the highest rank, and the rank; undefined for a name if several have this rank. */
function onlyBest(
  names: readonly string[],
  rankOf: (name: string) => number,
): [name: string | undefined, rank: number] {
  const ranks = names.map(rankOf);
  const highest = Math.max(...ranks);
  const at = ranks.indexOf(highest);
  return [ranks.lastIndexOf(highest) === at ? names[at] : undefined, highest];
}
