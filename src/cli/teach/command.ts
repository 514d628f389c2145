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
last line of its answer, such as 4 6 5 SLEEP, has the graded belief as digits, and the action. Only a language model
costs money. The policies (of the built-in ones, only planner-oracle uses hidden state):
  planner-wellbeing    the default. It infers the profile, plans with the profiles that fit, and plays the first action of
                       the best plan for the person's wellbeing: the mean of the meters weighted as the person weighs them,
                       plus the grade without its component adaptation
  planner              the same for the grader's final score, which under v1 and v2 rewards neglect of the first half
  planner-prior        plans for the score as planner, but infers nothing
  planner-oracle       knows the hidden profile, and each of its lines has "oracle": true
  heuristic+inference, open-loop+inference   infer the profile, and act as heuristic and open-loop
  ${STUDENT_NAMES.join(', ')}     trained networks (docs/students.md)
  ./mine.js            a file that exports a policy with beliefs and reasons; ./mine.js+inference adds both
  llm:MODEL            a language model, any model of an OpenAI-compatible endpoint or of Azure
Environment variables name a model's endpoint and key: OPENAI_API_KEY, OPENAI_BASE_URL; or AZURE_OPENAI_ENDPOINT,
AZURE_OPENAI_API_KEY, AZURE_OPENAI_DEPLOYMENT, OPENAI_API_VERSION. A model's finished episodes are kept beside the output,
and the same command resumes where it stopped. The exit code is 3 if the command stopped because of --budget.
A file has one episode per line, or per row of Parquet, which takes 0.5 to 5 % of the space of JSON lines. \`rhythm-vec
reeval\` checks it; \`rhythm-vec dataset sft\` makes training data of it. Unless the teacher is a language model,
FILE.parquet.partial has the episodes until FILE.parquet is complete, and the same command continues from there. With
./mine.js the command refuses FILE.parquet.partial, because mine.js may have changed.

Examples:
  rhythm-vec teach --seeds 100-129 --output teacher.jsonl
  rhythm-vec teach --seeds 100-129 --output teacher.parquet
  rhythm-vec teach --policy planner --seeds 100-119 --profiles workaholic_stoic --output score.jsonl
  rhythm-vec teach --policy llm:gpt-4o-mini --seeds 100-129 --concurrency 3 --output llm.jsonl \\
    --prices 0.15,0.6,0.075 --budget 5
  rhythm-vec reeval --jsonl teacher.jsonl llm.jsonl
`;

/** Adds the options that select the teacher, seeds, profiles and grader. `queue submit teach` has them too. */
export const addTeachOptions = (command: Command): Command =>
  command
    .option(
      '--policy <name|file>',
      `the teacher: a policy below, a file or llm:MODEL (default: ${DEFAULT_TEACHER})`,
    )
    .requiredOption(
      '--seeds <A-B>',
      'one episode per seed; seeds below 100 and from 10000 on are kept for evaluation',
      parseSeeds,
    )
    .option('--profiles <name>', 'sampled, discrete or a profile name', 'sampled')
    .option('--grader <name|file>', 'v1, v2, v3 or a grader file', 'v2');

export function addTeachCommand(program: Command, context: Context): void {
  const command = addTeachOptions(program.command('teach'))
    .description('Play episodes with a teacher that states its reasons, and write them as trajectories.')
    .requiredOption(
      '--output <file>',
      'trajectories, one episode per line or row; replaces the file; - is the standard output',
    )
    .addOption(formatOption('of --output'));
  addEngineOptions(addLlmOptions(addShardOption(command)))
    .addHelpText('after', HELP)
    .action(async (options: TeachCommandOptions) => {
      const { runTeach } = await import('./run-teach.js');
      await runTeach(options, context);
    });
}
