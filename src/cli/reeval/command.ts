/** `rhythm-vec reeval`: replays, compares and regrades trajectories. */
import type { Command } from 'commander';
import { EXIT } from '../command-errors.js';
import type { Context } from '../context.js';
import { addEngineOptions, parseInteger, parseNames } from '../shared-options.js';
import type { ReevalOptions } from './run-reeval.js';

const HELP = `
A file of trajectories has one episode per line, or per row of Parquet, as \`rhythm-vec teach\` writes it;
docs/trajectories.md has the schema.
Every episode is replayed from its seed with its actions and beliefs. Observations, rewards, prompts and parsed completions
are compared with the file bit for bit. Mismatches are reported:
  teacher.jsonl:3: step 4, observation.meters[2]: recorded 0.71, recomputed 0.7080322
Invalid lines are left out, and the first ten are reported: corrupt lines, lines of another schema, version or world, and
duplicates. For each condition and grader, a table has a row for each teacher, and rows for baselines on the same seeds:
random, heuristic, open-loop, heuristic+constant, open-loop+constant (+constant states the belief [0.5, 0.5, 0.5]), and the
policies of --baselines. [oracle] marks teachers that used hidden state.
The exit code is 1 if anything mismatched, or if a line was left out and --skip-bad is not given.

Examples:
  rhythm-vec reeval --jsonl teacher.jsonl
  rhythm-vec reeval --jsonl teacher.jsonl --grader v2 --json teacher-results.json
  echo 'export default ({ steps }) => ({ actions: steps.map(() => 3) })' > sleep.mjs
  rhythm-vec reeval --jsonl teacher.jsonl --baselines ./sleep.mjs
  gzip --keep teacher.jsonl
  zcat teacher.jsonl.gz | rhythm-vec reeval --jsonl -
`;

export function addReevalCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('reeval')
    .description('Replay stored trajectories, check them bit for bit, and grade them beside baselines.')
    .requiredOption('--jsonl <files...>', 'trajectories, JSON lines or Parquet; - is the standard input')
    .option('--grader <name|file>', 'v1, v2, v3 or a grader file (default: all three)')
    .option(
      '--baselines <names|files>',
      'comma-separated: also play these students, reactive+constant, planner-prior, and the policies of these files',
      parseNames,
    )
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .option(
      '--mismatches <n>',
      'report at most this many mismatches of each episode; all are counted',
      parseInteger,
      10,
    )
    .option('--skip-bad', 'exit with 0 even if lines were left out', false);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: ReevalOptions) => {
      const { runReeval } = await import('./run-reeval.js');
      if (!(await runReeval(options, signal))) process.exitCode = EXIT.failure;
    });
}
