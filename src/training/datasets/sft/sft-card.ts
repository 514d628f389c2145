/** The card of a dataset for SFT: whose answers they are, what those wanted, and what came of it. */

import { counted, decimals, intervalInText } from '../../../evaluation/format-figures.js';
import type { RowSummary } from '../../../evaluation/reevaluation/reevaluation-tally.js';
import { ORACLE_MARK } from '../../../rollouts/trajectories/player-name.js';
import { SCHEMAS } from '../../../shared/schemas.js';
import { commandText, ending, evalSeedsSaid, headerText, isCard, table } from '../card-parts.js';
import { type Range, rangeText } from '../dataset-seeds.js';
import type { SftSelection, Source } from './selection.js';
import type { Objective } from './sft-options.js';
import type { SftProvenance } from './sft-provenance.js';
import { SPLITS, type Split } from './split.js';

export interface SftCard {
  readonly provenance: SftProvenance;
  readonly selection: Pick<SftSelection, 'counts' | 'sources' | 'leftOut' | 'answersLeftOut'>;
  /** The files by split, those that there are. */
  readonly files: readonly { readonly split: Split; readonly path: string }[];
  /** What makes them again. */
  readonly command: string;
}

/** Whether a text is a card of such a dataset. */
export const isSftCard = (text: string): boolean =>
  isCard(text) && text.includes(`"${SCHEMAS.sftDataset.name}"`);

/** The card as Markdown, with a header in YAML. */
export const sftCardText = (card: SftCard): string =>
  [
    header(card),
    introduction(card),
    OBJECTIVE_SAID[card.provenance.objective as Objective] ?? OBJECTIVE_SAID.none,
    oracleSaid(card),
    evalSeedsSaid(card.provenance),
    seedsThereSaid(card),
    COLUMNS,
    contents(card),
    training(card),
    ending(card.provenance),
  ].join('\n');

const totalOf = ({ selection: { counts } }: SftCard, what: 'rows' | 'episodes'): number =>
  SPLITS.reduce((sum, split) => sum + counts[split][what], 0);

/** Of all weeks that became rows. */
function seedsThere({ selection: { counts } }: SftCard): Range & { readonly count: number } {
  const seeds = SPLITS.flatMap((split) => [...counts[split].seeds]).sort((a, b) => a - b);
  return { first: seeds[0], last: seeds[seeds.length - 1], count: seeds.length };
}

function seedsThereSaid(card: SftCard): string {
  const { first, last, count } = seedsThere(card);
  return `Weeks that are there: of ${counted(count, 'seed')}, ${rangeText({ first, last })}.\n`;
}

function header(card: SftCard): string {
  const { schema, version, world_digest, ...provenance } = card.provenance;
  const { first, last } = seedsThere(card);
  const counted = {
    rows: totalOf(card, 'rows'),
    episodes: totalOf(card, 'episodes'),
    episode_seeds: rangeText({ first, last }),
  };
  const shelf = {
    title: 'Rhythm: answers of a teacher, for SFT',
    tasks: ['text-generation'],
    tags: ['sft', `objective-${provenance.objective ?? 'none'}`],
    rows: counted.rows,
    files: card.files,
  };
  return headerText(shelf, { schema, version, world_digest, ...counted, ...provenance });
}

const introduction = (card: SftCard): string => `# Rhythm: answers of a teacher, for SFT

${totalOf(card, 'rows')} answers from ${totalOf(card, 'episodes')} weeks of the Rhythm life simulator: an agent guides one person through one
week of 28 steps and must work out, from how the person responds, who that person is. Every week was replayed, bit for bit as
its trajectory says. Made by rhythm-vec ${card.provenance.version}, in the world \`${card.provenance.world_digest}\`:

${commandText(card.command)}
The same command and files give the same bytes, on every machine, backend and number of threads.
`;

const OBJECTIVE_SAID: Readonly<Record<Objective, string>> = {
  wellbeing: `## What the teacher wanted

**Wellbeing**: the mean over the week of the meters as the person weighs them, and the grade without adaptation. Not the
grader's final score, which pays for neglecting the first half of the week. **The prompts say otherwise than the answers do**:
the system message lists what the grader pays for, rewards that rise from the first half to the second included, and the
answers want the whole week to be good for the person. A student learns to do so under that very message.
`,
  score: `## What the teacher wanted

**THE GRADER'S FINAL SCORE, AND NOTHING ELSE.** A student of these answers learns to earn that score, whatever it takes.
Grader v2 pays for a second half that is better than the first, so that **neglecting the person in the first half pays**: compare
the first-half mean below with the heuristic's before anything is trained on this. \`--objective wellbeing\` makes a dataset of
teachers that want the week to go well.
`,
  none: `## What the teacher wanted

Nothing by name: no objective was given but the prompt. Compare the first-half mean below with the heuristic's: one that is lower
says that the first half of the week was neglected for the second.
`,
};

