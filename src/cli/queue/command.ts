/** `rhythm-vec queue`: shares work between machines through Redis. */
import type { Command } from 'commander';
import type { Context } from '../context.js';
import { addCancelCommand } from './cancel-command.js';
import { addCollectCommand } from './collect-command.js';
import { addStatusCommand } from './status-command.js';
import { addSubmitCommand } from './submit-command.js';
import { addWorkCommand } from './work-command.js';

const HELP = `
"queue submit COMMAND" stores a command, such as teach, as a job that is split into shards. Any number of workers, on any
machines, compute the shards; "queue collect" writes the same file as COMMAND alone, byte for byte. The queue is kept in
Redis 6.2 or later, or Valkey, with an append-only file.
docs/commands.md has an example, and says what happens when a worker, a collector or Redis is killed.

Example:
  rhythm-vec queue submit --help
`;

export function addQueueCommand(program: Command, context: Context): void {
  const command = program
    .command('queue')
    .description('Share work between machines: submit jobs, work on them, collect their files.')
    .addHelpText('after', HELP);
  addSubmitCommand(command);
  addWorkCommand(command, context);
  addStatusCommand(command);
  addCollectCommand(command, context);
  addCancelCommand(command);
}
