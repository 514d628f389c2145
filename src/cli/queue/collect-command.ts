/** `rhythm-vec queue collect`: writes the file of a job. */
import type { Command } from 'commander';
import type { Context } from '../context.js';
import { formatOption } from '../files/format-option.js';
import { addQueueOptions } from './queue-options.js';
import type { CollectOptions } from './run-collect.js';

const HELP = `
Waits until all shards are computed, and writes FILE, the file of --output, whole or not at all. Results move from Redis to
FILE.shards as they come, and FILE.shards is removed when FILE is complete. A command that is interrupted or killed loses
nothing: run it again with the same --output. A job has one collector at a time. If shards failed in all their attempts, the
command names them and ends; submit the job again to repeat them.

--output holds the episodes of a job of teach or eval, the JSON of a job of audit, and the rows of a job of dataset grpo. For
jobs of eval and audit the command also prints the tables. For a job of dataset grpo it also writes the card, README.md, beside
--output.

Example:
  rhythm-vec queue collect teach-1f0c2a9b3d4e --output teacher.jsonl
`;

export function addCollectCommand(queue: Command, { signal }: Context): void {
  const command = queue
    .command('collect')
    .description('Wait for a job and write its file.')
    .argument('<name>', 'the name that submit printed')
    .requiredOption(
      '--output <file>',
      'the file to write or replace; - is the standard output: then Redis keeps the results',
    )
    .addOption(formatOption('of --output'))
    .option('--json <file>', 'jobs of eval: also write the results as JSON')
    .option('--components <file>', "jobs of eval: also write each episode's components")
    .option(
      '--bracket <audit.json>',
      'jobs of eval: also show shares (see eval --help) by the anchors of this audit, under its grader',
    );
  addQueueOptions(command)
    .addHelpText('after', HELP)
    .action(async (name: string, options: CollectOptions) => {
      const { runCollect } = await import('./run-collect.js');
      await runCollect(name, options, signal);
    });
}
