/** Columns of a request: lists with one entry per row, which stay JSON text and are parsed in slices. */
import { describe } from '../../shared/values.js';
import { InvalidRequestError, invalidJson } from '../protocol/validation-errors.js';

/**
 * A block of rows ends with the row that reaches BLOCK_BYTES, and after every BLOCK_ROWS rows of the column. Chosen by hand:
 * smaller blocks need more positions. A block in which a slice ends is parsed twice, and larger blocks have more rows.
 */
const BLOCK_BYTES = 2 ** 16;
const BLOCK_ROWS = 64;

/**
 * The maximum number of bytes of a column that are parsed per turn of the event loop. A single block may be larger. Chosen by
 * hand: sessions wait longer for larger slices.
 */
const SLICE_BYTES = 2 ** 18;

/** The positions of a column's blocks of rows in a body. */
export class RowIndex {
  /** Per block: its first byte in the body, and its first row. */
  readonly starts: number[];
  readonly rows: number[] = [0];
  length = 0;
  /** The position of the list's closing bracket. */
  end = 0;

  /** @param start the position after the opening bracket. */
  constructor(start: number) {
    this.starts = [start];
  }

  /** Adds a row. @param next where the next row begins. */
  add(next: number): void {
    this.length++;
    const start = this.starts[this.starts.length - 1];
    if (this.length % BLOCK_ROWS !== 0 && next - start < BLOCK_BYTES) return;
    this.starts.push(next);
    this.rows.push(this.length);
  }

  /**
   * Adds the last row and ends the list. @param end the position of the closing bracket. @param isEmpty whether there
   * are no rows.
   */
  close(end: number, isEmpty: boolean): void {
    if (!isEmpty) this.length++;
    this.end = end;
  }
}

export class Column {
  static readonly EMPTY = new Column(Buffer.alloc(0), new RowIndex(0));
  readonly #body: Buffer;
  readonly #index: RowIndex;

  constructor(body: Buffer, index: RowIndex) {
    this.#body = body;
    this.#index = index;
  }

  /** The number of rows. */
  get length(): number {
    return this.#index.length;
  }

  /** Returns the end (excluded) of the rows that are parsed together with row `from`. */
  endOfSlice(from: number): number {
    const { starts, rows, length, end } = this.#index;
    const first = this.#blockOf(from);
    let next = first + 1;
    while (next < starts.length && (starts[next + 1] ?? end) - starts[first] <= SLICE_BYTES) next++;
    return rows[next] ?? length;
  }

  /** Parses rows `from` up to `to` (excluded). @throws InvalidRequestError for invalid JSON. */
  rows(from: number, to: number): unknown[] {
    const { starts, rows, length, end } = this.#index;
    const first = this.#blockOf(from);
    const after = this.#blockOf(to - 1) + 1;
    const start = starts[first];
    // A block ends before the comma that separates it from the next block.
    const parsed = parseListText(this.#body, start, after < starts.length ? starts[after] - 1 : end);
    if (parsed.length !== (rows[after] ?? length) - rows[first]) {
      throw new InvalidRequestError([
        invalidJson(`Expected a value in each row of a list at position ${start}`),
      ]);
    }
    return parsed.slice(from - rows[first], to - rows[first]);
  }

  /** The column's description in errors. */
  toJSON(): string {
    return describe(Array(this.length));
  }

  /** Returns the block of a row, by binary search. */
  #blockOf(row: number): number {
    const { rows } = this.#index;
    let [low, high] = [0, rows.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (rows[middle] <= row) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** Parses the JSON between two positions of a body. @throws InvalidRequestError for invalid JSON. */
export const parseText = (body: Buffer, start: number, end: number): unknown =>
  parse(body.toString('utf8', start, end), start);

/** Parses the inside of a list's brackets, between two positions of a body. */
const parseListText = (body: Buffer, start: number, end: number): unknown[] =>
  parse(`[${body.toString('utf8', start, end)}]`, start - 1) as unknown[];

/** Parses JSON. @param shift the position of the text in the body, for errors. @throws InvalidRequestError for invalid JSON. */
function parse(text: string, shift: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidRequestError([invalidJson((error as SyntaxError).message, shift)]);
  }
}

/** Returns the columns of a request. */
export const columnsOf = (request: Readonly<Record<string, unknown>>): Column[] =>
  Object.values(request).filter((value) => value instanceof Column);

/**
 * Returns the end (excluded) of the slice of a request's rows that begins at row `from`.
 * @param limit the maximum number of rows of the slice.
 */
export function sliceEnd(columns: readonly Column[], from: number, limit: number): number {
  let to = from + limit;
  for (const column of columns) to = Math.min(to, column.endOfSlice(from), column.length);
  return to;
}

/** Parses all rows of a column. @param turn awaited before each slice. @param convert converts a row. */
export async function allRows<T>(
  column: Column,
  turn: () => Promise<void>,
  convert: (value: unknown, row: number) => T,
): Promise<T[]> {
  const result: T[] = [];
  while (result.length < column.length) {
    await turn();
    const from = result.length;
    const rows = column.rows(from, sliceEnd([column], from, column.length));
    for (const [k, value] of rows.entries()) result.push(convert(value, from + k));
  }
  return result;
}
