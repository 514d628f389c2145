/** Parses the JSON of clients. Its values are counted before it is parsed, to limit the time that parsing takes. */
import { z } from 'zod';
import { describe } from '../../shared/values.js';
import { InvalidRequestError, invalidJson, invalidObject, missing, type ValidationError } from './errors.js';

/**
 * The maximum number of values, including keys, of a message, of each row's entry in a column (a field with one entry per row),
 * and of any other field of a request. Chosen by hand: the largest valid entry of a row, 28 beliefs (a list of three numbers
 * each), has 112 values, and more values take longer to parse.
 */
export const MAX_VALUES = 4096;

/** The punctuation of JSON, as bytes. */
export const BYTE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/**
 * Finds the end of a JSON string in UTF-8, where no other character contains the byte of a quote or backslash.
 * @param from the index after the opening quote.
 * @returns the index of the closing quote; at least `end` if there is none before.
 */
export function endOfString(bytes: Buffer, from: number, end: number): number {
  let at = from;
  for (; at < end; at++) {
    const byte = bytes[at];
    if (byte === BYTE.quote) break;
    if (byte === BYTE.backslash) at++;
  }
  return at;
}

/**
 * Returns whether JSON has more lists, objects, keys and entries than MAX_VALUES. The time of parsing and validation depends
 * mainly on the number of values, and little on the length of strings and numbers.
 * @param freeEntries the number of entries of lists and objects that may be added to MAX_VALUES.
 */
export function hasTooManyValues(json: Buffer, freeEntries = 0): boolean {
  let [values, entries] = [0, 0];
  for (let at = 0; at < json.length && values <= MAX_VALUES; at++) {
    const byte = json[at];
    if (byte === BYTE.quote) at = endOfString(json, at + 1, json.length);
    else if (byte === BYTE.openList || byte === BYTE.openObject || byte === BYTE.colon) values++;
    else if (byte === BYTE.comma && ++entries > freeEntries) values++;
  }
  return values > MAX_VALUES;
}

/** Builds the error for a message, or a part of a request, with more than MAX_VALUES values. */
export const tooManyValues = (loc: ValidationError['loc']): ValidationError => ({
  type: 'too_long',
  loc,
  msg: `Expected at most ${MAX_VALUES} lists, objects, keys and entries, got more. Leave out what the schema does not name.`,
  input: null,
  ctx: { max_length: MAX_VALUES },
});

/** Parses the JSON of a body; undefined for an empty body. @throws InvalidRequestError. */
export function bodyOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson((error as SyntaxError).message);
  }
}

/** Parses the JSON object of a body. @throws InvalidRequestError for an empty body, invalid JSON or another value. */
export function objectOf(text: string): object {
  const body = bodyOf(text);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new InvalidRequestError([
    body === undefined ? missing(['body'], null) : invalidObject(['body'], describe(body)),
  ]);
}

/** Returns the JSON Schema of what a schema accepts, before its defaults and conversions. */
export function jsonSchema(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
