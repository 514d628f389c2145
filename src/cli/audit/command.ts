/** `rhythm-vec audit`: measures what a grader rewards. */
import { type Command, Option } from 'commander';
import { EXIT } from '../command-errors.js';
import type { Context } from '../context.js';
import { addEngineOptions, parseInteger, parseNames } from '../shared-options.js';
import type { AuditCommandOptions } from './run-audit.js';

const HELP = `
Measures, before any training, the score that can be earned under a grader without inferring the profile, and the score
that knowing the profile adds:
  open-loop         the same 28 actions for every profile, the best that a search finds on training seeds
  open-loop-honest  the best sequence whose first half is no worse than the heuristic's: the difference to open-loop is
                    the gain of neglecting the first half
  reactive          chooses by step and meters alone, the best that a search finds
  push:X            maximises component X alone; belief_accuracy and belief_skill by a fixed belief
  planner           infers the profile; planner-prior does not; planner-oracle knows it
  oracle-open-loop  the best 28 actions for each profile, found in episodes with other random numbers
  +constant         with the belief [0.5, 0.5, 0.5]; +fitted with the best constant belief; +truth with the true belief
  +extreme          with one belief whose numbers are 0 or 1; +random with another random belief at each step. Neither
                    depends on the profile
The command also plays an impossible world, where every profile is neutral: knowing the profile must add nothing there. All
policies are scored on episodes that no search played, of seeds from 20000 on; differences are paired, with 95 % intervals.
The last paragraph of the output summarises the results. --output writes a report with figures: audit.md, audit.json, and SVG
and PNG of gains, components, action sequences, rewards and meters.

With --assert the command exits 1 if the grader pays for anything but inference (pays_only_for_inference in the JSON).

Examples:
  rhythm-vec audit
  rhythm-vec audit --grader v1 --output audit-v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec audit --grader calm.json --json calm-audit.json
  rhythm-vec audit --grader v3 --assert
  echo 'export default ({ steps }) => ({ actions: steps.map(() => 3) })' > sleep.mjs
  rhythm-vec audit --grader v3 --policies ./sleep.mjs
`;

export function addAuditCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('audit')
    .description(
      'Measure what a grader rewards, before training: the gains of exploits, and of knowing the profile.',
    )
    .addOption(new Option('--grader <name|file>', 'v1, v2, v3 or a grader file').default('v2'))
    .option('--seed <n>', 'seed of the searches (default: 0)', parseInteger)
    .option(
      '--evaluations <n>',
      'action sequences to score in the search for all profiles (default: 300000)',
      parseInteger,
    )
    .option('--episodes <n>', 'fresh seeds to score on (default: 2000)', parseInteger)
    .option(
      '--profiles <n>',
      'fresh seeds whose profiles get an action sequence of their own (default: 400)',
      parseInteger,
    )
    .option(
      '--planner-episodes <n>',
      'fresh seeds that each planner plays; all planners take a third of a second of one core per seed (default: 100)',
      parseInteger,
    )
    .option('--output <directory>', 'also write a report with figures to this directory')
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .option(
      '--policies <names|files>',
      'comma-separated: also score these students (trained networks), and the policies that these files export',
      parseNames,
    )
    .option('--assert', 'exit 1 if the grader pays for anything but inference');
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: AuditCommandOptions) => {
      const { runAudit } = await import('./run-audit.js');
      if (!(await runAudit(options, signal))) process.exitCode = EXIT.failure;
    });
}
