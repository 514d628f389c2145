/** The interface of a row format. */
import type { Schema } from '../../shared/schemas.js';

/** What a file says of where it comes from, as far as formats know. */
export interface Origin {
  readonly schema: Schema;
  /** The package's. */
  readonly version: string;
}

/** Turns rows into a file, piece by piece: what the calls return is the file, one after the other. */
export interface RowEncoder<Row> {
  /** @param rows at least one. */
  add(rows: readonly Row[]): string | Uint8Array;
  /** What follows the last row. */
  end(): string | Uint8Array;
}

/** What a column holds, and whether null as well. */
export interface ColumnKind {
  readonly holds: 'text' | 'integer' | 'number' | 'texts' | 'messages';
  readonly nullable?: boolean;
}

/** The columns of rows, in their order. */
export type Columns<Row> = Readonly<Record<keyof Row & string, ColumnKind>>;
