/** Writes and reads Parquet files in memory, such as those of trajectories. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { CompactEpisode } from '../../src/rollouts/trajectories/compact-episode.js';
import {
  EPISODE_COLUMNS,
  type EpisodeRow,
  episodeTableOrigin,
  toEpisodeRow,
} from '../../src/rollouts/trajectories/episode-columns.js';
import { FORMATS } from '../../src/shared/row-files/file-formats.js';
import type { Columns } from '../../src/shared/row-files/row-encoder.js';
import type { Schema } from '../../src/shared/schemas.js';

export const PARQUET = FORMATS.find(({ name }) => name === 'parquet')!;

/** Returns a file with one row group for each list of rows. */
export async function parquetOf<Row>(
  groups: readonly (readonly Row[])[],
  columns: Columns<Row>,
  schema: Schema = episodeTableOrigin().schema,
): Promise<Buffer> {
  const encoder = await PARQUET.open<Row>({ ...episodeTableOrigin(), schema }, columns);
  const bytes = [...groups.map((rows) => encoder.add(rows)), encoder.end()];
  return Buffer.concat(bytes as Uint8Array[]);
}

/** Returns a file of trajectories with one row group. @param change changes each row. */
export const tableOf = (
  compact: readonly CompactEpisode[],
  change: (row: EpisodeRow, i: number) => EpisodeRow = (row) => row,
): Promise<Buffer> => parquetOf<EpisodeRow>([compact.map(toEpisodeRow).map(change)], EPISODE_COLUMNS);

const arrayBufferOf = (bytes: Buffer): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;

/** Returns the rows of a file, as hyparquet reads them. */
export async function rowsIn(bytes: Buffer): Promise<EpisodeRow[]> {
  return parquetReadObjects({ file: arrayBufferOf(bytes) });
}

/** A Zstandard frame of one block that is not compressed. @param input of at most 128 KiB, the limit of a block. */
function zstdFrame(input: Uint8Array): Uint8Array {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  // A single segment with its size in 4 bytes; the last block, of type 0 (raw).
  head.writeUInt8(0xa0, 4);
  head.writeUInt32LE(input.length, 5);
  head.writeUIntLE((input.length << 3) | 1, 9, 3);
  return Buffer.concat([head, input]);
}

/** An LZ4 block of one sequence, which has only literals. */
function lz4Block(input: Uint8Array): Uint8Array {
  if (input.length < 15) return Buffer.concat([Buffer.of(input.length << 4), input]);
  const rest = input.length - 15;
  const lengths = Buffer.alloc(Math.floor(rest / 255) + 1, 255).fill(rest % 255, Math.floor(rest / 255));
  return Buffer.concat([Buffer.of(0xf0), lengths, input]);
}

/** An LZ4 block as Hadoop writes it, after both of its sizes. */
function hadoopBlock(input: Uint8Array): Uint8Array {
  const block = lz4Block(input);
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32BE(input.length, 0);
  sizes.writeUInt32BE(block.length, 4);
  return Buffer.concat([sizes, block]);
}

/** What compresses a page, by the name of the compression. */
export const COMPRESSIONS = {
  ZSTD: zstdFrame,
  GZIP: (input: Uint8Array) => gzipSync(input),
  BROTLI: (input: Uint8Array) => brotliCompressSync(input),
  LZ4: hadoopBlock,
  LZ4_RAW: lz4Block,
  // No package reads LZO, so no test reads this page.
  LZO: (input: Uint8Array) => input,
} as const;

/** Returns a copy of a file of one row group with another compression. */
export async function compressed(bytes: Buffer, codec: keyof typeof COMPRESSIONS): Promise<Buffer> {
  const file = arrayBufferOf(bytes);
  const { schema, key_value_metadata: kvMetadata } = parquetMetadata(file);
  const rows = await parquetReadObjects({ file });
  const writer = new ByteWriter();
  const table = new ParquetWriter({ writer, schema, codec, compressors: COMPRESSIONS, kvMetadata });
  const columnData = Object.keys(rows[0]).map((name) => ({ name, data: rows.map((row) => row[name]) }));
  table.write({ columnData });
  table.finish();
  return Buffer.from(writer.getBytes());
}
