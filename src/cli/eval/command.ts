/** `rhythm-vec eval`: evaluates policies under conditions. */
import { type Command, Option } from 'commander';
import { POLICY_NAMES } from '../../agents/policies/fixed-policies.js';
import { STEPPED_NAMES } from '../../agents/policies/stepped-policies.js';
import { listed } from '../../evaluation/format-results.js';
import { YARDSTICK_POLICIES } from '../../evaluation/yardstick.js';
import { CONDITIONS } from '../../world/conditions.js';
import { GRADER_NAMES } from '../../world/fields.js';
import type { Context } from '../context.js';
import { addLlmOptions } from '../llm/llm-options.js';
import {
  addEngineOptions,
  addShardOption,
  formatOption,
  parseInteger,
  parseNames,
  parseSeeds,
} from '../shared-options.js';
import type { EvalCommandOptions } from './run-eval.js';

const HELP = `
Conditions: ${CONDITIONS.map(({ name }) => name).join(', ')}, custom.
  in-distribution is seeds 0-99, ood is seeds 10000-10049; together they are the 150 episodes of RhythmEnv's published re-evaluation.
  discrete:NAME is seeds 0-4 of one named profile; discrete is all three, and their mean.
  custom is the seeds of --seeds. It runs alone unless --conditions names others.
  --profiles excludes the discrete conditions, whose profiles are fixed.
Policies: ${POLICY_NAMES.join(', ')};
  only if named, because they are slower: ${STEPPED_NAMES.join(', ')}.
  +constant states the belief [0.5, 0.5, 0.5] at every step. A policy can show inference only if its score is above the
  yardstick, which the notes name: the highest score of ${listed(YARDSTICK_POLICIES)}. Those of
  the conditions above under v1, v2 and v3 come with the package; for other seeds or graders, name these policies.
  To be above the yardstick is necessary, not sufficient.
  reactive+constant chooses by the step and the meters alone: the policy that the audit of the grader found.
  +inference states the belief inferred from the observations. The planner also acts on it, by planning for the score
  or for the person's wellbeing. planner-prior does not infer; planner-oracle knows the hidden profile.
  ./mine.js is a file whose default export is a policy, or a function that makes a policy (docs/guides/policies.md);
  ./mine.js+constant and ./mine.js+inference add a belief.
  llm:MODEL is a language model that is prompted before every step. OPENAI_BASE_URL and OPENAI_API_KEY (or Azure's
  variables) or --base-url name its endpoint. The options --concurrency to --budget apply to language models only.
  Write a comma in a model's name as \\,.
Graders: ${GRADER_NAMES.join(', ')}, or a file with a name and component weights that sum to 1; missing components weigh 0.
  Policies play for --grader. The table also grades the same episodes by v2 and v3, except the grader in use.
  Shares say how much of the value of knowing the profile a policy earns: 0 is the score of the best open-loop sequence with
  its best constant belief, 1 that of planner-oracle. These two scores are the anchors of a grader. --bracket takes those of
  another grader from its audit --json, made with this version and this world. Anchors closer than 0.02 yield no share.
  --trajectories stores whole episodes, which \`reeval\` checks, \`regrade\` grades again and \`report\` draws: about 14 kB each, up to 30 kB with a
  planner's reasons, at most 100,000 episodes. As Parquet (FILE.parquet, or --format parquet) they take less than 0.3 kB each,
  1.2 to 2.2 kB with reasons, at most 10,000,000 episodes. --trajectories changes no result. During the run, FILE.partial keeps
  the paid episodes of language models, and the same command resumes from there. Without --trajectories, an interrupted run
  restarts.

Examples:
  rhythm-vec eval
  rhythm-vec eval --conditions in-distribution,ood --json results.json
  rhythm-vec eval --seeds 0-9999999 --policies heuristic,heuristic+constant
  rhythm-vec eval --seeds 100-119 --policies ${YARDSTICK_POLICIES.join(',')},planner
  rhythm-vec eval --profiles introvert_morning --episodes 20 --grader v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec eval --grader calm.json
  rhythm-vec audit --grader calm.json --evaluations 1000 --episodes 10 --planner-episodes 2 --json calm-audit.json
  rhythm-vec eval --grader calm.json --episodes 20 --bracket calm-audit.json
  echo 'export default ({ steps }) => ({ actions: steps.map(() => 3) })' > sleep.mjs
  rhythm-vec eval --policies ./sleep.mjs,heuristic+constant --conditions ood
  rhythm-vec eval --conditions in-distribution,ood --trajectories episodes.jsonl
  rhythm-vec reeval --jsonl episodes.jsonl
  rhythm-vec eval --seeds 0-999 --policies heuristic+constant --trajectories episodes.parquet
  rhythm-vec eval --conditions ood --policies heuristic+constant,llm:Qwen/Qwen2.5-3B-Instruct --concurrency 16
  rhythm-vec eval --episodes 2 --policies llm:gpt-4o-mini --trajectories mini.jsonl --prices 0.15,0.6 --budget 2
`;

/** Adds the options that select policies, conditions, seeds and grader. `queue submit eval` has them too. */
export const addEvalOptions = (command: Command): Command =>
  command
    .option(
      '--policies <names|files>',
      'comma-separated (default: random, heuristic and open-loop, each also with +constant)',
      parseNames,
    )
    .option('--conditions <names>', 'comma-separated (default: all)', parseNames)
    .option('--seeds <A-B>', 'seeds of the condition custom, any number of them', parseSeeds)
    .option('--episodes <n>', 'at most the first n seeds of each condition', parseInteger)
    .option(
      '--profiles <name>',
      'sampled, discrete or a profile name, for in-distribution, ood and custom; not with discrete conditions',
    )
    .addOption(new Option('--grader <name|file>', 'v1, v2, v3 or a grader file').default('v2'));

export function addEvalCommand(program: Command, context: Context): void {
  const command = addEvalOptions(program.command('eval'))
    .description('Evaluate policies: final scores with 95 % intervals, beside the published scores.')
    .option('--bracket <audit.json>', 'also show shares by the anchors of this audit, under its grader')
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .option(
      '--trajectories <file>',
      'also write whole episodes, one per line or row; - is the standard output',
    )
    .addOption(formatOption('of --trajectories'));
  addEngineOptions(addLlmOptions(addShardOption(command)))
    .addHelpText('after', HELP)
    .action(async (options: EvalCommandOptions) => {
      const { runEval } = await import('./run-eval.js');
      await runEval(options, context);
    });
}
