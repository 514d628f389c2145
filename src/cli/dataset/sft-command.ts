/** `rhythm-vec dataset sft`. The work is loaded when the command runs. */
import { type Command, Option } from 'commander';
import { FORMATS } from '../../training/datasets/file-formats.js';
import type { Context } from '../context.js';
import { EXIT } from '../failure.js';
import {
  addEngineOptions,
  parseDecimal,
  parseInteger,
  parseNames,
  parseSeeds,
  parseSteps,
} from '../shared-options.js';
import type { SftCliOptions } from './run-sft.js';

const HELP = `
Each row is one step of an episode in chat format: the prompt, and the teacher's answer:
  {"messages":[{"role":"system","content":...},{"role":"user","content":...},{"role":"assistant","content":...}],
   "seed":100,"profile_mode":"sampled","condition":"custom","step_index":0,"teacher":"planner","model":null,
   "objective":"wellbeing","final_score":0.61}
Every episode is replayed first. Episodes that differ from their replay and invalid lines are reported and left out, and the
exit code is then 1, unless --skip-bad is given. Answers without an action or without a belief are left out.
ONLY TEACHERS WITH THE OBJECTIVE WELLBEING ARE USED, unless --objective names another. A teacher that maximises the score
neglects the first half of the episode, and its students would too. --objective none selects teachers without an objective,
such as language models. Teachers that used hidden state are left out, unless --allow-oracle is given. Seeds 0-99 and seeds from
10000 on are kept for evaluation and refused, unless --allow-eval-seeds is given. --max-belief-error selects episodes by
hidden state. The card, README.md, notes all of these options.
An episode's margin is its score minus that of heuristic+constant with the same seed: the heuristic with the belief
[0.5, 0.5, 0.5]. A score that does not beat it shows no inference. The card has the smallest, median and largest margin.
All rows of a seed go to one split, train or validation. Only the seed decides which, so a longer dataset keeps the split.

Examples:
  rhythm-vec dataset sft --jsonl teacher.jsonl --output sft
  rhythm-vec dataset sft --jsonl teacher.jsonl --output sft-best --min-margin 0.06 --only-parsed --format parquet
`;

export function addSftCommand(dataset: Command, { signal }: Context): void {
  const command = dataset
    .command('sft')
    .description("Write rows for SFT: a teacher's answers in chat format, as JSON lines or Parquet.")
    .requiredOption('--jsonl <files...>', 'trajectories, one episode per line; - is the standard input')
    .requiredOption('--output <directory>', 'the directory for train, validation and README.md')
    .addOption(new Option('--format <name>').choices(FORMATS.map(({ name }) => name)).default('jsonl'))
    .option('--objective <name>', "the teachers' objective: wellbeing, score or none (default: wellbeing)")
    .option('--teacher <names>', 'only these teachers, comma-separated (default: all)', parseNames)
    .option('--model <names>', 'only these models, comma-separated (default: all)', parseNames)
    .option('--conditions <names>', 'only these conditions, comma-separated (default: all)', parseNames)
    .option('--seeds <A-B>', 'seeds of the episodes (default: 100-9999)', parseSeeds)
    .option('--allow-eval-seeds', 'admit seeds kept for evaluation; the card notes it')
    .option('--allow-oracle', 'admit teachers that used hidden state; the card notes it')
    .option('--steps <A-B>', 'range of steps to take rows from (default: 0-27)', parseSteps)
    .option('--only-parsed', 'only episodes in which every completion named an action')
    .addOption(
      new Option('--grader <name|file>', 'the grader of scores and margins: v1, v2 or a grader file').default(
        'v2',
      ),
    )
    .option('--min-score <x>', 'only episodes with at least this final score', parseDecimal)
    .option(
      '--min-margin <x>',
      'only episodes with at least this margin over heuristic+constant',
      parseDecimal,
    )
    .option(
      '--max-belief-error <x>',
      'only episodes with at most this error of the last belief; uses hidden state',
      parseDecimal,
    )
    .option(
      '--validation <share>',
      'share of the seeds for validation, 0 to 0.9 (default: 0.1)',
      parseDecimal,
    )
    .option('--split-seed <n>', 'seed of the split (default: 0)', parseInteger)
    .option('--skip-bad', 'exit with 0 even if lines were left out', false);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: SftCliOptions) => {
      const { runSft } = await import('./run-sft.js');
      if (!(await runSft(options, signal)) && !options.skipBad) process.exitCode = EXIT.failure;
    });
}
