/** `rhythm-vec teach`: trajectories of a teacher that gives its reasons. What does it is loaded when it is asked for. */
import { type Command, Option } from 'commander';
import { OBJECTIVES } from '../policies/planner/objectives.js';
import type { Context } from './context.js';
import { addLlmOptions } from './llm/options.js';
import { addEngineOptions, parseSeeds } from './options.js';
import type { TeachCommandOptions } from './teach/run.js';

const HELP = `
The planner infers who the person is from what it sees, imagines weeks with whom that might be, and plays the first action
of the best plan, step by step. It is shown what an agent is shown, and costs no money. It says in words what it saw, what
it believes, what it plans and why; the belief that counts is the one in the answer's digits.
Objectives: score is the grader's final score, which neglect of the week's first half raises; wellbeing, the default, is
  the week's mean of the meters as the person weighs them, and the grade without adaptation. \`eval\` calls these two
  planner and planner-wellbeing.
Variants: planner; planner-prior infers nothing; planner-oracle is shown who the persons are, and every line says so;
  heuristic+inference and blind-tape+inference infer, and act as those do.
A language model (--teacher llm) is any that an OpenAI-compatible endpoint or Azure serves; where, and with which key, the
environment says: OPENAI_API_KEY, OPENAI_BASE_URL; or AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY, AZURE_OPENAI_DEPLOYMENT,
OPENAI_API_VERSION. Finished weeks are kept beside the output: the same command goes on where it stopped. The exit code is 3
where --budget ended it.
A file has an episode a line: \`rhythm-vec reeval\` checks it, \`rhythm-vec dataset sft\` makes training data of it.

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
    .description('Play weeks with a teacher that gives its reasons, and write them as trajectories.')
    .addOption(
      new Option('--teacher <name>', 'who teaches').choices(['planner', 'llm']).makeOptionMandatory(),
    )
    .requiredOption(
      '--seeds <A-B>',
      'a week each; below 100 and from 10000 on they are kept for evaluation, and dataset sft refuses them',
      parseSeeds,
    )
    .requiredOption(
      '--output <file>',
      'trajectories, an episode a line, in place of what was there; - is the standard output',
    )
    .addOption(
      new Option('--objective <name>', 'what the planner wants (default: wellbeing)').choices(OBJECTIVES),
    )
    .option('--variant <name>', 'of the planner (default: planner)')
    .option('--model <name>', 'the language model, as its endpoint calls it: required with --teacher llm')
    .option('--profiles <name>', 'sampled, discrete or a profile: the persons', 'sampled')
    .option('--grader <name|file>', 'v1, v2 or a grader file', 'v2');
  addEngineOptions(addLlmOptions(command))
    .addHelpText('after', HELP)
    .action(async (options: TeachCommandOptions) => {
      const { runTeach } = await import('./teach/run.js');
      await runTeach(options, signal);
    });
}
