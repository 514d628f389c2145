/** `rhythm-vec report`: writes results as a page. */
import type { Command } from 'commander';
import { EXIT } from './command-errors.js';
import type { Context } from './context.js';
import type { ReportOptions } from './report-page.js';
import { OPTIONS } from './shared-options.js';

const HELP = `
RESULTS are files of eval --json, reeval --json and audit --json, and trajectories of teach and eval --trajectories, in any
mix. Each file's kind is detected from its content. Several files of a kind are shown side by side, each under its name.
The directory gets report.html, one self-contained page without scripts, and every figure as SVG and PNG: final scores beside
the published scores, belief error over the episode, calibration, use of the ten actions by profile, what the grader
rewards, cost, and episodes as timelines. The page also has tables, and lists missing parts with the commands that make them.
Each score has its share of the value of knowing the profile: 0 is the score of the best open-loop sequence with its best
constant belief, 1 that of planner-oracle. These two scores are the anchors of a grader. --bracket takes those of another
grader from its audit --json, made with this version and this world. Anchors closer than 0.02 yield no share.
Only files of an earlier report are replaced.
Invalid lines of trajectories are left out, and the first ten of a file are reported. The exit code is 1 if a line was
left out and --skip-bad is not given.

Examples:
  rhythm-vec eval --json results.json
  rhythm-vec audit --json audit.json
  rhythm-vec report results.json teacher.jsonl audit.json --output report
  rhythm-vec report results.json --bracket audit.json --output report
`;

export function defineReport(command: Command, { signal }: Context): void {
  command
    .argument('<RESULTS...>', 'files of results; - is the standard input')
    .requiredOption('--output <directory>', 'the directory for the page and its figures')
    .addOption(OPTIONS.bracket)
    .addOption(OPTIONS.skipBad)
    .addHelpText('after', HELP)
    .action(async (paths: string[], options: ReportOptions) => {
      const { checkPages } = await import('./files/picture-files.js');
      await checkPages();
      const { runReport } = await import('./report-page.js');
      if (!(await runReport(paths, options, signal))) process.exitCode = EXIT.failure;
    });
}
