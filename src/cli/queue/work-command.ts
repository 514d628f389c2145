/** `rhythm-vec queue work`: computes shards of jobs. */
import type { Command } from 'commander';
import { ASYNC_BACKENDS } from '../../engine/backends/node.js';
import type { Context } from '../context.js';
import { addEngineOptions, parseInteger } from '../shared-options.js';
import { addQueueOptions } from './queue-options.js';
import type { WorkCommandOptions } from './run-work.js';

const HELP = `
A worker runs until it is interrupted, or until a job of another version or world comes, and then gives its shards back. With
--until-empty it ends when no shard is left. Start as many workers as there are cores, or one worker with --concurrency. A
worker renews the leases of its shards. If it is killed or hangs, another worker takes the shards over after --lease. Keys of
language models are read from this worker's environment variables. They are never stored in Redis.

Examples:
  rhythm-vec queue work --redis redis://127.0.0.1:6379 --concurrency 2
  rhythm-vec queue work --until-empty
`;

export function addWorkCommand(queue: Command, { signal }: Context): void {
  const command = queue
    .command('work')
    .description('Compute shards of submitted jobs, until interrupted.')
    .option('--concurrency <n>', 'shards at a time, each in a thread, 1 to 256', parseInteger, 1)
    .option(
      '--lease <s>',
      'seconds after which another worker takes over the shards of a worker that was killed or hangs',
      parseInteger,
      30,
    )
    .option('--until-empty', 'end when no shard is left');
  addEngineOptions(addQueueOptions(command), ASYNC_BACKENDS, { backend: 'native', threads: '1' })
    .addHelpText('after', HELP)
    .action(async (options: WorkCommandOptions) => {
      const { runWork } = await import('./run-work.js');
      await runWork(options, signal);
    });
}
