/** `rhythm-vec merge`: merges the shards of a job. */
import type { Command } from 'commander';
import { EXIT } from '../command-errors.js';
import type { Context } from '../context.js';
import { formatOption } from '../shared-options.js';
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

export function addMergeCommand(program: Command, { signal }: Context): void {
  program
    .command('merge')
    .description('Merge the shards of a job into the file that the whole job writes.')
    .argument('<shards...>', 'the files of all shards, each beside its manifest')
    .requiredOption('--output <file>', 'the merged file; - is the standard output')
    .addOption(formatOption('of --output'))
    .option('--json <file>', 'shards of eval: also write the results as JSON')
    .option(
      '--bracket <audit.json>',
      'shards of eval: also show shares (see eval --help) by the anchors of this audit, under its grader',
    )
    .addHelpText('after', HELP)
    .action(async (shards: readonly string[], options: MergeCommandOptions) => {
      const { runMerge } = await import('./run-merge.js');
      if (!(await runMerge(shards, options, signal))) process.exitCode = EXIT.failure;
    });
}
