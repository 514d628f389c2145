/** `rhythm-vec dataset dpo`: writes rows for DPO. */
import { type Command, Option } from 'commander';
import type { Grader } from '../../engine/graders/grader.js';
import { dpoCardText, isDpoCard } from '../../training/datasets/dpo/dpo-card.js';
import {
  CRITERIA,
  DPO_COLUMNS,
  type DpoOptions,
  type DpoPlan,
  type DpoRow,
  toDpoPlan,
} from '../../training/datasets/dpo/dpo-rows.js';
import { DPO_FILTERS, DpoSelection, dpoProvenanceOf } from '../../training/datasets/dpo/dpo-selection.js';
import { EXIT } from '../command-errors.js';
import type { Context } from '../context.js';
import { addEngineOptions, parseDecimal } from '../shared-options.js';
import { type DatasetKind, runSelection } from './selection.js';
import { addSelectionOptions, flag, given, type SelectionCliOptions } from './selection-options.js';

type DpoCliOptions = SelectionCliOptions & Omit<DpoOptions, 'grader'>;

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

export function defineDpo(command: Command, { signal }: Context): void {
  addSelectionOptions(command)
    .addOption(
      new Option('--by <value>', 'what decides which answer is better').choices(CRITERIA).default('score'),
    )
    .option(
      '--min-margin <x>',
      'only pairs with at least this difference of values (default: 0)',
      parseDecimal,
    )
    .option('--all-pairs', 'every pair of answers to a state, instead of the best with the worst answer');
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: DpoCliOptions) => {
      const toPlan = (grader: Grader): DpoPlan => toDpoPlan({ ...options, grader });
      if (!(await runSelection(DPO, options, toPlan, signal)) && !options.skipBad)
        process.exitCode = EXIT.failure;
    });
}

export const DPO: DatasetKind<DpoPlan, DpoRow, DpoSelection> = {
  name: 'dpo',
  filters: DPO_FILTERS,
  // Pairs have no margins over baselines.
  baselines: false,
  repeats: true,
  columns: DPO_COLUMNS,
  open: (plan, source) => new DpoSelection(plan, source),
  provenanceOf: dpoProvenanceOf,
  isCard: isDpoCard,
  cardOf: dpoCardText,
  wordsOf: (plan) => [
    ...given('--by', plan.by),
    ...given('--min-margin', plan.minMargin),
    ...flag('--all-pairs', plan.allPairs),
  ],
  words: { row: 'pair', used: 'compared' },
  noRows: (selection, why) =>
    `Expected pairs to train on, got none from ${selection.total('episodes')} episodes${why === '' ? '' : `; left out because of: ${why}`}. ` +
    'Pass episodes of several policies on the same seeds, or several samples of one model, or relax the filters.',
};
