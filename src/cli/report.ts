/** `rhythm-vec report`: results as a page to look at. What does it is loaded when it is asked for. */
import type { Command } from 'commander';
import type { Context } from './context.js';
import { EXIT } from './failure.js';
import type { ReportOptions } from './report/run.js';

const HELP = `
RESULTS are files of eval --json, reeval --json and audit --json, and trajectories of teach and eval --trajectories, in any
mix; each is known by what it says that it is. Several of a kind stand side by side, each with its file's name.
The directory gets report.html, one page that needs nothing else, not even a script, and every plot as SVG and PNG: final
scores beside the published figures, belief error over the week, calibration, use of the ten actions by whose weeks they
are, what the grader pays for, cost, and weeks as timelines; tables beside all of them. What is missing is said, with the
command that makes it. Nothing in the directory is replaced but what an earlier report made there.
Lines of trajectories that are none are left out, the first ten of a file named. The exit code is 1 if a line was left out
and --skip-bad does not say that it may be.

Examples:
  rhythm-vec eval --json results.json
  rhythm-vec audit --json audit.json
  rhythm-vec report results.json teacher.jsonl audit.json --output report
`;

export function addReportCommand(program: Command, { signal }: Context): void {
  program
    .command('report')
    .description(
      'Make a page of results: scores, beliefs, actions, weeks, prices and cost, as plots and tables.',
    )
    .argument('<RESULTS...>', 'files of results; - is the standard input')
    .requiredOption('--output <directory>', 'where the page and its plots go')
    .option('--skip-bad', 'let lines that are left out not make the exit code 1', false)
    .addHelpText('after', HELP)
    .action(async (paths: string[], options: ReportOptions) => {
      const { runReport } = await import('./report/run.js');
      if (!(await runReport(paths, options, signal))) process.exitCode = EXIT.failure;
    });
}
