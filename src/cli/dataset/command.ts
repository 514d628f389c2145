/** `rhythm-vec dataset`: writes training rows. */
import type { Command } from 'commander';
import type { Context } from '../context.js';
import { addDpoCommand } from './dpo.js';
import { addGrpoCommand } from './grpo.js';
import { addSftCommand } from './sft.js';

export function addDatasetCommand(program: Command, context: Context): void {
  const command = program
    .command('dataset')
    .description('Write rows to train on: see "dataset grpo", "dataset sft" and "dataset dpo".')
    .addHelpText('after', '\nExample:\n  rhythm-vec dataset grpo --help\n');
  addGrpoCommand(command, context);
  addSftCommand(command, context);
  addDpoCommand(command, context);
}
