/** Rows as lines of JSON. */
import type { RowEncoder } from './encoder.js';

export const jsonlEncoder = <Row>(): RowEncoder<Row> => ({
  add: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  end: () => '',
});
