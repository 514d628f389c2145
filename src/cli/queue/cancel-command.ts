/** `rhythm-vec queue cancel`: stops a job. */
import type { Command } from 'commander';
import { addQueueOptions, type QueueOptions, withQueue } from './queue-options.js';

const HELP = `
Removes the shards and results of the job from Redis, even if the job is finished but not collected. Workers stop its shards
within seconds. A cancelled job cannot be collected. Submit the job again to compute it again.

Example:
  rhythm-vec queue cancel teach-1f0c2a9b3d4e
`;

export function addCancelCommand(queue: Command): void {
  const command = queue
    .command('cancel')
    .description('Stop a job and remove its results.')
    .argument('<name>', 'the name that submit printed');
  addQueueOptions(command)
    .addHelpText('after', HELP)
    .action(async (name: string, options: QueueOptions) => {
      const { cancel } = await import('../../server/queue/status.js');
      const before = await withQueue(options, (queue) => cancel(queue, name));
      process.stderr.write(
        before === 'open' ? `${name} is cancelled.\n` : `${name} was ${before} already.\n`,
      );
    });
}
