/**
 * Reads Parquet files of trajectories: the compact episodes (compact-episode.ts) that the rows store, or whole episodes, which
 * replays compute.
 */
import { type CompactEpisode, parseCompact } from '../../rollouts/trajectories/compact-episode.js';
import { EPISODE_COLUMNS, fromEpisodeRow } from '../../rollouts/trajectories/episode-columns.js';
import type { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { follows, otherSchema, SCHEMAS } from '../../shared/schemas.js';
import { UsageError } from '../command-errors.js';
import { ParquetFile, type ReadGroup } from './parquet-file.js';

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
