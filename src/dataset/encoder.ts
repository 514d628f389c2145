/** What every format of rows can do. */
import type { GrpoRow } from './rows.js';

/** Turns rows into a file, piece by piece: what the calls return is the file, one after the other. */
export interface RowEncoder {
  add(rows: readonly GrpoRow[]): string | Uint8Array;
  /** What follows the last row. */
  end(): string | Uint8Array;
}
