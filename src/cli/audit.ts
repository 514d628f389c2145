/** `rhythm-vec audit`: what a grader really pays for. What finds out is loaded when it is asked for. */
import { type Command, Option } from 'commander';
import type { AuditCommandOptions } from './audit/run.js';
import type { Context } from './context.js';
import { addEngineOptions, parseInteger } from './options.js';

const HELP = `
Before anything is trained: what can be earned under a grader without looking at the person, and what is left for who does?
  blind-tape   the same 28 actions for everybody, the best that a search finds on training seeds
  honest-tape  the best of those whose first half of the week is no worse than the heuristic's: the difference to
               blind-tape is what neglecting the first half, to shine later, is worth
  push:X       one component raised alone; belief_accuracy by the middle person's belief
  oracle       knows the person: a tape of each one's own, found in weeks of other luck
  +constant    with the belief [0.5, 0.5, 0.5]; +truth with what is true of the person
All are scored on fresh seeds, from 20000 on; differences are paired, with 95 % intervals. The last paragraph says what it
comes to. --output writes a report with pictures: audit.md, audit.json, and SVG and PNG of prices, components, tapes,
rewards and meters.

Examples:
  rhythm-vec audit
  rhythm-vec audit --grader v1 --output audit-v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec audit --grader calm.json --json calm-audit.json
`;

export function addAuditCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('audit')
    .description(
      'Find out what a grader really pays for, before training: exploits with prices, and what knowing pays.',
    )
    .addOption(new Option('--grader <name|file>', 'v1, v2 or a grader file').default('v2'))
    .option('--output <directory>', 'also write a report with pictures there')
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .option('--seed <n>', "of the searches' random numbers (default: 0)", parseInteger)
    .option('--evaluations <n>', 'tapes to score in the search for everybody (default: 300000)', parseInteger)
    .option('--episodes <n>', 'fresh seeds to score on (default: 2000)', parseInteger)
    .option('--persons <n>', 'of these, played by who knows the person (default: 400)', parseInteger);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: AuditCommandOptions) => {
      const { runAudit } = await import('./audit/run.js');
      await runAudit(options, signal);
    });
}
