/** The interface of a row format. */
import type { Schema } from '../../shared/schemas.js';

/** The origin of a file's rows. Formats with metadata store it. */
export interface Origin {
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
}

/** Encodes rows as a file. The concatenated results of the calls are the file. */
export interface RowEncoder<Row> {
  /** @param rows at least one. */
  add(rows: readonly Row[]): string | Uint8Array;
  /** Returns the bytes after the last row. */
  end(): string | Uint8Array;
}

/** The type of a column, and whether it may be null. */
export interface ColumnType {
  readonly type: 'text' | 'integer' | 'number' | 'texts' | 'messages';
  readonly nullable?: boolean;
}

/** The columns of a row, in order. */
export type Columns<Row> = Readonly<Record<keyof Row & string, ColumnType>>;
