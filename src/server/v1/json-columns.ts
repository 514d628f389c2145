/**
 * Reads JSON bodies with columns: lists with one entry per row. One pass finds the fields, and slices of the rows of each
 * column; the slices are parsed later, one per turn of the event loop. `JSON.parse` decides whether they are valid.
 */
import type { z } from 'zod';
import { catchFault, type ReportFault, RowNaming } from '../../rollouts/replay/row-faults.js';
import { allocateColumns, WRITE_FIELD, type WrittenColumns } from '../../rollouts/replay/row-objects.js';
import { didYouMean } from '../../shared/names.js';
import { checkName, describe } from '../../shared/values.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import {
  extra,
  fieldError,
  InvalidRequestError,
  invalidJson,
  invalidObject,
  missing,
  type ValidationError,
} from '../protocol/errors.js';
import { BYTE, endOfString, MAX_VALUES, objectOf, tooManyValues } from '../protocol/json.js';

// The limits are chosen by hand. A row or a value is parsed in one piece, which blocks the event loop.

/** The maximum number of rows of a JSON body. */
export const MAX_JSON_ROWS = 2 ** 17;
/** The maximum size of a row in bytes. */
export const MAX_ROW_BYTES = 2 ** 20;
/** The maximum size in bytes of a value that is not a column. */
export const MAX_VALUE_BYTES = 2 ** 16;
/** A slice ends with the row that reaches SLICE_BYTES, or after SLICE_ROWS: each invalid row takes the time of an error. */
const SLICE_BYTES = 2 ** 16;
const SLICE_ROWS = 1024;
/** The maximum length of a key in bytes, with its quotes. */
const MAX_KEY_BYTES = 256;

/** Some rows of a column, from `row` on, and their bytes in the body. */
interface Slice {
  readonly row: number;
  readonly start: number;
  readonly end: number;
}

/** A column of a request. */
export class Column {
  static readonly EMPTY = new Column(Buffer.alloc(0), [], 0);
  /** The number of rows. */
  readonly length: number;
  readonly #body: Buffer;
  readonly #slices: readonly Slice[];

  constructor(body: Buffer, slices: readonly Slice[], length: number) {
    this.#body = body;
    this.#slices = slices;
    this.length = length;
  }

  /**
   * Parses the rows slice by slice. @param turn awaited before each slice. @param read called for each row.
   * @throws InvalidRequestError for invalid JSON.
   */
  async forEach(turn: () => Promise<void>, read: (value: unknown, row: number) => void): Promise<void> {
    for (const [k, { row, start, end }] of this.#slices.entries()) {
      await turn();
      const rows = parse(`[${this.#body.toString('utf8', start, end)}]`, start - 1) as unknown[];
      if (rows.length !== (this.#slices[k + 1]?.row ?? this.length) - row) {
        throw invalidJson(`Expected a value in each row of a list at position ${start}`);
      }
      withoutStacks(() => {
        for (let i = 0; i < rows.length; i++) read(rows[i], row + i);
      });
    }
  }

  /** The column's description in errors. */
  toJSON(): string {
    return describe(Array(this.length));
  }
}

/** Runs `act` without recording the stacks of errors. Recording them takes half of the time of creating thousands of errors. */
export function withoutStacks<T>(act: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Parses JSON. @param shift the position of the text in the body, for errors. @throws InvalidRequestError for invalid JSON. */
function parse(text: string, shift: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson((error as SyntaxError).message, shift);
  }
}

/** The keys of a request, and whether the value of each may be a column. */
export type Keys = ReadonlyMap<string, boolean>;

/** Returns the keys of a schema, and which of them accept a column. */
export function keysOf({ shape }: z.ZodObject): Keys {
  const isColumn = (schema: unknown): boolean => (schema as z.ZodType).safeParse(Column.EMPTY).success;
  return new Map(Object.entries(shape).map(([key, schema]) => [key, isColumn(schema)]));
}

/** Returns the fields of a body. Lists under keys of columns become Columns. @throws InvalidRequestError. */
export const readFields = (body: Buffer, keys: Keys): Record<string, unknown> =>
  new BodyReader(body, keys).read();

/** Returns whether a byte is white space of JSON: a space, a line feed, a carriage return or a tab. */
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

class BodyReader {
  readonly #body: Buffer;
  readonly #keys: Keys;
  readonly #fields = new Map<string, unknown>();
  #at = 0;

