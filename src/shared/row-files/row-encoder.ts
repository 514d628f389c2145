/** The interface of a row format. */
import type { Schema } from '../schemas.js';

/** The origin of a file's rows. Formats with metadata store it. */
export interface Origin {
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
}

/** The key under which the metadata of a Parquet file holds the origin, as JSON. */
export const METADATA_KEY = 'rhythm-vec';

/** Encodes rows as a file: the results of all calls of `add`, then the result of the last `end`. */
export interface RowEncoder<Row> {
  /** Encodes rows. @param rows at least one; in formats with row groups, the rows of one group. */
  add(rows: readonly Row[]): string | Uint8Array;
  /** Returns the bytes after the rows so far, such as Parquet's footer. If more rows are added, they replace these bytes. */
  end(): string | Uint8Array;
}

/** The type of a value. A 'number' is a float64, a 'float' a float32. */
export type ValueType = 'text' | 'integer' | 'number' | 'float' | 'flag';

/** The type of a column, and whether it may be null. 'messages' is a list of chat messages, each a role and a content. */
export interface ColumnType {
  readonly type: ValueType | 'list' | 'messages';
  readonly nullable?: boolean;
  /** The entries of a list. */
  readonly of?: { readonly type: ValueType; readonly nullable?: boolean };
}

/** The columns of a row, in order. */
export type Columns<Row> = Readonly<Record<keyof Row & string, ColumnType>>;
