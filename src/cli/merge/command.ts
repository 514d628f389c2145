/** `rhythm-vec merge`: merges the shards of a job. */
import type { Command } from 'commander';
import { counted } from '../../evaluation/format-results.js';
import { LINES } from '../../shared/row-files/file-formats.js';
import { EXIT, UsageError } from '../command-errors.js';
import type { Context } from '../context.js';
import { checkOutputs, formatOf, type PlannedOutput } from '../files/check-outputs.js';
import { checkBracket, checkDifferentFile, checkInput } from '../files/input-file.js';
import { stat } from '../files/paths.js';
import { createProgress } from '../progress.js';
import type { Job } from '../shards/job.js';
import { lineBatches } from '../shards/shard-file.js';
import { formatOption } from '../shared-options.js';
import { openEpisodeFile } from '../store/episode-file.js';
import { type CheckedShards, checkShards } from './check-shards.js';
import type { MergeCommandOptions } from './merge-eval.js';

const HELP = `
A job is a command with its options. With --shard i/n the command computes one of n parts (shards) of the job, and writes a
manifest beside its file, FILE.manifest.json: the options, the version, the world, and the SHA-256 of the file. merge needs the
file and the manifest of every shard, in any order. It writes the same bytes as the command without --shard. If a shard is
missing, was changed or is of another job, merge lists all problems, writes nothing and exits with 1. A shard that is given
twice must be the same both times.

Shards of eval are files of --trajectories. merge also prints the tables. The JSON is that of the whole run,
except that the fields seconds, backend, threads and machine are those of merge.

Shards of dataset grpo have no card: merge writes
it beside --output. Shards of dataset sft and dpo have episodes, from which merge makes the rows. --output is the directory of
the dataset, and --format the format of the rows. The exit code is 1 if lines were left out, unless the shards were written
with --skip-bad.

Examples:
  rhythm-vec teach --seeds 100-119 --shard 0/2 --output part-0.jsonl
  rhythm-vec teach --seeds 100-119 --shard 1/2 --output part-1.jsonl
  rhythm-vec merge part-0.jsonl part-1.jsonl --output merged.jsonl
`;

export function defineMerge(command: Command, { signal }: Context): void {
  command
    .argument('<shards...>', 'the files of all shards, each beside its manifest')
    .requiredOption('--output <file>', 'the merged file; - is the standard output')
    .addOption(formatOption('of --output'))
    .option('--json <file>', 'shards of eval: also write the results as JSON')
    .option(
      '--bracket <audit.json>',
      'shards of eval: also show shares by the anchors of this audit, under its grader',
    )
    .option('--details', 'shards of eval: print all tables, as eval --details')
    .addHelpText('after', HELP)
    .action(async (shards: readonly string[], options: MergeCommandOptions) => {
      if (!(await runMerge(shards, options, signal))) process.exitCode = EXIT.failure;
    });
}

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

/** The number of lines that are written together. Chosen by hand: more take more memory. */
const BATCH = 64;

/** Joins the files of `teach`. @throws the signal's reason. */
async function mergeTeach(
  shards: CheckedShards['shards'],
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

/** Returns the outputs, each with its option. */
const outputsOf = ({ output, json }: MergeCommandOptions): PlannedOutput[] =>
  Object.entries({ '--output': output, '--json': json }).flatMap(([option, path]) =>
    path === undefined ? [] : [{ option, path }],
  );

/** Refuses options that only shards of `eval` have. @throws UsageError. */
function checkEvalOptions(job: Job, { json, bracket, details }: MergeCommandOptions): void {
  if (job.kind === 'eval') return;
  for (const [flag, value] of Object.entries({
    '--json': json,
    '--bracket': bracket,
    '--details': details,
  })) {
    if (value === undefined) continue;
    throw new UsageError(
      `Expected no ${flag} with shards of ${job.kind === 'selection' ? 'dataset' : job.kind}, got one. Leave ${flag} out.`,
    );
  }
}

/** Returns the path of the shard's file. A pattern such as part-* also matches the manifests beside it. */
const withoutManifest = (path: string): string => path.replace(/\.manifest\.json$/, '');
