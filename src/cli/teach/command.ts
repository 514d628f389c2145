/** `rhythm-vec teach`: records a teacher's trajectories, with its reasons. */
import type { Command } from 'commander';
import { STUDENT_NAMES } from '../../agents/student/student.js';
import { DEFAULT_TEACHER } from '../../training/teaching/policy-teacher.js';
import type { Context } from '../context.js';
import { addLlmOptions } from '../llm/llm-options.js';
import { addEngineOptions, addShardOption, formatOption, parseSeeds } from '../shared-options.js';
import type { TeachCommandOptions } from './run-teach.js';

const HELP = `
A policy plays as in \`eval\`, under the same name, and explains its observations, belief, plan and reasons in words. The
last line of its answer, such as 4 6 5 SLEEP, has the graded belief as digits, and the action. The teachers:
  ${DEFAULT_TEACHER} (the default), planner, planner-prior, planner-oracle (uses hidden state),
  heuristic+inference, open-loop+inference,
  ${STUDENT_NAMES.join(', ')},
  ./mine.js (a file that exports a policy with beliefs and reasons; ./mine.js+inference adds both),
  llm:MODEL (a language model, at the endpoint of OPENAI_BASE_URL or --base-url; see docs/language-models.md)
A file has one episode per line, or per row of Parquet, which takes 0.5 to 5 % of the space. FILE.partial keeps the episodes
of language models, and those of FILE.parquet, until FILE is complete: the same command continues. The exit code is 3 after
--budget. Seeds below 100 and from 10000 on are kept for evaluation. docs/trajectories.md describes the files.

Examples:
  rhythm-vec teach --seeds 100-129 --output teacher.parquet
  rhythm-vec teach --policy planner --seeds 100-119 --profiles workaholic_stoic --output score.jsonl
  rhythm-vec teach --policy llm:gpt-4o-mini --seeds 100-129 --output llm.jsonl --prices 0.15,0.6,0.075 --budget 5
  rhythm-vec reeval --jsonl teacher.parquet llm.jsonl
`;

/** Adds the options that select the teacher, seeds, profiles and grader. `queue submit teach` has them too. */
export const addTeachOptions = (command: Command): Command =>
  command
    .option('--policy <name|file>', 'the teacher, see below')
    .requiredOption('--seeds <A-B>', 'one episode per seed', parseSeeds)
    .option('--profiles <name>', 'sampled, discrete or a profile name', 'sampled')
    .option('--grader <name|file>', 'v1, v2, v3 or a grader file', 'v2');

export function addTeachCommand(program: Command, context: Context): void {
  const command = addTeachOptions(program.command('teach'))
    .description('Play episodes with a teacher that states its reasons, and write them as trajectories.')
    .requiredOption('--output <file>', 'trajectories; - is standard output')
    .addOption(formatOption('of --output'));
  addEngineOptions(addLlmOptions(addShardOption(command)))
    .addHelpText('after', HELP)
    .action(async (options: TeachCommandOptions) => {
      const { runTeach } = await import('./run-teach.js');
      await runTeach(options, context);
    });
}