  constructor(body: Buffer, keys: Keys) {
    this.#body = body;
    this.#keys = keys;
  }

  read(): Record<string, unknown> {
    if (this.#peek() !== BYTE.openObject) refuseBody(this.#body);
    this.#at++;
    if (this.#peek() === BYTE.closeObject) this.#at++;
    else this.#readFields();
    if (this.#peek() !== undefined) this.#fail('nothing more');
    return Object.fromEntries(this.#fields);
  }

  #readFields(): void {
    for (let byte: number | undefined = BYTE.comma; byte === BYTE.comma; this.#at++) {
      const key = this.#readKey();
      if (this.#peek() !== BYTE.colon) this.#fail("':'");
      this.#at++;
      const isColumn = this.#peek() === BYTE.openList && this.#keys.get(key);
      this.#fields.set(key, isColumn ? this.#readColumn(key) : this.#readValue(key));
      byte = this.#peek();
      if (byte !== BYTE.comma && byte !== BYTE.closeObject) this.#fail("',' or '}'");
    }
  }

  #readKey(): string {
    if (this.#peek() !== BYTE.quote) this.#fail(this.#fields.size === 0 ? "a key or '}'" : 'a key');
    const start = this.#at;
    this.#at = endOfString(this.#body, start + 1, this.#body.length) + 1;
    if (this.#at - start > MAX_KEY_BYTES) throw this.#unknown(`a key of more than ${MAX_KEY_BYTES} bytes`);
    const key = parse(this.#body.toString('utf8', start, this.#at), start) as string;
    if (!this.#keys.has(key)) throw this.#unknown(key);
    if (!this.#fields.has(key)) return key;
    throw fieldError(key, `${key} once`, 'it again', 'Send it once.');
  }

  #unknown(key: string): InvalidRequestError {
    const names = [...this.#keys.keys()];
    const error = extra(['body', key], null);
    const expected = `Expected keys among ${names.join(', ')}.${didYouMean(key, names)}`;
    return new InvalidRequestError([{ ...error, msg: `${error.msg}. ${expected}` }]);
  }

  #readValue(key: string): unknown {
    const start = this.#at;
    this.#skip(['body', key]);
    this.#checkSize(key, start, MAX_VALUE_BYTES, key);
    return parse(this.#body.toString('utf8', start, this.#at), start);
  }

  #readColumn(key: string): Column {
    this.#at++;
    if (this.#peek() === BYTE.closeList) {
      this.#at++;
      return Column.EMPTY;
    }
    const slices: Slice[] = [];
    let length = 0;
    let slice = { row: 0, start: this.#at };
    for (let byte: number = BYTE.comma; byte === BYTE.comma; this.#at++) {
      if (length === MAX_JSON_ROWS) throw tooManyRows(key);
      const start = this.#at;
      this.#skip(['body', key, length]);
      this.#checkSize([key, length], start, MAX_ROW_BYTES, `${key}[${length}]`);
      length++;
      byte = this.#body[this.#at];
      const isFull = this.#at - slice.start >= SLICE_BYTES || length - slice.row === SLICE_ROWS;
      if (byte === BYTE.comma && !isFull) continue;
      slices.push({ ...slice, end: this.#at });
      slice = { row: length, start: this.#at + 1 };
    }
    if (this.#body[this.#at - 1] === BYTE.closeList) return new Column(this.#body, slices, length);
    this.#at--;
    return this.#fail("']'");
  }

  /** Moves to the comma or bracket after a value. @param loc the place of the value, for errors. */
  #skip(loc: ValidationError['loc']): void {
    const body = this.#body;
    let [at, depth, values] = [this.#at, 0, 0];
    for (; at < body.length && values <= MAX_VALUES; at++) {
      const byte = body[at];
      if (byte === BYTE.quote) at = endOfString(body, at + 1, body.length);
      else if (byte === BYTE.openList || byte === BYTE.openObject) {
        depth++;
        values++;
      } else if (byte === BYTE.closeList || byte === BYTE.closeObject) {
        if (--depth < 0) break;
      } else if (byte === BYTE.comma) {
        if (depth === 0) break;
        values++;
      } else if (byte === BYTE.colon) values++;
    }
    if (values > MAX_VALUES) throw new InvalidRequestError([tooManyValues(loc)]);
    this.#at = Math.min(at, body.length);
    if (this.#at === body.length) this.#fail('');
  }

  #checkSize(at: string | [string, number], start: number, limit: number, where: string): void {
    if (this.#at - start <= limit) return;
    throw fieldError(at, `at most ${limit} bytes of JSON at ${where}`, 'more', 'Shorten it.', 'too_long');
  }

  /** Returns the next byte that is not white space; undefined at the end. */
  #peek(): number | undefined {
    while (isSpace(this.#body[this.#at])) this.#at++;
    return this.#body[this.#at];
  }

  #fail(expected: string): never {
    const what = this.#at < this.#body.length ? `Expected ${expected}` : 'Unexpected end of JSON input';
    throw invalidJson(`${what} at position ${this.#at}`);
  }
}

const tooManyRows = (key: string): InvalidRequestError =>
  fieldError(key, `at most ${MAX_JSON_ROWS} rows`, 'more', 'Send fewer at a time.', 'too_long');

/** Refuses a body that does not begin with an object. A long one is not parsed. */
function refuseBody(body: Buffer): never {
  if (body.length <= MAX_VALUE_BYTES) {
    if (body.toString().trim() === '') throw new InvalidRequestError([missing(['body'], null)]);
    objectOf(body.toString());
  }
  throw new InvalidRequestError([invalidObject(['body'], `${body.length} bytes`)]);
}

/** The columns of rows, each with its field of a row. The histories of beliefs come after those of actions. */
const ROW_FIELDS = {
  seeds: 'seed',
  profile_modes: 'profileMode',
  action_histories: 'actionHistory',
  actions: 'action',
  beliefs: 'belief',
  belief_histories: 'beliefHistory',
} as const;
type RowColumn = keyof typeof ROW_FIELDS;

/** The names of the fields of rows in errors. */
export const ROW_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ROW_FIELDS).map(([column, field]) => [field, column]),
);
const NAMING = new RowNaming(ROW_NAMES);

/**
 * Reads the rows of a request into typed arrays. Invalid rows hold valid values.
 * @param reportFault called for every invalid entry. @param turn awaited before each slice of a column.
 * @throws InvalidRequestError for invalid JSON; the errors of `reportFault`.
 */
export async function readRows(
  request: Readonly<Partial<Record<RowColumn, unknown>>> & { readonly seeds: Column },
  reportFault: ReportFault,
  turn: () => Promise<void>,
): Promise<WrittenColumns> {
  const columns = allocateColumns(request.seeds.length);
  if (typeof request.profile_modes === 'string') columns.profiles.fill(request.profile_modes);
  for (const [name, field] of Object.entries(ROW_FIELDS)) {
    const column = request[name as RowColumn];
    if (!(column instanceof Column)) continue;
    await column.forEach(turn, (value, row) =>
      catchFault(row, reportFault, () => {
        if (field === 'profileMode' && typeof value === 'string') checkProfile(value, row);
        WRITE_FIELD[field](columns, row, value, NAMING);
      }),
    );
  }
  return columns;
}

const checkProfile = (name: string, row: number): string =>
  checkName(NAMING.inObject(row, 'profileMode'), name, PROFILE_CHOICES);
