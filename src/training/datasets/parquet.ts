/** Writes rows as Parquet: a row group per batch, snappy, with the types of the same rows read from JSON lines. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ColumnKind, Columns, Origin, RowEncoder } from './encoder.js';

type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

const REQUIRED = 'REQUIRED';
const text = (name: string, repetition_type: Element['repetition_type'] = REQUIRED): Element => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  repetition_type,
});
/** A list in the three levels that the format's specification asks for. */
const list = (name: string, element: readonly Element[]): Element[] => [
  {
    name,
    converted_type: 'LIST',
    logical_type: { type: 'LIST' },
    num_children: 1,
    repetition_type: REQUIRED,
  },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...element,
];
const message: Element = { name: 'element', num_children: 2, repetition_type: REQUIRED };

function elementsOf(name: string, { holds, nullable = false }: ColumnKind): readonly Element[] {
  const repetition_type = nullable ? 'OPTIONAL' : REQUIRED;
  if (holds === 'messages') return list(name, [message, text('role'), text('content')]);
  if (holds === 'texts') return list(name, [text('element')]);
  if (holds === 'text') return [text(name, repetition_type)];
  // As wide as readers of JSON lines make numbers, so that both formats have the same columns.
  return [{ name, type: holds === 'integer' ? 'INT64' : 'DOUBLE', repetition_type }];
}

/** The key of the file's metadata that says where it comes from, as JSON. */
export const METADATA_KEY = 'rhythm-vec';

export function parquetEncoder<Row>(origin: Origin, columns: Columns<Row>): RowEncoder<Row> {
  const kinds = Object.entries(columns) as [keyof Row & string, ColumnKind][];
  const elements = kinds.flatMap(([name, kind]) => elementsOf(name, kind));
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'row', num_children: kinds.length }, ...elements],
    kvMetadata: [{ key: METADATA_KEY, value: JSON.stringify(origin) }],
    createdBy: `rhythm-vec ${origin.version}`,
  });
  return {
    add(rows) {
      const columnData = kinds.map(([name, kind]) => ({ name, data: cellsOf(rows, name, kind) }));
      writer.write({ columnData, rowGroupSize: rows.length });
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

const cellsOf = <Row>(rows: readonly Row[], name: keyof Row, { holds }: ColumnKind) =>
  holds === 'integer'
    ? BigInt64Array.from(rows, (row) => BigInt(row[name] as number))
    : rows.map((row) => row[name]);
