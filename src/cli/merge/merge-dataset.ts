/** Merges the shards of `rhythm-vec dataset grpo`: writes the rows in any format, and their card. */
import { createReadStream } from 'node:fs';
import { BATCH, type GrpoRow } from '../../training/datasets/grpo/grpo-rows.js';
import { planOf } from '../dataset/grpo-shard.js';
import { writeGrpo } from '../dataset/run-grpo.js';
import { readLines } from '../files/lines.js';
import type { DatasetJob } from '../shards/job.js';

/** The maximum length of a row in bytes: many times the usual length. */
const MAX_LINE_BYTES = 2 ** 20;

/**
 * Writes the rows and the card. @param paths the files of all shards.
 * @throws UsageError for unusable paths and formats; the signal's reason.
 */
export const mergeDataset = (
  job: DatasetJob,
  paths: readonly string[],
  target: { readonly output: string; readonly format?: string },
  signal: AbortSignal,
): Promise<void> =>
  writeGrpo(planOf(job), { ...target, grader: job.options.grader }, batchesIn(paths), signal);

/** Yields the rows of all files in batches of BATCH, as a run without shards does: batches become row groups. */
async function* batchesIn(paths: readonly string[]): AsyncGenerator<GrpoRow[]> {
  let batch: GrpoRow[] = [];
  for (const path of paths) {
    for await (const { text } of readLines(createReadStream(path), MAX_LINE_BYTES)) {
      // `text` is null only for a line that is too long or not UTF-8. Checked shards have no such line.
      batch.push(JSON.parse(text!));
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
