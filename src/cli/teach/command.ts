/** `rhythm-vec teach`: records trajectories of a teacher with reasons. The work is loaded when the command runs. */
import { type Command, Option } from 'commander';
import { OBJECTIVES } from '../../agents/planner/objectives.js';
import type { Context } from '../context.js';
import { addLlmOptions } from '../llm/llm-options.js';
import { addEngineOptions, parseSeeds } from '../shared-options.js';
import type { TeachCommandOptions } from './run-teach.js';

const HELP = `
The planner infers the profile from the observations, plans with the profiles that fit them, and plays the first action of
the best plan at every step. It uses only what any agent observes, and costs no money. It explains its observations,
belief, plan and reasons in words. The graded belief is the one in the digits of the answer.
Objectives: score is the grader's final score, which rewards neglect of the first half of the episode. wellbeing, the
  default, is the mean of the meters weighted as the person weighs them, plus the grade without adaptation. \`eval\` calls
  these two planner and planner-wellbeing.
Variants: planner; planner-prior infers nothing; planner-oracle knows the hidden profile, and every line of it has
  "oracle": true; heuristic+inference and open-loop+inference infer the profile and act as heuristic and open-loop.
A language model (--teacher llm) is any model of an OpenAI-compatible endpoint or of Azure. Environment variables name the
endpoint and the key: OPENAI_API_KEY, OPENAI_BASE_URL; or AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY,
AZURE_OPENAI_DEPLOYMENT, OPENAI_API_VERSION. Finished episodes are kept beside the output, and the same command resumes
where it stopped. The exit code is 3 if the command stopped because of --budget.
A file has one episode per line. \`rhythm-vec reeval\` checks it; \`rhythm-vec dataset sft\` makes training data of it.

Examples:
  rhythm-vec teach --teacher planner --seeds 100-129 --output teacher.jsonl
  rhythm-vec teach --teacher planner --objective score --seeds 100-119 --profiles workaholic_stoic --output score.jsonl
  rhythm-vec teach --teacher llm --model gpt-4o-mini --seeds 100-129 --concurrency 3 --output llm.jsonl \\
    --prices 0.15,0.6,0.075 --budget 5
  rhythm-vec reeval --jsonl teacher.jsonl llm.jsonl
`;

export function addTeachCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('teach')
    .description('Play episodes with a teacher that states its reasons, and write them as trajectories.')
    .addOption(
      new Option('--teacher <name>', 'the teacher').choices(['planner', 'llm']).makeOptionMandatory(),
    )
    .requiredOption(
      '--seeds <A-B>',
      'one episode per seed; dataset sft refuses seeds below 100 and from 10000 on, kept for evaluation',
      parseSeeds,
    )
    .requiredOption(
      '--output <file>',
      'trajectories, one episode per line; replaces the file; - is the standard output',
    )
    .addOption(
      new Option('--objective <name>', 'what the planner maximises (default: wellbeing)').choices(OBJECTIVES),
    )
    .option('--variant <name>', 'variant of the planner, see below (default: planner)')
    .option('--model <name>', 'the name of the language model at its endpoint; required with --teacher llm')
    .option('--profiles <name>', 'sampled, discrete or a profile name', 'sampled')
    .option('--grader <name|file>', 'v1, v2 or a grader file', 'v2');
  addEngineOptions(addLlmOptions(command))
    .addHelpText('after', HELP)
    .action(async (options: TeachCommandOptions) => {
      const { runTeach } = await import('./run-teach.js');
      await runTeach(options, signal);
    });
}
