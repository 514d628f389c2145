/** The formats of rows. */
import type { Columns, Origin, RowEncoder } from './encoder.js';

export interface RowFormat {
  /** Also what names of such files end with. */
  readonly name: string;
  /** @param origin is kept in the file, where the format has a place for it. */
  readonly open: <Row>(origin: Origin, columns: Columns<Row>) => Promise<RowEncoder<Row>>;
}

const jsonlEncoder = <Row>(): RowEncoder<Row> => ({
  add: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  end: () => '',
});

export const FORMATS: readonly RowFormat[] = [
  { name: 'jsonl', open: async () => jsonlEncoder() },
  {
    name: 'parquet',
    // Only who writes it waits for its library.
    open: async (origin, columns) => (await import('./parquet.js')).parquetEncoder(origin, columns),
  },
];
