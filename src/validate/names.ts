/** Names that callers give, and that results are printed under. */

/** More of a name than this does not fit a table. */
const MAX_LENGTH = 60;

/** Endpoints name fine-tuned models, and servers their folders, at greater length. */
const MAX_MODEL_LENGTH = 200;

/** What `isPrintable` wants, as errors say it. */
export const PRINTABLE = `1 to ${MAX_LENGTH} printable characters`;

/** What `isModelName` wants. */
export const MODEL_NAME = `1 to ${MAX_MODEL_LENGTH} printable characters`;

/** What a terminal obeys, or no file of UTF-8 can hold: controls, ends of lines, turns of the direction, half characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Whether a value is a name that fits a table, and that no terminal obeys. */
export const isPrintable = (value: unknown): value is string => isText(value, MAX_LENGTH);

/** The same for what an endpoint calls a model. */
export const isModelName = (value: unknown): value is string => isText(value, MAX_MODEL_LENGTH);

const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= longest &&
  value.search(UNPRINTABLE) < 0;

/** A text that no terminal obeys. */
export const madePrintable = (text: string): string => text.replace(UNPRINTABLE, '\uFFFD');

/** A text with at most so many characters, and an ellipsis where it had more. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}...` : text;
