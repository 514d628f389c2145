/** Runs `rhythm-vec merge`. */
import { UsageError } from '../command-errors.js';
import { checkOutputs, type PlannedOutput } from '../files/check-outputs.js';
import { checkBracket, checkDifferentFile, checkInput } from '../files/input-file.js';
import { stat } from '../files/paths.js';
import type { Job } from '../shards/job.js';
import { type CheckedShards, checkShards } from './check-shards.js';
import type { MergeCommandOptions } from './merge-eval.js';

/**
 * Writes the merged file, or reports every problem of the shards and writes nothing.
 * @returns false if the shards have problems, or if a dataset left out lines without --skip-bad.
 * @throws UsageError for unusable paths, and for options that the job does not have; the signal's reason.
 */
export async function runMerge(
  shards: readonly string[],
  options: MergeCommandOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const paths = shards.map(withoutManifest);
  const outputs = outputsOf(options);
  for (const path of paths) {
    checkInput('a shard', path);
    for (const output of outputs) checkDifferentFile(output.option, output.path, 'the shards', path);
  }
  // Only jobs of `dataset sft` and `dataset dpo` (kind selection) write a directory. The kind is known after the shards are
  // read.
  const isDirectory = stat(options.output)?.isDirectory() === true;
  if (!isDirectory) checkOutputs(outputs);
  checkBracket(options.bracket, outputs);
  const checked = await checkShards(paths, signal);
  if (checked.problems.length > 0) {
    const problems = checked.problems.map((problem) => `- ${problem}\n`).join('');
    process.stderr.write(
      `error: Expected all shards of one job, got these problems. Nothing was written.\n${problems}`,
    );
    return false;
  }
  const job = checked.job!;
  checkEvalOptions(job, options);
  // Refuses the directory, because this job writes a file.
  if (job.kind !== 'selection' && isDirectory) checkOutputs(outputs);
  return mergeJob(job, checked.shards, options, signal);
}

/** Merges the shards of a job. Loads only what its kind needs. @returns false if lines were left out without --skip-bad. */
async function mergeJob(
  job: Job,
  shards: CheckedShards['shards'],
  options: MergeCommandOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const paths = shards.map(({ path }) => path);
  if (job.kind === 'teach') {
    const { mergeTeach } = await import('./merge-teach.js');
    await mergeTeach(shards, options, signal);
  } else if (job.kind === 'eval') {
    const { mergeEval } = await import('./merge-eval.js');
    await mergeEval(job, paths, options, signal);
  } else {
    const { mergeRows, mergeSelection } = await import('./merge-dataset.js');
    if (job.kind === 'selection') return mergeSelection(job, paths, options, signal);
    await mergeRows(job, paths, options, signal);
  }
  return true;
}

/** Returns the outputs, each with its option. */
const outputsOf = ({ output, json }: MergeCommandOptions): PlannedOutput[] =>
  Object.entries({ '--output': output, '--json': json }).flatMap(([option, path]) =>
    path === undefined ? [] : [{ option, path }],
  );

/** Refuses options that only shards of `eval` have. @throws UsageError. */
function checkEvalOptions(job: Job, { json, bracket }: MergeCommandOptions): void {
  if (job.kind === 'eval') return;
  for (const [flag, value] of Object.entries({ '--json': json, '--bracket': bracket })) {
    if (value === undefined) continue;
    throw new UsageError(
      `Expected no ${flag} with shards of ${job.kind === 'selection' ? 'dataset' : job.kind}, got one. Leave ${flag} out.`,
    );
  }
}

/** Returns the path of the shard's file. A pattern such as part-* also matches the manifests beside it. */
const withoutManifest = (path: string): string => path.replace(/\.manifest\.json$/, '');
