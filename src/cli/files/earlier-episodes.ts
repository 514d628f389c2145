/** Reads the episodes of an unfinished Parquet file, PATH.partial, that an earlier run of the same command left. */
import type { CompactEpisode } from '../../rollouts/trajectories/compact-episode.js';
import { BadEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { UsageError } from '../command-errors.js';
import { isParquet } from './file-kind.js';
import { partialOf } from './partial-file.js';
import { stat } from './paths.js';
import { readTable } from './trajectory-table.js';

export interface UnfinishedFile {
  /** The option that names the output, and its path. */
  readonly option: string;
  readonly path: string;
  /** Returns whether this run plays the episode at this index of the file. */
  readonly isOwn: (compact: CompactEpisode, index: number) => boolean;
}

/**
 * Yields the episodes of the unfinished file, one list for each row group; nothing if there is no such file.
 * @throws as `readTable`; UsageError for a file that is not Parquet, or has an invalid row or an episode of another run.
 */
export async function* earlierEpisodes({
  option,
  path,
  isOwn,
}: UnfinishedFile): AsyncGenerator<CompactEpisode[]> {
  if (path === '-') return;
  const partial = partialOf(path);
  if (stat(partial) === null) return;
  const remedy = `Read it with reeval, move or remove it, or name another ${option}.`;
  if (!isParquet(partial)) {
    throw new UsageError(
      `Expected ${partial} to be an unfinished Parquet file, got a file of another run. ${remedy}`,
    );
  }
  let index = 0;
  for await (const rows of readTable(partial, partial)) {
    yield rows.map(({ place, compact }) => {
      if (!(compact instanceof BadEpisode) && isOwn(compact, index++)) return compact;
      const got = compact instanceof BadEpisode ? compact.message : 'an episode of another run';
      throw new UsageError(`Expected the episodes of this run in ${place}, got: ${got}. ${remedy}`);
    });
  }
}
