/** Runs `rhythm-vec merge`. */
import { createReadStream } from 'node:fs';
import { counted } from '../../evaluation/format-results.js';
import { UsageError } from '../command-errors.js';
import { checkBracket } from '../eval/bracket.js';
import { checkOutputs, type PlannedOutput } from '../files/check-outputs.js';
import { openLinesOutput } from '../files/episode-file.js';
import { checkDifferentFile, checkInput } from '../files/input-file.js';
import { stat } from '../files/paths.js';
import { createProgress } from '../progress.js';
import type { Job } from '../shards/job.js';
import { formatOf, LINES } from '../shared-options.js';
import { type CheckedShards, checkShards } from './check-shards.js';
import { mergeDataset } from './merge-dataset.js';
import { type MergeCommandOptions, mergeEval } from './merge-eval.js';
import { mergeSelection } from './merge-selection.js';

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
  const files = checked.shards.map(({ path }) => path);
  if (job.kind === 'selection') return mergeSelection(job, files, options, signal);
  if (job.kind === 'teach') await write(checked, options, signal);
  else if (job.kind === 'eval') await mergeEval(job, files, options, signal);
  else await mergeDataset(job, files, options, signal);
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

/** Joins the files of the shards of `teach`. */
async function write(
  { shards }: CheckedShards,
  { output: path, format }: MergeCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const total = shards.reduce((sum, { manifest }) => sum + manifest.bytes, 0);
  const rows = shards.reduce((sum, { manifest }) => sum + manifest.rows, 0);
  const progress = createProgress('bytes');
  const output = await openLinesOutput(path, formatOf('--output', path, format) ?? LINES);
  let done = 0;
  try {
    // Reads 1 MiB at a time. Chosen by hand: less needs more reads, and more needs more memory.
    for (const shard of shards) {
      for await (const chunk of createReadStream(shard.path, { highWaterMark: 1 << 20 })) {
        signal.throwIfAborted();
        await output.write(chunk);
        done += chunk.length;
        progress.update(done, total);
      }
    }
    await output.commit();
  } finally {
    progress.stop();
    await output.discard();
  }
  if (path === '-') return;
  process.stderr.write(`${counted(rows, 'row')} of ${counted(shards.length, 'shard')} in ${path}.\n`);
}
