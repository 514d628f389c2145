/** Writes and reads Parquet files in memory, such as those of trajectories. */
import { parquetReadObjects } from 'hyparquet';
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

/** Returns the rows of a file, as hyparquet reads them. */
export async function rowsIn(bytes: Buffer): Promise<EpisodeRow[]> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  return parquetReadObjects({ file });
}
