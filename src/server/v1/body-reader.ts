/**
 * Reads the JSON of a request in pieces: finds its keys and the rows of its columns, and refuses invalid requests early.
 * Columns stay text; other values are parsed once they are complete. `JSON.parse` decides whether keys, values and rows are
 * valid.
 */
import type { z } from 'zod';
import { didYouMean } from '../../shared/suggest.js';
import { objectOf } from '../http/request.js';
import { BYTE, endOfString, MAX_VALUES } from '../protocol/json-limits.js';
import {
  extra,
  InvalidRequestError,
  invalidJson,
  invalidObject,
  missing,
  tooManyValues,
  type ValidationError,
} from '../protocol/validation-errors.js';
import { MAX_ROWS } from './batch-schemas.js';
import { Column, parseText, RowIndex } from './column.js';

// The limits are chosen by hand. A row or a value is parsed in one piece, which blocks the event loop.

/** The maximum size of a row in bytes. */
export const MAX_ROW_BYTES = 2 ** 20;
/** The maximum size in bytes of a value that is not a column. */
export const MAX_VALUE_BYTES = 2 ** 16;
/** The maximum length of a key in bytes, with its opening quote. */
const MAX_KEY_BYTES = 256;

/** The part of the JSON text that must follow, or that is being read. 'no object' means that the body is another value. */
type State = keyof typeof EXPECTED | 'in key' | 'in value' | 'no object';

const EXPECTED = {
  object: 'an object',
  'first key': "a key or '}'",
  key: 'a key',
  colon: "':'",
  value: 'a value',
  comma: "',' or '}'",
  nothing: 'nothing more',
} as const;

/** The keys of a request, and whether the value of each may be a column. */
export type Keys = ReadonlyMap<string, boolean>;

/** Returns the keys of a schema, and which of them accept a column. */
export function keysOf({ shape }: z.ZodObject): Keys {
  const isColumn = (schema: unknown): boolean => (schema as z.ZodType).safeParse(Column.EMPTY).success;
  return new Map(Object.entries(shape).map(([key, schema]) => [key, isColumn(schema)]));
}

