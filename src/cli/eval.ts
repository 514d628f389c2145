/** `rhythm-vec eval`: how well policies do, under which conditions. What does it is loaded when it is asked for. */
import { type Command, Option } from 'commander';
import { CONDITIONS } from '../conditions.js';
import { POLICY_NAMES } from '../policies/policies.js';
import { STEPPED_NAMES } from '../policies/stepped.js';
import { GRADER_NAMES } from '../world/fields.js';
import type { Context } from './context.js';
import type { EvalCommandOptions } from './eval/run.js';
import { addLlmOptions } from './llm/options.js';
import { addEngineOptions, parseInteger, parseNames, parseSeeds } from './options.js';

const HELP = `
Conditions: ${CONDITIONS.map(({ name }) => name).join(', ')}, custom.
  in-distribution is seeds 0-99, ood is seeds 10000-10049; together they are the 150 episodes of the re-evaluation.
  discrete:NAME is seeds 0-4 of one named profile; discrete is all three, and their mean.
  custom is the seeds of --seeds; it runs alone unless --conditions names others.
  --profiles leaves out the discrete conditions, and refuses them by name: their persons are fixed.
Policies: ${POLICY_NAMES.join(', ')};
  and if asked for, since they take their time: ${STEPPED_NAMES.join(', ')}.
  +constant gives the belief [0.5, 0.5, 0.5] at every step: a score that does not beat it shows no inference.
  +inference gives what was inferred from what was seen. A planner also acts on it, by imagining weeks: for the score,
  or for the person's wellbeing; planner-prior does not infer, and planner-oracle is shown who the persons are.
  llm:MODEL is a language model, asked in words before every step, in weeks of all conditions at once: where
  OPENAI_BASE_URL and OPENAI_API_KEY say (or Azure's settings), or at --base-url. --concurrency to --budget are for these
  alone. A comma in a model's name is \\,.
Graders: ${GRADER_NAMES.join(', ')}, or a file of a name and weights by component that sum to 1; what is left out weighs 0.
  --components stores what grades consist of: \`rhythm-vec regrade\` weighs it otherwise, without playing again.
  --trajectories stores whole weeks, which \`reeval\` checks and \`report\` draws: some 18 kB an episode, up to 35 kB with a
  planner's reasons, and at most 100,000 episodes. It changes no result. With a language model what was paid for is kept
  in FILE.partial meanwhile: the same command again goes on from there, and without the option an interrupted one begins anew.

Examples:
  rhythm-vec eval
  rhythm-vec eval --conditions in-distribution,ood --json results.json
  rhythm-vec eval --seeds 0-9999999 --policies heuristic,heuristic+constant
  rhythm-vec eval --profiles introvert_morning --episodes 20 --grader v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec eval --grader calm.json --components components.jsonl
  rhythm-vec eval --seeds 100-119 --policies heuristic+constant,planner,planner-wellbeing
  rhythm-vec eval --conditions in-distribution,ood --trajectories weeks.jsonl
  rhythm-vec reeval --jsonl weeks.jsonl
  rhythm-vec eval --conditions ood --policies heuristic+constant,llm:Qwen/Qwen2.5-3B-Instruct --concurrency 16
  rhythm-vec eval --episodes 2 --policies llm:gpt-4o-mini --trajectories mini.jsonl --prices 0.15,0.6 --budget 2
`;

export function addEvalCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('eval')
    .description('Evaluate policies: final scores with 95 % intervals, beside the published figures.')
    .option('--policies <names>', 'comma-separated (default: those that are quick)', parseNames)
    .option('--conditions <names>', 'comma-separated (default: all)', parseNames)
    .option('--seeds <A-B>', 'seeds of the condition custom, in constant memory', parseSeeds)
    .option('--episodes <n>', 'only the first n seeds of each condition', parseInteger)
    .option(
      '--profiles <name>',
      'sampled, discrete or a profile: the persons of in-distribution, ood and custom; not with discrete conditions',
    )
    .addOption(new Option('--grader <name|file>', 'v1, v2 or a grader file').default('v2'))
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .option(
      '--components <file>',
      "also write each episode's components, for regrade; - is the standard output",
    )
    .option('--trajectories <file>', 'also write each episode whole, a line each; - is the standard output');
  addEngineOptions(addLlmOptions(command))
    .addHelpText('after', HELP)
    .action(async (options: EvalCommandOptions) => {
      const { runEval } = await import('./eval/run.js');
      await runEval(options, signal);
    });
}
