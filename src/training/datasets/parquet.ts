/** Encodes rows as Parquet with Snappy, one row group per batch. Columns have the types that readers of JSON lines infer. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Columns, ColumnType, Origin, RowEncoder } from './row-encoder.js';

type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

const REQUIRED = 'REQUIRED';
const text = (name: string, repetition_type: Element['repetition_type'] = REQUIRED): Element => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  repetition_type,
});
/** Returns the three schema elements of a list, as the specification of Parquet requires. */
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

function elementsOf(name: string, { type, nullable = false }: ColumnType): readonly Element[] {
  const repetition_type = nullable ? 'OPTIONAL' : REQUIRED;
  if (type === 'messages') return list(name, [message, text('role'), text('content')]);
  if (type === 'texts') return list(name, [text('element')]);
  if (type === 'text') return [text(name, repetition_type)];
  // Readers of JSON lines infer these types. So both formats have the same columns.
  return [{ name, type: type === 'integer' ? 'INT64' : 'DOUBLE', repetition_type }];
}

/** The metadata key of the origin, which is JSON. */
export const METADATA_KEY = 'rhythm-vec';

export function parquetEncoder<Row>(origin: Origin, columns: Columns<Row>): RowEncoder<Row> {
  const types = Object.entries(columns) as [keyof Row & string, ColumnType][];
  const elements = types.flatMap(([name, type]) => elementsOf(name, type));
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'row', num_children: types.length }, ...elements],
    kvMetadata: [{ key: METADATA_KEY, value: JSON.stringify(origin) }],
    createdBy: `rhythm-vec ${origin.version}`,
  });
  return {
    add(rows) {
      const columnData = types.map(([name, type]) => ({ name, data: valuesOf(rows, name, type) }));
      writer.write({ columnData, rowGroupSize: rows.length });
      return takeBytes(bytes);
    },
    end() {
      writer.finish();
      return takeBytes(bytes);
    },
  };
}

/** Returns a copy of the bytes written since the last call. The writer reuses the memory. */
function takeBytes(bytes: ByteWriter): Uint8Array {
  const written = bytes.getBytes().slice();
  bytes.index = 0;
  return written;
}

const valuesOf = <Row>(rows: readonly Row[], name: keyof Row, { type }: ColumnType) =>
  type === 'integer'
    ? BigInt64Array.from(rows, (row) => BigInt(row[name] as number))
    : rows.map((row) => row[name]);
