/** `rhythm-vec dataset sft`: writes rows for SFT. */

import { type Command, Option } from 'commander';
import { CHAT_FORMS } from '../../rollouts/trajectories/trajectory-episode.js';
import { isSftCard, sftCardText } from '../../training/datasets/sft/sft-card.js';
import {
  OBJECTIVES,
  SFT_COLUMNS,
  type SftOptions,
  type SftPlan,
  type SftRow,
  toSftPlan,
} from '../../training/datasets/sft/sft-rows.js';
import { SFT_FILTERS, SftSelection, sftProvenanceOf } from '../../training/datasets/sft/sft-selection.js';
import { rangeText } from '../../world/conditions.js';
import { EXIT, UsageError } from '../command-errors.js';
import type { Context } from '../context.js';
import { addEngineOptions, parseDecimal } from '../shared-options.js';
import { type DatasetKind, runSelection } from './selection.js';
import { addSelectionOptions, flag, given, type SelectionCliOptions } from './selection-options.js';

type SftCliOptions = SelectionCliOptions & Omit<SftOptions, 'grader'>;

const HELP = `
Each row is one step of an episode in chat format: the prompt, and the teacher's answer:
  {"messages":[{"role":"system","content":...},{"role":"user","content":...},{"role":"assistant","content":...}],
   "seed":100,"profile_mode":"sampled","condition":"custom","step_index":0,"teacher":"planner-wellbeing","model":null,
   "objective":"wellbeing","final_score":0.61}
With --form conversation a row is a whole episode: the rules, and the states and answers in turn; with --form tools the answers are
calls of the tool act, which the key tools describes. Both end before an answer that is left out.
Invalid lines, duplicate episodes, and episodes that differ from their replay are reported and left out. The exit code is then
1, unless --skip-bad is given. Answers without an action or without a belief are left out.
ONLY TEACHERS WITH THE OBJECTIVE WELLBEING ARE USED, unless --objective names another. A teacher that maximises v2's score
neglects the first half of the episode, and its students would too. A row has the prompt of its episode, which describes
the episode's grader; --grader changes scores and margins alone. --objective none selects teachers without an objective,
such as language models. Teachers that used hidden state are left out, unless --allow-oracle is given. Seeds 0-99 and seeds from
10000 on are kept for evaluation: --seeds refuses them, unless --allow-eval-seeds is given. Without --seeds, their episodes are
left out. --max-belief-error selects episodes by hidden state. The card, README.md, notes all of these options.
An episode's margin is its score minus that of heuristic+constant with the same seed: the heuristic with the belief
[0.5, 0.5, 0.5]. A margin shows no inference: fixed actions can have one. rhythm-vec eval names the score to exceed, the
yardstick. The card has the smallest, median and largest margin.
All rows of a seed go to one split, train or validation. Only the seed, --validation and --split-seed decide which, so a
longer dataset keeps the split.
With --shard, --output is a file. It has the episodes of one part of the lines of --jsonl, with the results of their replay.
rhythm-vec merge writes the directory from the files of all shards. The files of --jsonl must then be JSON lines.

Examples:
  rhythm-vec dataset sft --jsonl teacher.jsonl --output sft
  rhythm-vec dataset sft --jsonl teacher.jsonl --output sft-best --min-margin 0.06 --only-parsed --format parquet
`;

export function defineSft(command: Command, { signal }: Context): void {
  addSelectionOptions(command)
    .addOption(
      new Option('--form <name>', 'rows of steps, or of whole episodes (default: single)').choices(
        CHAT_FORMS,
      ),
    )
    .option('--objective <name>', "the teachers' objective: wellbeing, score or none (default: wellbeing)")
    .option('--only-parsed', 'only episodes in which every completion named an action')
    .option('--min-score <x>', 'only episodes with at least this final score', parseDecimal)
    .option(
      '--min-margin <x>',
      'only episodes with at least this margin over heuristic+constant; a policy may have a margin without inference',
      parseDecimal,
    )
    .option(
      '--max-belief-error <x>',
      'only episodes with at most this error of the last belief; uses hidden state',
      parseDecimal,
    );
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: SftCliOptions) => {
      if (!(await runSft(options, signal)) && !options.skipBad) process.exitCode = EXIT.failure;
    });
}

/** Writes the files of the dataset. @returns and @throws as `runSelection`. */
export async function runSft(options: SftCliOptions, signal: AbortSignal): Promise<boolean> {
  if (options.form === 'tools' && options.format === 'parquet') {
    throw new UsageError(
      'Expected --format jsonl with --form tools, got parquet. Pass --format jsonl, or another form.',
    );
  }
  return runSelection(SFT, options, (grader) => toSftPlan({ ...options, grader }), signal);
}

export const SFT: DatasetKind<SftPlan, SftRow, SftSelection> = {
  name: 'sft',
  filters: SFT_FILTERS,
  // The margin of an episode is its score minus that of heuristic+constant.
  baselines: true,
  repeats: false,
  columns: SFT_COLUMNS,
  open: (plan, source) => new SftSelection(plan, source),
  provenanceOf: sftProvenanceOf,
  isCard: isSftCard,
  cardOf: sftCardText,
  wordsOf: (plan) => [
    ...given('--form', plan.form === 'single' ? null : plan.form),
    ...given('--objective', plan.objective),
    ...flag('--only-parsed', plan.onlyParsed),
    ...given('--min-score', plan.minScore),
    ...given('--min-margin', plan.minMargin),
    ...given('--max-belief-error', plan.maxBeliefError),
  ],
  words: { row: 'row', used: 'used' },
  noRows({ plan, leftOut }, why) {
    const remedies = Object.entries(REMEDIES).filter(([name]) => leftOut.has(name));
    const remedy =
      remedies.length > 0
        ? remedies.map(([, text]) => ` ${text(plan)}`).join('')
        : ' Relax the filters, or pass a file that rhythm-vec teach wrote.';
    return `Expected rows to train on, got none${why === '' ? '' : `; episodes left out because of: ${why}`}.${remedy}`;
  },
};

/** Remedies, by the reason for which episodes were left out. */
const REMEDIES: Readonly<Record<string, (plan: SftPlan) => string>> = {
  'another objective': ({ objective }) =>
    `Only teachers of objective ${objective} are used. Choose another (${OBJECTIVES.filter((name) => name !== objective).join(', ')}) with --objective.`,
  'used hidden state': () => 'Pass --allow-oracle to admit teachers that used hidden state.',
  'another seed': ({ seeds }) => `Only seeds ${rangeText(seeds)} are used. Choose others with --seeds.`,
};
