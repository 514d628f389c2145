/** The formats that rows are written in. */
import type { Columns, Origin, RowEncoder } from './encoder.js';
import { jsonlEncoder } from './jsonl.js';

export interface RowFormat {
  /** Also what names of such files end with. */
  readonly name: string;
  /** @param origin is kept in the file, where the format has a place for it. */
  readonly open: <Row>(origin: Origin, columns: Columns<Row>) => Promise<RowEncoder<Row>>;
}

export const FORMATS: readonly RowFormat[] = [
  { name: 'jsonl', open: async () => jsonlEncoder() },
  {
    name: 'parquet',
    // Only who writes it waits for its library.
    open: async (origin, columns) => (await import('./parquet.js')).parquetEncoder(origin, columns),
  },
];
