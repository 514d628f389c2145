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

const jsonlEncoder = <Row>(columns: Columns<Row>): RowEncoder<Row> => {
  const [name] = Object.keys(columns) as (keyof Row & string)[];
  const lineOf = columns[name].type === 'messages' ? messagesFirst<Row>(name) : JSON.stringify;
  return { add: (rows) => rows.map((row) => `${lineOf(row)}\n`).join(''), end: () => '' };
};

/**
 * Returns a function that does the same as JSON.stringify for rows with messages in the first column, `name`. It keeps the JSON
 * of the first message, because many rows in turn may have the same object, the system message.
 */
function messagesFirst<Row>(name: keyof Row & string): (row: Row) => string {
  let [kept, start]: [unknown, string] = [null, ''];
  return ({ [name]: messages, ...others }) => {
    const [first, ...rest] = messages as unknown[];
    if (first !== kept) [kept, start] = [first, `{"${name}":[${JSON.stringify(first)}`];
    const comma = rest.length > 0 ? ',' : '';
    return `${start}${comma}${JSON.stringify(rest).slice(1)},${JSON.stringify(others).slice(1)}`;
  };
}

/** The formats, JSON lines first. */
export const FORMATS: readonly RowFormat[] = [
  { name: 'jsonl', open: async (_, columns) => jsonlEncoder(columns) },
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
