/** `rhythm-vec reeval`: stored trajectories replayed, compared and graded again. What does it is loaded when it is asked for. */
import type { Command } from 'commander';
import type { Context } from './context.js';
import { EXIT } from './failure.js';
import { addEngineOptions, parseInteger } from './options.js';
import type { ReevalOptions } from './reeval/run.js';

const HELP = `
A file of trajectories has an episode a line, as \`rhythm-vec teach\` writes it: docs/trajectories.md has the schema.
Every episode is played again from its seed with its actions and beliefs. What is seen and earned, the prompts, and what
the completions say are compared with the file bit for bit; each mismatch is named:
  teacher.jsonl:3: step 4, observation.meters[2]: recorded 0.71, recomputed 0.7080321907997131
Lines that are corrupt, of another schema or world, of an older version, or there twice are left out, the first ten of them named.
Tables have, by condition and grader: each teacher of the files, and random, heuristic, blind-tape, and the last two with
the constant belief [0.5, 0.5, 0.5], in the same weeks. A teacher that was shown hidden numbers is marked [oracle].
The exit code is 1 if anything mismatched, or if a line was left out and --skip-bad does not say that it may be.

Examples:
  rhythm-vec reeval --jsonl teacher.jsonl
  rhythm-vec reeval --jsonl teacher.jsonl --grader v2 --json teacher-results.json
  gzip --keep teacher.jsonl
  zcat teacher.jsonl.gz | rhythm-vec reeval --jsonl -
`;

export function addReevalCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('reeval')
    .description('Replay stored trajectories, check them bit for bit, and grade them beside baselines.')
    .requiredOption('--jsonl <files...>', 'trajectories, an episode a line; - is the standard input')
    .option('--grader <name|file>', 'v1, v2 or a grader file (default: v1 and v2)')
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .option('--mismatches <n>', 'how many of an episode are named; all are counted', parseInteger, 10)
    .option('--skip-bad', 'let lines that are left out not make the exit code 1', false);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: ReevalOptions) => {
      const { runReeval } = await import('./reeval/run.js');
      if (!(await runReeval(options, signal))) process.exitCode = EXIT.failure;
    });
}
