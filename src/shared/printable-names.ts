/** Validates names that callers choose and that results print. */

/** A longer name does not fit a table. */
const MAX_LENGTH = 60;

/** Fine-tuned models and folders of servers have longer names. */
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

/** Returns whether a value is a name that fits a table and contains no UNPRINTABLE character. */
export const isPrintable = (value: unknown): value is string => isText(value, MAX_LENGTH);

/** The same, with the length limit of model names. */
export const isModelName = (value: unknown): value is string => isText(value, MAX_MODEL_LENGTH);

const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= longest &&
  value.search(UNPRINTABLE) < 0;

/** Replaces UNPRINTABLE characters by U+FFFD. */
export const madePrintable = (text: string): string => text.replace(UNPRINTABLE, '\uFFFD');

/** Shortens a text to `most` characters, and marks the cut with "...". */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}...` : text;
