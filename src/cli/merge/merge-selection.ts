/** Merges the shards of `rhythm-vec dataset sft` and `dpo`: writes the rows by split, and their card. */

import { StoredResults } from '../../training/datasets/replay-results.js';
import type { EpisodeInput } from '../dataset/episode-input.js';
import { writeDpo } from '../dataset/run-dpo.js';
import { writeSft } from '../dataset/run-sft.js';
import { readStoredLines } from '../dataset/stored-lines.js';
import type { SelectionJob } from '../shards/job.js';

/**
 * Writes the directory of the dataset.
 * @param paths of all shards. @param output the directory. @param format by default JSON lines.
 * @returns whether no line was skipped and every replayed episode is as recorded, or --skip-bad was given.
 */
export async function mergeSelection(
  { grader, options }: SelectionJob,
  paths: readonly string[],
  { output, format = 'jsonl' }: { readonly output: string; readonly format?: string },
  signal: AbortSignal,
): Promise<boolean> {
  const target = { output, format, grader: options.grader, jsonl: options.files.map(({ name }) => name) };
  const results = new StoredResults();
  const episodes: EpisodeInput = {
    files: { option: 'a shard', paths },
    source: async () => results,
    lines: () => readStoredLines(paths, results, signal),
  };
  const { plan } = options;
  const isComplete =
    plan.dataset === 'sft'
      ? await writeSft({ ...plan, grader }, target, episodes, signal)
      : await writeDpo({ ...plan, grader }, target, episodes, signal);
  return isComplete || options.skip_bad;
}
