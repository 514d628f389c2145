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
Policies: ${POLICY_NAMES.join(', ')};
  only if named, because they are slower: ${STEPPED_NAMES.join(', ')},
  ./mine.js (a file that exports a policy) and llm:MODEL (a language model; --base-url to --budget are its options).
  +constant states the belief [0.5, 0.5, 0.5] at every step, +inference the belief inferred from the observations. A policy
  can show inference only above the yardstick: the highest score of ${listed(YARDSTICK_POLICIES)}.
Graders: ${GRADER_NAMES.join(', ')}, or a file with a name and component weights that sum to 1.
docs/commands.md describes conditions, policies, the yardstick and shares; docs/trajectories.md the files of --trajectories,
of at most 100,000 episodes, or 10,000,000 as Parquet. Paid episodes of language models are kept in FILE.partial.

Examples:
  rhythm-vec eval --conditions in-distribution,ood --json results.json
  rhythm-vec eval --seeds 100-119 --policies ${YARDSTICK_POLICIES.join(',')},planner
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec eval --grader calm.json --profiles introvert_morning --trajectories calm.parquet
  rhythm-vec eval --episodes 2 --policies llm:gpt-4o-mini --trajectories mini.jsonl --prices 0.15,0.6 --budget 2
`;

/** Adds the options that select policies, conditions, seeds and grader. `queue submit eval` has them too. */
export const addEvalOptions = (command: Command): Command =>
  command
    .option('--policies <names|files>', 'comma-separated (default: the first six below)', parseNames)
    .option('--conditions <names>', 'comma-separated (default: all)', parseNames)
    .option('--seeds <A-B>', 'seeds of the condition custom, any number of them', parseSeeds)
    .option('--episodes <n>', 'at most the first n seeds of each condition', parseInteger)
    .option('--profiles <name>', 'of in-distribution, ood and custom: sampled, ...')
    .addOption(new Option('--grader <name|file>', 'v1, v2, v3 or a grader file').default('v2'));

export function addEvalCommand(program: Command, context: Context): void {
  const command = addEvalOptions(program.command('eval'))
    .description('Evaluate policies: final scores with 95 % intervals, beside the published scores.')
    .option('--bracket <audit.json>', 'also show shares by the anchors of this audit')
    .option('--json <file>', 'also write results as JSON; - is standard output')
    .option('--trajectories <file>', 'also write whole episodes; - is standard output')
    .addOption(formatOption('of --trajectories'));
  addEngineOptions(addLlmOptions(addShardOption(command)))
    .addHelpText('after', HELP)
    .action(async (options: EvalCommandOptions) => {
      const { runEval } = await import('./run-eval.js');
      await runEval(options, context);
    });
}
