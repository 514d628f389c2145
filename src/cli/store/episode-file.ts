/** Writes files of trajectories, as JSON lines or as Parquet. */
import { episodeLine } from '../../rollouts/trajectories/trajectory-lines.js';
import { LINES, type RowFormat } from '../../shared/row-files/file-formats.js';
import { openOutput } from '../files/output-file.js';
import type { EarlierRun, EpisodeFile } from './table-file.js';

/**
 * Opens a file of trajectories. JSON lines are written whole or not at all. With `run`, an unfinished Parquet file is named
 * PATH.partial; it has whole row groups even if the process is killed. The standard output, pipes and devices have none.
 * @param path as `checkOutput` accepted it.
 * @throws LibraryError `library_missing`; UsageError if PATH.partial has episodes of another run, which would be lost.
 */
export async function openEpisodeFile(
  path: string,
  format: RowFormat,
  run?: EarlierRun,
): Promise<EpisodeFile> {
  if (format === LINES) return openLineFile(path);
  // Loaded only if a Parquet file is written.
  const { openTableFile } = await import('./table-file.js');
  return openTableFile(path, format, run);
}

/** A file of JSON lines. */
async function openLineFile(path: string): Promise<EpisodeFile> {
  const output = await openOutput(path);
  return {
    earlier: 0,
    write: (episodes) => output.write(episodes.map(episodeLine).join('')),
    writeLines: (lines) => output.write(lines.map((line) => `${line}\n`).join('')),
    finish: () => output.finish(),
    commit: () => output.commit(),
    close: async () => {
      await output.discard();
      return null;
    },
  };
}
