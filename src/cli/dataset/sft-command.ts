/** `rhythm-vec dataset sft`. What makes the rows is loaded when they are asked for. */
import { type Command, Option } from 'commander';
import { FORMATS } from '../../dataset/formats.js';
import type { Context } from '../context.js';
import { EXIT } from '../failure.js';
import {
  addEngineOptions,
  parseDecimal,
  parseInteger,
  parseNames,
  parseSeeds,
  parseSteps,
} from '../options.js';
import type { SftCliOptions } from './sft.js';

const HELP = `
A row is what was asked in a step of a week, and what the teacher answered, in chat format:
  {"messages":[{"role":"system","content":...},{"role":"user","content":...},{"role":"assistant","content":...}],
   "seed":100,"profile_mode":"sampled","condition":"custom","step_index":0,"teacher":"planner","model":null,
   "objective":"wellbeing","final_score":0.61}
Every week is replayed first; one that is not as its line says is named and left out, as are lines that are no episodes:
the exit code is 1 then, unless --skip-bad. Answers without an action or a belief are left out.
ONLY TEACHERS THAT WANT WELLBEING ARE TAKEN, unless --objective says otherwise: one that wants the score neglects the first
half of the week, and so will its students. none is for teachers without an objective by name, such as language models.
Teachers that were shown hidden numbers are left out, unless --allow-oracle; seeds 0-99 and from 10000 on are kept for
evaluation and refused, unless --allow-eval-seeds. The card, README.md, says all of it. --max-belief-error chooses weeks
by hidden numbers, which no agent sees; the card says that, too.
A margin is what a week scores over heuristic+constant, the same week by the heuristic with the belief [0.5, 0.5, 0.5]: what
does not beat that shows no inference. The card has the least, the median and the most.
All rows of a seed are on one side, train or validation, by the seed alone: a longer dataset keeps it there.

Examples:
  rhythm-vec dataset sft --jsonl teacher.jsonl --output sft
  rhythm-vec dataset sft --jsonl teacher.jsonl --output sft-best --min-margin 0.06 --only-parsed --format parquet
`;

export function addSftCommand(dataset: Command, { signal }: Context): void {
  const command = dataset
    .command('sft')
    .description("Write rows for SFT: a teacher's answers in chat format, as JSON lines or Parquet.")
    .requiredOption('--jsonl <files...>', 'trajectories, an episode a line; - is the standard input')
    .requiredOption('--output <directory>', 'where train, validation and README.md go, all or none')
    .addOption(new Option('--format <name>').choices(FORMATS.map(({ name }) => name)).default('jsonl'))
    .option('--objective <name>', 'wellbeing, score or none: whose weeks (default: wellbeing)')
    .option('--teacher <names>', 'only these, comma-separated (default: all)', parseNames)
    .option('--model <names>', 'only these, comma-separated (default: all)', parseNames)
    .option('--conditions <names>', 'only these, comma-separated (default: all)', parseNames)
    .option('--seeds <A-B>', 'of the weeks (default: 100-9999)', parseSeeds)
    .option('--allow-eval-seeds', 'let --seeds hold seeds that results are reported on; the card says so')
    .option('--allow-oracle', 'take teachers that were shown hidden numbers; the card says so')
    .option('--steps <A-B>', 'steps taken before an answer (default: 0-27)', parseSteps)
    .option('--only-parsed', 'only weeks in which every completion named an action')
    .addOption(
      new Option('--grader <name|file>', 'v1, v2 or a grader file: of scores and margins').default('v2'),
    )
    .option('--min-score <x>', 'the least final score', parseDecimal)
    .option(
      '--min-margin <x>',
      'the least difference to the score of heuristic+constant in the same week',
      parseDecimal,
    )
    .option(
      '--max-belief-error <x>',
      'the largest error of the last belief: looks at hidden numbers',
      parseDecimal,
    )
    .option('--validation <share>', 'of the seeds, 0 to 0.9 (default: 0.1)', parseDecimal)
    .option('--split-seed <n>', 'of the split (default: 0)', parseInteger)
    .option('--skip-bad', 'let what is left out as untrue or no episode not make the exit code 1', false);
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: SftCliOptions) => {
      const { runSft } = await import('./sft.js');
      if (!(await runSft(options, signal)) && !options.skipBad) process.exitCode = EXIT.failure;
    });
}
