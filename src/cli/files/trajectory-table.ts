/**
 * Reads Parquet files of trajectories, row group by row group: the compact episodes (compact-episode.ts) that the rows store, or
 * whole episodes, which replays compute.
 */

import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { AsyncBuffer, Compressors, FileMetaData, RowGroup } from 'hyparquet';
import { type CompactEpisode, parseCompact } from '../../rollouts/trajectories/compact-episode.js';
import { EPISODE_COLUMNS, fromEpisodeRow } from '../../rollouts/trajectories/episode-columns.js';
import { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { load, PACKAGES } from '../../shared/optional-packages.js';
import { METADATA_KEY } from '../../shared/row-files/row-encoder.js';
import { follows, otherSchema, SCHEMAS } from '../../shared/schemas.js';
import { UsageError } from '../command-errors.js';
import { printable, readFully } from './lines.js';
import { footerOf, stat } from './paths.js';

const COLUMNS = Object.keys(EPISODE_COLUMNS);
/** The maximum number of episodes that are replayed at once. Chosen by hand: more take more memory. */
const BATCH = 256;
/**
 * The approximate sizes of a whole episode as a line, in bytes, without and with prompts. Chosen by hand; docs/trajectories.md
 * has measured sizes.
 */
const SIZES = { plain: 16_384, prompted: 49_152 };

/** A line or row of a file: its episode, or its fault. */
export interface TrajectoryLine {
  /** File and number of the line or row, such as "teacher.jsonl:3". */
  readonly place: string;
  /**
   * The approximate number of bytes of the line, or for a row of the line that has the same episode. 0 for a line or row that
   * cannot be read.
   */
  readonly size: number;
  readonly episode: TrajectoryEpisode | BadEpisode;
}

/** A row of a file: its compact episode, or its fault. */
export interface TableRow {
  /** File and row, such as "teacher.parquet:3". */
  readonly place: string;
  readonly compact: CompactEpisode | BadEpisode;
}

/**
 * Yields the rows of a file, one list for each row group. A row group that cannot be read is one fault.
 * @param name the file's name in `place`. @param onBytes called with the size of each row group.
 * @throws UsageError for a file that is damaged, has another schema or lacks columns; LibraryError `library_missing`.
 */
export async function* readTable(
  path: string,
  name: string,
  onBytes: (count: number) => void = () => {},
): AsyncGenerator<TableRow[]> {
  await using file = await ParquetFile.open(path);
  checkTable(file, path);
  for await (const group of file.groups(COLUMNS)) {
    yield rowsOf(group, name);
    onBytes(group.bytes);
  }
}

/** Yields the episodes of a file. @throws as `readTable`. */
export async function* readTableEpisodes(
  path: string,
  name: string,
  replayer: EpisodeReplayer,
  onBytes?: (count: number) => void,
): AsyncGenerator<TrajectoryLine> {
  for await (const rows of readTable(path, name, onBytes)) {
    for (let from = 0; from < rows.length; from += BATCH)
      yield* replayed(rows.slice(from, from + BATCH), replayer);
  }
}

/** Yields the episodes of one file, with a replayer of its own. @throws as `readTable`. */
export async function* readTableFile(path: string): AsyncGenerator<TrajectoryLine> {
  await using replayer = new EpisodeReplayer();
  yield* readTableEpisodes(path, path, replayer);
}

/** Refuses a file that does not contain trajectories. */
function checkTable({ origin, columns }: ParquetFile, path: string): void {
  const { schema } = Object(origin) as { schema?: unknown };
  // Tools that copy rows drop the metadata. Then only the columns show that the file has trajectories.
  if (schema !== undefined && !follows(SCHEMAS.trajectoryTable, schema))
    throw new UsageError(otherSchema(SCHEMAS.trajectoryTable, schema, ` in ${path}`));
  const missing = COLUMNS.filter((column) => !columns.includes(column));
  if (missing.length === 0) return;
  throw new UsageError(
    `Expected ${path} to have the columns of trajectories, got none named ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', ...' : ''}. Pass a file that rhythm-vec teach wrote, or copy all of its columns.`,
  );
}

function rowsOf({ first, count, rows, problem }: ReadGroup, name: string): TableRow[] {
  const placeOf = (index: number): string => `${name}:${first + index + 1}`;
  if (rows === null) {
    const all = `rows ${first + 1} to ${first + count}: ${problem}`;
    return [{ place: placeOf(0), compact: new BadEpisode('corrupt', all, count) }];
  }
  return rows.map((row, i) => ({ place: placeOf(i), compact: compactOf(row) }));
}

function compactOf(row: Record<string, unknown>): CompactEpisode | BadEpisode {
  try {
    return parseCompact(fromEpisodeRow(row));
  } catch (error) {
    if (error instanceof BadEpisode) return error;
    throw error;
  }
}

async function* replayed(
  rows: readonly TableRow[],
  replayer: EpisodeReplayer,
): AsyncGenerator<TrajectoryLine> {
  const valid = rows.map(({ compact }) => compact).filter((each) => !(each instanceof BadEpisode));
  const episodes = (await replayer.fromCompact(valid as CompactEpisode[])).values();
  for (const { place, compact } of rows) {
    if (compact instanceof BadEpisode) yield { place, size: 0, episode: compact };
    else {
      const size = compact.completions === null ? SIZES.plain : SIZES.prompted;
      yield { place, size, episode: episodes.next().value! };
    }
  }
}

type Library = typeof import('hyparquet');
type Row = Record<string, unknown>;

/** The rows of a row group, or the reason why they cannot be read. */
export interface ReadGroup {
  /** The number of rows before the group. */
  readonly first: number;
  /** The number of rows of the group. */
  readonly count: number;
  /** The size in the file in bytes, compressed. */
  readonly bytes: number;
  /** Null if the rows cannot be read. */
  readonly rows: readonly Row[] | null;
  /** The reason; '' if the rows were read. */
  readonly problem: string;
}

/** The maximum uncompressed size of a row group, in bytes. Chosen by hand: all rows of a group are in memory at once. */
const MAX_GROUP_BYTES = 2 ** 30;

/** An open file, and what reads it. */
interface Opened {
  readonly library: Library;
  readonly handle: FileHandle;
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly compressors: Compressors | undefined;
}

export class ParquetFile implements AsyncDisposable {
  readonly #opened: Opened;

  private constructor(opened: Opened) {
    this.#opened = opened;
  }

  /**
   * Opens a file. If it has no footer because a run was killed, reads the footer that the run left beside it (store/table-file.ts).
   * @throws UsageError for a file that is cut off or damaged, or whose compression cannot be read; Error if the footer beside
   *   the file is damaged; LibraryError `library_missing`.
   */
  static async open(path: string): Promise<ParquetFile> {
    const library = await load('Parquet files', PACKAGES.parquet, () => import('hyparquet'));
    const handle = await open(path, 'r');
    try {
      const file = await bufferOf(handle);
      const metadata = await metadataOf(library, file, path);
      const compressors = await compressorsOf(metadata, path);
      return new ParquetFile({ library, handle, file, metadata, compressors });
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The names of the columns. */
  get columns(): readonly string[] {
    const { library, metadata } = this.#opened;
    return library.parquetSchema(metadata).children.map(({ element }) => element.name);
  }

  /** The value that this package stores in its files as JSON; the text if it is damaged; undefined in other files. */
  get origin(): unknown {
    const { key_value_metadata: values } = this.#opened.metadata;
    const text = values?.find(({ key }) => key === METADATA_KEY)?.value;
    try {
      return text === undefined ? undefined : JSON.parse(text);
    } catch {
      return text;
    }
  }

  /** Reads the row groups one after the other. @param columns the names of the columns to read. */
  async *groups(columns: readonly string[]): AsyncGenerator<ReadGroup> {
    let first = 0;
    for (const group of this.#opened.metadata.row_groups) {
      const count = Number(group.num_rows);
      const place = { first, count, bytes: sumOf(group, 'total_compressed_size') };
      const read = await this.#read(group, place, columns).then(
        (rows) => ({ rows, problem: '' }),
        (error: Error) => ({ rows: null, problem: error.message }),
      );
      yield { ...place, ...read };
      first += count;
    }
  }

  /** Reads the rows of a group. @throws Error that says why they cannot be read. */
  async #read(
    group: RowGroup,
    { first, count }: Pick<ReadGroup, 'first' | 'count'>,
    columns: readonly string[],
  ): Promise<Row[]> {
    const size = sumOf(group, 'total_uncompressed_size');
    if (!(size <= MAX_GROUP_BYTES)) {
      throw new Error(
        `Expected row groups of at most ${MAX_GROUP_BYTES} bytes, got a group of ${size}. Write the file with smaller row groups.`,
      );
    }
    const { library, file, metadata, compressors } = this.#opened;
    const range = { rowStart: first, rowEnd: first + count };
    const rows = await library
      .parquetReadObjects({ file, metadata, compressors, columns: [...columns], ...range })
      .catch((error: Error) => {
        throw new Error(`Expected a whole row group, got: ${error.message}. Write the file again.`);
      });
    if (rows.length === count) return rows;
    throw new Error(`Expected ${count} rows, got ${rows.length}. Write the file again.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.handle.close();
  }
}

/** The compressions that hyparquet reads itself. */
const BUILT_IN: readonly string[] = ['UNCOMPRESSED', 'SNAPPY'];

/**
 * Loads what decompresses a file's columns; undefined if hyparquet reads them itself.
 * @throws LibraryError `library_missing`; UsageError for a compression that no package reads, which is LZO.
 */
async function compressorsOf(
  { row_groups: groups }: FileMetaData,
  path: string,
): Promise<Compressors | undefined> {
  const codecs = new Set(groups.flatMap(({ columns }) => columns.map(({ meta_data }) => meta_data?.codec)));
  const others = [...codecs].filter((codec) => codec !== undefined && !BUILT_IN.includes(codec));
  if (others.length === 0) return undefined;
  const what = `Parquet files with the compression ${others.join(' and ')}`;
  const { compressors } = await load(what, PACKAGES.compressions, () => import('hyparquet-compressors'));
  const unknown = others.find((codec) => !Object.hasOwn(compressors, codec!));
  if (unknown !== undefined) {
    throw new UsageError(
      `Expected ${path} to have the compression ${Object.keys(compressors).join(', ')} or none, got ${unknown}. Write it again with one of these.`,
    );
  }
  // The package refuses LZ4 of no bytes, such as the dictionary of a column that is null in all rows.
  const entries = Object.entries(compressors).map(([codec, decompress]) => [
    codec,
    (input: Uint8Array, size: number) => (size === 0 ? new Uint8Array() : decompress(input, size)),
  ]);
  return Object.fromEntries(entries);
}

type Size = 'total_compressed_size' | 'total_uncompressed_size';

const sumOf = ({ columns }: RowGroup, name: Size): number =>
  columns.reduce((sum, { meta_data }) => sum + Number(meta_data?.[name] ?? 0), 0);

async function bufferOf(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat();
  return {
    byteLength: size,
    slice: (start, end = size) => {
      const bytes = readBytes(handle, start, Math.min(end, size));
      // hyparquet reads ahead. Without a handler, an error of bytes that it never uses would end the process.
      bytes.catch(() => {});
      return bytes;
    },
  };
}

/** Reads the bytes [start, end) of a file. @throws Error for a range outside the file; its message completes "got: ". */
async function readBytes(handle: FileHandle, start: number, end: number): Promise<ArrayBuffer> {
  if (!(start >= 0 && start <= end)) throw new Error(`bytes from ${start} to ${end}`);
  const bytes = await readFully(handle, start, end);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
}

/** Returns the metadata of a file's footer, or of the footer that a killed run left beside it. */
async function metadataOf(library: Library, buffer: AsyncBuffer, path: string): Promise<FileMetaData> {
  try {
    return checkedMetadata(await library.parquetMetadataAsync(buffer, FOOTER));
  } catch (error) {
    const kept = footerOf(path);
    if (stat(kept)?.isFile()) {
      const { buffer: bytes, byteOffset, length } = await readFile(kept);
      const footer = bytes.slice(byteOffset, byteOffset + length) as ArrayBuffer;
      return checkedMetadata(library.parquetMetadata(footer, FOOTER));
    }
    throw new UsageError(
      `Expected ${path} to be a whole Parquet file, got: ${printable((error as Error).message)}. Write it again, or pass the file that it was copied from.`,
    );
  }
}

/** Turns off hyparquet's search for geographic columns, which never ends in some damaged footers. */
const FOOTER = { geoparquet: false };

/** Checks a footer that may be damaged. Without these checks, reading may never end. */
function checkedMetadata(metadata: FileMetaData): FileMetaData {
  const { schema, row_groups: groups, num_rows: rows } = metadata;
  if (!isTree(schema)) throw new Error('a footer whose columns form no tree');
  const sum = groups.reduce((total, { num_rows }) => total + num_rows, 0n);
  if (sum === rows && groups.every(({ num_rows, columns }) => num_rows >= 0n && Array.isArray(columns)))
    return metadata;
  throw new Error(`a footer of ${rows} rows, whose row groups have ${sum}`);
}

/** Returns whether a schema's elements, in depth-first order, form one tree. */
function isTree(schema: FileMetaData['schema']): boolean {
  let missing = 1;
  return (
    schema.every(({ num_children: children = 0 }) => {
      const expected = missing > 0 && children >= 0;
      missing += children - 1;
      return expected;
    }) && missing === 0
  );
}
