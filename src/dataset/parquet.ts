/** Rows as Parquet: a row group for each batch, snappy, types as the same rows have them when JSON lines are read. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { RowEncoder } from './encoder.js';
import type { Provenance } from './provenance.js';
import type { GrpoRow } from './rows.js';

type Column = keyof GrpoRow;
type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

const required = { repetition_type: 'REQUIRED' } as const;
const text = (name: string): Element => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  ...required,
});
/** As wide as readers of JSON lines make integers, so that both formats have the same columns. */
const integer = (name: string): Element => ({ name, type: 'INT64', ...required });
/** A list in the three levels that the format's specification asks for. */
const list = (name: string, element: readonly Element[]): Element[] => [
  { name, converted_type: 'LIST', logical_type: { type: 'LIST' }, num_children: 1, ...required },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...element,
];
const message: Element = { name: 'element', num_children: 2, ...required };

/** The column's elements, by what it is called in a row. */
const COLUMNS: Readonly<Record<Column, readonly Element[]>> = {
  messages: list('messages', [message, text('role'), text('content')]),
  seed: [integer('seed')],
  profile_mode: [text('profile_mode')],
  step_index: [integer('step_index')],
  action_history: list('action_history', [text('element')]),
  policy: [text('policy')],
};
const NAMES = Object.keys(COLUMNS) as Column[];
const SCHEMA: Element[] = [{ name: 'row', num_children: NAMES.length }, ...Object.values(COLUMNS).flat()];
/** The key of the file's metadata that says where it comes from, as JSON. */
export const METADATA_KEY = 'rhythm-vec';

export function parquetEncoder(provenance: Provenance): RowEncoder {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: SCHEMA,
    kvMetadata: [{ key: METADATA_KEY, value: JSON.stringify(provenance) }],
    createdBy: `rhythm-vec ${provenance.version}`,
  });
  return {
    add(rows) {
      writer.write({ columnData: columnsOf(rows), rowGroupSize: rows.length });
      return taken(bytes);
    },
    end() {
      writer.finish();
      return taken(bytes);
    },
  };
}

/** What was written since the last time, a copy: the writer goes on in the same memory. */
function taken(bytes: ByteWriter): Uint8Array {
  const written = bytes.getBytes().slice();
  bytes.index = 0;
  return written;
}

const columnsOf = (rows: readonly GrpoRow[]) =>
  NAMES.map((name) => ({
    name,
    data: COLUMNS[name][0].type === 'INT64' ? integersOf(rows, name) : rows.map((row) => row[name]),
  }));

const integersOf = (rows: readonly GrpoRow[], name: Column): BigInt64Array =>
  BigInt64Array.from(rows, (row) => BigInt(row[name] as number));
