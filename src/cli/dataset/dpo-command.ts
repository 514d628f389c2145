/** `rhythm-vec dataset dpo`: writes rows for DPO. */
import { type Command, Option } from 'commander';
import { CRITERIA } from '../../training/datasets/dpo/dpo-rows.js';
import { EXIT } from '../command-errors.js';
import type { Context } from '../context.js';
import { addEngineOptions, parseDecimal } from '../shared-options.js';
import type { DpoCliOptions } from './run-dpo.js';
import { addFileOptions, addSelectionOptions } from './selection-options.js';

const HELP = `
Each row has two answers to one state, in the conversational form of TRL's DPOTrainer:
  {"prompt":[{"role":"system","content":...},{"role":"user","content":...}],"chosen":[{"role":"assistant","content":...}],
   "rejected":[{"role":"assistant","content":...}],"seed":100,"profile_mode":"sampled","step_index":0,
   "chosen_action":"sleep","rejected_action":"learn","chosen_value":0.61,"rejected_value":0.44,
   "chosen_teacher":"planner","rejected_teacher":"llm","chosen_model":null,"rejected_model":"small"}
Two episodes with the same seed, profile, grader and system message share the states up to the first step at which their
actions differ. There, the answer of the episode with the higher value is chosen. With --by score the value is the final score
under --grader; with --by return it is the sum of the episode's rewards from the state on. Answers with equal actions or equal
values make no pair. Each state yields the pair of the best and the worst answer, or with --all-pairs every pair. Pass episodes
of several players (policies or language models) on the same seeds, or several samples of one player.
Invalid lines, and episodes that differ from their replay, are reported and left out. The exit code is then 1, unless --skip-bad
is given. Answers without an action or without a belief are left out.
Seeds 0-99 and seeds from 10000 on are kept for evaluation: --seeds refuses them, unless --allow-eval-seeds is given. Without
--seeds, their episodes are left out.
All rows of a seed go to one split, train or validation, the same as in dataset sft.
With --shard, --output is a file. It has the episodes of one part of the lines of --jsonl, with the results of their replay.
rhythm-vec merge writes the directory from the files of all shards. The files of --jsonl must then be JSON lines.

Examples:
  rhythm-vec teach --seeds 100-119 --output planner.jsonl
  rhythm-vec teach --policy heuristic+inference --seeds 100-119 --output heuristic.jsonl
  rhythm-vec dataset dpo --jsonl planner.jsonl heuristic.jsonl --output dpo
  rhythm-vec dataset dpo --jsonl planner.jsonl heuristic.jsonl --by return --min-margin 0.5 --all-pairs --output dpo-all
`;

export function addDpoCommand(dataset: Command, { signal }: Context): void {
  const command = addFileOptions(
    dataset
      .command('dpo')
      .description(
        'Write rows for DPO: a better and a worse answer to the same state, as JSON lines or Parquet.',
      ),
  )
    .addOption(
      new Option('--by <value>', 'what decides which answer is better').choices(CRITERIA).default('score'),
    )
    .option(
      '--min-margin <x>',
      'only pairs with at least this difference of values (default: 0)',
      parseDecimal,
    )
    .option('--all-pairs', 'every pair of answers to a state, instead of the best with the worst answer');
  addEngineOptions(
    addSelectionOptions(command, { players: 'players', rows: 'states', scores: 'final scores' }),
  )
    .addHelpText('after', HELP)
    .action(async (options: DpoCliOptions) => {
      const { runDpo } = await import('./run-dpo.js');
      if (!(await runDpo(options, signal)) && !options.skipBad) process.exitCode = EXIT.failure;
    });
}
