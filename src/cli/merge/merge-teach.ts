/** Merges the shards of `rhythm-vec teach`: joins their files. */
import { counted } from '../../evaluation/format-results.js';
import { LINES } from '../../shared/row-files/file-formats.js';
import { formatOf } from '../files/check-outputs.js';
import { createProgress } from '../progress.js';
import { lineBatches } from '../shards/shard-file.js';
import { openEpisodeFile } from '../store/episode-file.js';
import type { ShardInput } from './check-shards.js';
import type { MergeCommandOptions } from './merge-eval.js';

/** The number of lines that are written together. Chosen by hand: more take more memory. */
const BATCH = 64;

/** Writes the episodes of all shards. @throws the signal's reason. */
export async function mergeTeach(
  shards: readonly ShardInput[],
  { output: path, format }: MergeCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const rows = shards.reduce((sum, { manifest }) => sum + manifest.rows, 0);
  using progress = createProgress('rows');
  const file = await openEpisodeFile(path, formatOf('--output', path, format) ?? LINES);
  let done = 0;
  try {
    const files = shards.map((shard) => shard.path);
    for await (const lines of lineBatches(files, BATCH)) {
      signal.throwIfAborted();
      await file.writeLines(lines);
      done += lines.length;
      progress.update(done, rows);
    }
    await file.commit();
    progress.stop();
  } finally {
    await file.close();
  }
  if (path === '-') return;
  process.stderr.write(`${counted(rows, 'row')} of ${counted(shards.length, 'shard')} in ${path}.\n`);
}
