/** Encodes rows as Parquet with Snappy, one row group per batch. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import {
  type Columns,
  type ColumnType,
  METADATA_KEY,
  type Origin,
  type RowEncoder,
  type ValueType,
} from './row-encoder.js';

type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

/**
 * The physical types. Readers of JSON lines infer INT64 and DOUBLE too, so the columns of datasets are the same in both
 * formats. Only trajectories have values of type 'float', and their fields differ between the formats anyway.
 */
const PHYSICAL = { integer: 'INT64', number: 'DOUBLE', float: 'FLOAT', flag: 'BOOLEAN' } as const;

const repetitionOf = (nullable: boolean | undefined): Element['repetition_type'] =>
  nullable ? 'OPTIONAL' : 'REQUIRED';

function valueElement(name: string, type: ValueType, nullable?: boolean): Element {
  const repetition_type = repetitionOf(nullable);
  if (type !== 'text') return { name, type: PHYSICAL[type], repetition_type };
  return {
    name,
    type: 'BYTE_ARRAY',
    converted_type: 'UTF8',
    logical_type: { type: 'STRING' },
    repetition_type,
  };
}

/** Returns the schema elements of a list, as the specification of Parquet requires. */
const listElements = (name: string, entry: readonly Element[], nullable?: boolean): Element[] => [
  {
    name,
    converted_type: 'LIST',
    logical_type: { type: 'LIST' },
    num_children: 1,
    repetition_type: repetitionOf(nullable),
  },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...entry,
];

const MESSAGE: readonly Element[] = [
  { name: 'element', num_children: 2, repetition_type: 'REQUIRED' },
  valueElement('role', 'text'),
  valueElement('content', 'text'),
];

function elementsOf(name: string, { type, nullable, of }: ColumnType): readonly Element[] {
  if (type === 'messages') return listElements(name, MESSAGE, nullable);
  if (type !== 'list') return [valueElement(name, type, nullable)];
  return listElements(name, [valueElement('element', of!.type, of!.nullable)], nullable);
}

/** Returns an encoder of rows with these columns. The file's metadata contains the origin. */
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
      const { offset } = bytes;
      writer.finish();
      const footer = takeBytes(bytes);
      // Rows that are added later overwrite the footer.
      bytes.offset = offset;
      return footer;
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
