/** `rhythm-vec queue submit`: adds a job to the queue. */
import type { Command } from 'commander';
import type { Context } from '../context.js';
import { addEvalOptions } from '../eval/command.js';
import { addLlmOptions } from '../llm/llm-options.js';
import { parseInteger } from '../shared-options.js';
import { addTeachOptions } from '../teach/command.js';
import { addQueueOptions } from './queue-options.js';
import type { EvalSubmitOptions, TeachSubmitOptions } from './run-submit.js';

const HELP = `
Takes the options of the command itself, except those of its output and its machine. The last line of the output is the
job's name, which depends only on the job: submitting the same job again changes nothing, except that failed shards are
tried again.

Examples:
  rhythm-vec queue submit teach --seeds 100-1099
  rhythm-vec queue submit eval --policies heuristic+constant,planner --conditions ood
  rhythm-vec queue submit teach --policy planner --seeds 100-9999 --shard-size 16 --priority 10
`;

const addSubmitOptions = (command: Command): Command =>
  addQueueOptions(command)
    .option('--shard-size <n>', 'episodes of a shard, 8 to 64', parseInteger, 32)
    .option('--priority <n>', '1 to 1000; jobs with a lower number go first', parseInteger, 100);

export function addSubmitCommand(queue: Command, _: Context): void {
  const command = queue
    .command('submit')
    .description('Submit a job: "submit teach" or "submit eval".')
    .addHelpText('after', HELP);
  addSubmitOptions(addLlmOptions(addTeachOptions(command.command('teach'))))
    .description('Submit what "rhythm-vec teach" does.')
    .action(async (options: TeachSubmitOptions) => {
      const { submitTeach } = await import('./run-submit.js');
      await submitTeach(options);
    });
  addSubmitOptions(addLlmOptions(addEvalOptions(command.command('eval'))))
    .description('Submit what "rhythm-vec eval --trajectories" does.')
    .action(async (options: EvalSubmitOptions) => {
      const { submitEval } = await import('./run-submit.js');
      await submitEval(options);
    });
}