/** Returns whether a byte is white space of JSON: a space, a line feed, a carriage return or a tab. */
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export class BodyReader {
  readonly #keys: Keys;
  readonly #fields = new Map<string, unknown>();
  #state: State = 'object';
  #at = 0;
  /** Where the current key, value or row begins. */
  #start = 0;
  #key = '';
  /** The rows of the current value if it is a column. */
  #rows: RowIndex | null = null;
  /** The number of open lists and objects of the current value. */
  #depth = 0;
  /** Whether the current value has an open string. */
  #inString = false;
  /** Values counted so far in the current value or row. */
  #values = 0;

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /**
   * Reads the bytes of a body from the end of the last call on.
   * @param length where to stop. @throws InvalidRequestError.
   */
  read(body: Buffer, length: number): void {
    while (this.#at < length) {
      if (this.#state === 'in value') this.#readValue(body, length);
      else if (this.#state === 'in key') this.#readKey(body, length);
      else if (this.#state === 'no object') this.#at = length;
      else this.#readPunctuation(body[this.#at]);
    }
    if (this.#state === 'in value') this.#checkLength(length);
    else if (this.#state === 'in key') this.#checkKey(length);
    else if (this.#state === 'no object' && length > MAX_VALUE_BYTES) {
      throw new InvalidRequestError([invalidObject(['body'], 'a long value')]);
    }
  }

  /** Returns the request's fields, after the last byte was read. @throws InvalidRequestError. */
  fields(body: Buffer): Record<string, unknown> {
    if (this.#state === 'object') throw new InvalidRequestError([missing(['body'], null)]);
    // Throws: the body is another value, or no valid JSON.
    if (this.#state === 'no object') objectOf(body.toString());
    if (this.#state !== 'nothing')
      throw invalidRequest(invalidJson(`Unexpected end of JSON input at position ${this.#at}`));
    const fields: Record<string, unknown> = {};
    for (const [key, value] of this.#fields) {
      fields[key] = value instanceof RowIndex ? new Column(body, value) : value;
    }
    return fields;
  }

  /** Reads one byte outside keys and values. */
  #readPunctuation(byte: number): void {
    if (this.#state === 'value' && !isSpace(byte)) {
      this.#beginValue(byte);
      return;
    }
    if (!isSpace(byte)) this.#state = this.#stateAfter(byte);
    this.#at++;
  }

  #stateAfter(byte: number): State {
    const state = this.#state as keyof typeof EXPECTED;
    if (state === 'object') return byte === BYTE.openObject ? 'first key' : 'no object';
    if (byte === BYTE.closeObject && (state === 'first key' || state === 'comma')) return 'nothing';
    if (byte === BYTE.comma && state === 'comma') return 'key';
    if (byte === BYTE.colon && state === 'colon') return 'value';
    if (byte === BYTE.quote && (state === 'first key' || state === 'key')) {
      this.#start = this.#at;
      return 'in key';
    }
    throw invalidRequest(invalidJson(`Expected ${EXPECTED[state]} at position ${this.#at}`));
  }

  #readKey(body: Buffer, length: number): void {
    // The opening quote was already read.
    this.#at = endOfString(body, this.#at, length);
    if (this.#at >= length) return;
    this.#checkKey(this.#at);
    this.#at++;
    const key = parseText(body, this.#start, this.#at) as string;
    if (!this.#keys.has(key)) throw this.#unknown(key);
    if (this.#fields.has(key))
      throw invalidRequest(fieldError(key, `Expected ${key} once, got it again. Send it once.`));
    this.#key = key;
    this.#state = 'colon';
  }

  #checkKey(end: number): void {
    if (end - this.#start > MAX_KEY_BYTES) throw this.#unknown(`a key of more than ${MAX_KEY_BYTES} bytes`);
  }

  #unknown(key: string): InvalidRequestError {
    const names = [...this.#keys.keys()];
    const error = extra(['body', key], null);
    const expected = `Expected keys among ${names.join(', ')}.${didYouMean(key, names)}`;
    return invalidRequest({ ...error, msg: `${error.msg}. ${expected}` });
  }

  #beginValue(byte: number): void {
    const isColumn = byte === BYTE.openList && this.#keys.get(this.#key);
    if (isColumn) this.#at++;
    this.#rows = isColumn ? new RowIndex(this.#at) : null;
    this.#depth = isColumn ? 1 : 0;
    this.#values = 0;
    this.#start = this.#at;
    this.#state = 'in value';
  }

  /** Continues to read a value, up to its end or the last received byte. */
  #readValue(body: Buffer, length: number): void {
    let at = this.#inString ? this.#readString(body, this.#at, length) : this.#at;
    for (; at < length && this.#state === 'in value'; at++) {
      const byte = body[at];
      if (byte === BYTE.quote) at = this.#readString(body, at + 1, length) - 1;
      else if (byte === BYTE.openList || byte === BYTE.openObject) {
        this.#depth++;
        this.#count();
      } else if (byte === BYTE.closeList || byte === BYTE.closeObject) {
        if (--this.#depth < 0) this.#endValue(body, at);
        else if (this.#depth === 0 && this.#rows !== null) this.#endColumn(body, at);
      } else if (byte === BYTE.comma) {
        if (this.#depth === 0) this.#endValue(body, at);
        else if (this.#depth === 1 && this.#rows !== null) this.#endRow(at);
        else this.#count();
      } else if (byte === BYTE.colon) this.#count();
    }
    if (this.#state === 'in value') this.#at = at;
  }

  /** Continues to read a string. @returns where to continue: after the closing quote, if it has arrived. */
  #readString(body: Buffer, from: number, length: number): number {
    const at = endOfString(body, from, length);
    this.#inString = at >= length;
    return this.#inString ? at : at + 1;
  }

  #count(): void {
    if (++this.#values > MAX_VALUES) throw invalidRequest(tooManyValues(this.#loc(), MAX_VALUES));
  }

  #endValue(body: Buffer, at: number): void {
    this.#checkLength(at);
    this.#fields.set(this.#key, parseText(body, this.#start, at));
    this.#state = 'comma';
    this.#at = at;
  }

  #endRow(at: number): void {
    const rows = this.#rows!;
    this.#checkLength(at);
    rows.add(at + 1);
    this.#start = at + 1;
    this.#values = 0;
    if (rows.length < MAX_ROWS) return;
    const msg = `List should have at most ${MAX_ROWS} items`;
    const ctx = { max_length: MAX_ROWS };
    throw invalidRequest({ type: 'too_long', loc: ['body', this.#key], msg, input: null, ctx });
  }

  #endColumn(body: Buffer, at: number): void {
    const rows = this.#rows!;
    if (body[at] !== BYTE.closeList) throw invalidRequest(invalidJson(`Expected ']' at position ${at}`));
    this.#checkLength(at);
    const isEmpty = rows.length === 0 && body.subarray(this.#start, at).every(isSpace);
    rows.close(at, isEmpty);
    this.#fields.set(this.#key, rows);
    this.#state = 'comma';
    this.#at = at + 1;
  }

  #checkLength(end: number): void {
    const limit = this.#rows === null ? MAX_VALUE_BYTES : MAX_ROW_BYTES;
    if (end - this.#start <= limit) return;
    const [, key, row] = this.#loc();
    const where = row === undefined ? key : `${key}[${row}]`;
    throw invalidRequest({
      ...fieldError(this.#key, `Expected at most ${limit} bytes of JSON at ${where}, got more. Shorten it.`),
      type: 'too_long',
    });
  }

  #loc(): ValidationError['loc'] {
    return ['body', this.#key, ...(this.#rows === null ? [] : [this.#rows.length])];
  }
}

const invalidRequest = (error: ValidationError): InvalidRequestError => new InvalidRequestError([error]);

const fieldError = (key: string, msg: string): ValidationError => ({
  type: 'value_error',
  loc: ['body', key],
  msg,
  input: null,
});
