/** Merges the shards of `rhythm-vec dataset`: writes the rows in any format, and their card. */
import { BATCH, type GrpoState } from '../../training/datasets/grpo/grpo-rows.js';
import { StoredResults } from '../../training/datasets/replay-results.js';
import { DPO } from '../dataset/dpo.js';
import { planOf, writeGrpo } from '../dataset/grpo.js';
import { type EpisodeInput, writeSelection } from '../dataset/selection.js';
import { readStoredLines } from '../dataset/selection-shard.js';
import { SFT } from '../dataset/sft.js';
import type { DatasetJob, SelectionJob } from '../shards/job.js';
import { lineBatches } from '../shards/shard-file.js';

interface Target {
  readonly output: string;
  readonly format?: string;
}

/**
 * Writes the rows of `dataset grpo` and the card. @param paths the files of all shards.
 * @throws UsageError for unusable paths and formats; the signal's reason.
 */
export const mergeRows = (
  job: DatasetJob,
  paths: readonly string[],
  target: Target,
  signal: AbortSignal,
): Promise<void> => writeGrpo(planOf(job), { ...target, grader: job.options.grader }, rowsIn(paths), signal);

/** Yields the rows of all files in batches of BATCH, as a run without shards does: batches become row groups. */
async function* rowsIn(paths: readonly string[]): AsyncGenerator<GrpoState[]> {
  for await (const lines of lineBatches(paths, BATCH)) yield lines.map((line) => JSON.parse(line));
}

/**
 * Writes the directory of `dataset sft` or `dpo`: the rows by split, and their card.
 * @param paths of all shards. @param target the directory, and the format, by default JSON lines.
 * @returns whether no line was skipped and every replayed episode is as recorded, or --skip-bad was given.
 */
export async function mergeSelection(
  { grader, options }: SelectionJob,
  paths: readonly string[],
  { output, format = 'jsonl' }: Target,
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
      ? await writeSelection(SFT, { ...plan, grader }, target, episodes, signal)
      : await writeSelection(DPO, { ...plan, grader }, target, episodes, signal);
  return isComplete || options.skip_bad;
}
