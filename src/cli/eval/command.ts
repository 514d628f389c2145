/** `rhythm-vec eval`: evaluates policies under conditions. The work is loaded when the command runs. */
import { type Command, Option } from 'commander';
import { STEPPED_NAMES } from '../../agents/policies/observing-policies.js';
import { POLICY_NAMES } from '../../agents/policies/policies.js';
import { CONDITIONS } from '../../world/conditions.js';
import { GRADER_NAMES } from '../../world/fields.js';
import type { Context } from '../context.js';
import { addLlmOptions } from '../llm/llm-options.js';
import { addEngineOptions, parseInteger, parseNames, parseSeeds } from '../shared-options.js';
import type { EvalCommandOptions } from './run-eval.js';

const HELP = `
Conditions: ${CONDITIONS.map(({ name }) => name).join(', ')}, custom.
  in-distribution is seeds 0-99, ood is seeds 10000-10049; together they are the 150 episodes of RhythmEnv's re-evaluation.
  discrete:NAME is seeds 0-4 of one named profile; discrete is all three, and their mean.
  custom is the seeds of --seeds. It runs alone unless --conditions names others.
  --profiles excludes the discrete conditions, whose profiles are fixed.
Policies: ${POLICY_NAMES.join(', ')};
  only if named, because they are slow: ${STEPPED_NAMES.join(', ')}.
  +constant states the belief [0.5, 0.5, 0.5] at every step. A score that does not beat it shows no inference.
  +inference states the belief inferred from the observations. The planner also acts on it, by planning for the score
  or for the person's wellbeing. planner-prior does not infer; planner-oracle knows the hidden profile.
  llm:MODEL is a language model that is prompted before every step. OPENAI_BASE_URL and OPENAI_API_KEY (or Azure's
  variables) or --base-url name its endpoint. The options --concurrency to --budget apply to language models only.
  Write a comma in a model's name as \\,.
Graders: ${GRADER_NAMES.join(', ')}, or a file with a name and component weights that sum to 1; missing components weigh 0.
  --components stores the components of all grades: \`rhythm-vec regrade\` applies other graders without playing again.
  --trajectories stores whole episodes, which \`reeval\` checks and \`report\` draws: about 18 kB each, up to 35 kB with a
  planner's reasons, at most 100,000 episodes. The option changes no result. During the run, FILE.partial keeps the paid
  episodes of language models, and the same command resumes from there. Without --trajectories, an interrupted run restarts.

Examples:
  rhythm-vec eval
  rhythm-vec eval --conditions in-distribution,ood --json results.json
  rhythm-vec eval --seeds 0-9999999 --policies heuristic,heuristic+constant
  rhythm-vec eval --profiles introvert_morning --episodes 20 --grader v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec eval --grader calm.json --components components.jsonl
  rhythm-vec eval --seeds 100-119 --policies heuristic+constant,planner,planner-wellbeing
  rhythm-vec eval --conditions in-distribution,ood --trajectories episodes.jsonl
  rhythm-vec reeval --jsonl episodes.jsonl
  rhythm-vec eval --conditions ood --policies heuristic+constant,llm:Qwen/Qwen2.5-3B-Instruct --concurrency 16
  rhythm-vec eval --episodes 2 --policies llm:gpt-4o-mini --trajectories mini.jsonl --prices 0.15,0.6 --budget 2
`;

export function addEvalCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('eval')
    .description('Evaluate policies: final scores with 95 % intervals, beside the published scores.')
    .option('--policies <names>', 'comma-separated (default: all fast policies)', parseNames)
    .option('--conditions <names>', 'comma-separated (default: all)', parseNames)
    .option('--seeds <A-B>', 'seeds of the condition custom, any number of them', parseSeeds)
    .option('--episodes <n>', 'only the first n seeds of each condition', parseInteger)
    .option(
      '--profiles <name>',
      'sampled, discrete or a profile name, for in-distribution, ood and custom; not with discrete conditions',
    )
    .addOption(new Option('--grader <name|file>', 'v1, v2 or a grader file').default('v2'))
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .option(
      '--components <file>',
      "also write each episode's components, for regrade; - is the standard output",
    )
    .option('--trajectories <file>', 'also write whole episodes, one per line; - is the standard output');
  addEngineOptions(addLlmOptions(command))
    .addHelpText('after', HELP)
    .action(async (options: EvalCommandOptions) => {
      const { runEval } = await import('./run-eval.js');
      await runEval(options, signal);
    });
}
