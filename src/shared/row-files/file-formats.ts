/** The file formats of rows: JSON lines and Parquet. */
import { load, PACKAGES } from '../optional-packages.js';
import type { Columns, Origin, RowEncoder } from './row-encoder.js';

/** A file format of rows. */
export interface RowFormat {
  /** The name, which is also the extension of file names. */
  readonly name: string;
  /** Opens an encoder. @param origin is stored in the file if the format has metadata. */
  readonly open: <Row>(origin: Origin, columns: Columns<Row>) => Promise<RowEncoder<Row>>;
}

const jsonlEncoder = <Row>(): RowEncoder<Row> => ({
  add: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  end: () => '',
});

/** The formats, JSON lines first. */
export const FORMATS: readonly RowFormat[] = [
  { name: 'jsonl', open: async () => jsonlEncoder() },
  {
    name: 'parquet',
    // Loads the library only if a Parquet file is written.
    open: async (origin, columns) => {
      const { parquetEncoder } = await load(
        'Parquet files',
        PACKAGES.parquet,
        () => import('./parquet-encoder.js'),
      );
      return parquetEncoder(origin, columns);
    },
  },
];

/** The format of JSON lines. */
export const [LINES] = FORMATS;

/** The names of all formats. */
export const FORMAT_NAMES: readonly string[] = FORMATS.map(({ name }) => name);