const oracleSaid = ({ selection }: SftCard): string =>
  selection.sources.some(({ player }) => player.oracle)
    ? '**SOME TEACHERS WERE SHOWN HIDDEN NUMBERS.** A student cannot know what they knew, and learns to guess.\n'
    : 'No teacher was shown hidden numbers.\n';

const COLUMNS = `## Columns

| column | what it is |
| --- | --- |
| \`messages\` | a system message, the rules, a user message, what an agent sees, and an assistant message, the answer; each with \`role\` and \`content\` |
| \`seed\` | of the week, and of the person where \`profile_mode\` is sampled or discrete |
| \`profile_mode\` | whose week it is: sampled, discrete (one of three, by the seed), or one of these by name |
| \`condition\` | under which it was played |
| \`step_index\` | steps taken before, 0 to 27 |
| \`teacher\` | who answered |
| \`model\` | its model or variant; null for none |
| \`objective\` | what it wanted; null for nothing by name |
| \`final_score\` | of the whole week, under the grader of the header |

Rows of a week follow each other. No prompt tells who the person is. Answers without an action or a belief are not among them.
`;

const contents = (card: SftCard): string => `## Contents

All rows of a seed are on one side, whoever played it.

${splitTable(card)}
Means over the weeks, with 95 % intervals, and those of the heuristic with the constant belief, heuristic+constant, in the same
weeks, under ${card.provenance.grader.name}. A score that does not beat it shows no inference: the margin is the difference, week by week.

${card.selection.sources.map(sourceTable).join('\n')}
Asked for:

${card.provenance.filters.map((filter) => `- ${filter}\n`).join('')}
${leftOutTable(card)}`;

const splitTable = ({ selection: { counts } }: SftCard): string =>
  table(
    ['split', 'rows', 'weeks', 'seeds'],
    SPLITS.map((split) => {
      const { rows, episodes, seeds } = counts[split];
      return [split, rows, episodes, seeds.size];
    }),
  );

const NUMBERS: readonly [head: string, text: (of: RowSummary) => string][] = [
  ['final score', ({ finalScore }) => intervalInText(finalScore)],
  ['belief MAE', ({ beliefMae }) => decimals(beliefMae)],
  ['first-half mean', ({ firstHalfMean }) => decimals(firstHalfMean)],
  ['second-half mean', ({ secondHalfMean }) => decimals(secondHalfMean)],
  ['adaptation', ({ components }) => decimals(components.adaptation)],
];

function sourceTable({ player, rows, own, constant, scores, margins }: Source): string {
  const { teacher, model, objective, oracle } = player;
  const name = `${teacher}${model === null ? '' : `, model ${model}`}, objective ${objective ?? 'none'}`;
  const [mine, other] = [own.summary(), constant.summary()];
  const line = (who: string, of: RowSummary) => [who, of.episodes, ...NUMBERS.map(([, text]) => text(of))];
  const neglect =
    mine.firstHalfMean < other.firstHalfMean
      ? "\n**THE FIRST HALF OF THESE WEEKS WENT WORSE THAN THE HEURISTIC'S.** A student learns that, too.\n"
      : '';
  const numbers = table(
    [`${rows} rows`, 'weeks', ...NUMBERS.map(([head]) => head)],
    [line(cell(`${name}${oracle ? ORACLE_MARK : ''}`), mine), line('heuristic+constant', other)],
  );
  const spread = table(
    ['of the weeks', 'least', 'median', 'most'],
    [
      ['final score', ...spreadOf(scores)],
      ['margin over heuristic+constant', ...spreadOf(margins)],
    ],
  );
  return `${numbers}${neglect}\n${spread}`;
}

/** Least, median and most. */
function spreadOf(values: readonly number[]): string[] {
  const sorted = Float64Array.from(values).sort();
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  return [sorted[0], median, sorted[sorted.length - 1]].map(decimals);
}

/** A name that no table takes for a border. */
const cell = (name: string): string => name.replaceAll('|', '\\|');

function leftOutTable({ selection: { leftOut, answersLeftOut } }: SftCard): string {
  const answers = `Answers of these weeks without an action or a belief, left out: ${answersLeftOut}.\n`;
  if (leftOut.size === 0) return `No week was left out. ${answers}`;
  return `${table(['weeks left out because of', 'weeks'], [...leftOut])}\n${answers}`;
}

const training = ({ files }: SftCard): string => `## Training on it

With TRL:

\`\`\`python
from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset(".")
trainer = SFTTrainer(
    model="Qwen/Qwen2.5-3B-Instruct",
    args=SFTConfig(assistant_only_loss=True),
    train_dataset=dataset["train"],
${files.some(({ split }) => split === 'validation') ? '    eval_dataset=dataset["validation"],\n' : ''})
\`\`\`

\`assistant_only_loss\` needs a chat template that marks what the assistant says; without one leave it out.
`;
