/** `rhythm-vec queue status`: shows the progress of jobs. */
import type { Command } from 'commander';
import { addQueueOptions } from './queue-options.js';
import type { StatusOptions } from './run-status.js';

const HELP = `
Examples:
  rhythm-vec queue status
  rhythm-vec queue status teach-1f0c2a9b3d4e --json
`;

export function addStatusCommand(queue: Command): void {
  const command = queue
    .command('status')
    .description(
      'Show the progress of one job or of all jobs: rates, failures, estimated times, spent dollars.',
    )
    .argument('[name]', 'the name that submit printed')
    .option('--json', 'write JSON');
  addQueueOptions(command)
    .addHelpText('after', HELP)
    .action(async (name: string | undefined, options: StatusOptions) => {
      const { runStatus } = await import('./run-status.js');
      await runStatus(name, options);
    });
}
