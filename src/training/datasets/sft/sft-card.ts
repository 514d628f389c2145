/** The card of a dataset for SFT: the teachers, their objective, and their results. */

import { type Grader, isSameGrader } from '../../../engine/graders/grader.js';
import { counted, decimals, listed, plainInterval } from '../../../evaluation/format-results.js';
import type { RowSummary } from '../../../evaluation/reevaluation/reevaluation.js';
import type { ChatForm } from '../../../rollouts/trajectories/trajectory-episode.js';
import { ORACLE_MARK } from '../../../rollouts/trajectories/trajectory-episode.js';
import { camelCase } from '../../../shared/names.js';
import { SCHEMAS } from '../../../shared/schemas.js';
import { rangeText } from '../../../world/conditions.js';
import {
  evalSeedsText,
  filtersText,
  isCard,
  leftOutTable,
  licenceText,
  originText,
  type SplitFile,
  selectionHeader,
  table,
} from '../card-parts.js';
import { type SelectionProvenance, SPLITS } from '../episode-selection.js';
import type { Range } from '../state-sampler.js';
import type { Objective } from './sft-rows.js';
import type { SftSelection, TeacherStatistics } from './sft-selection.js';

interface SftCard {
  readonly provenance: SelectionProvenance;
  readonly selection: SftSelection;
  readonly files: readonly SplitFile[];
  /** The command that reproduces the dataset. */
  readonly command: string;
}

/** Returns whether a text is the card of a dataset for SFT. */
export const isSftCard = (text: string): boolean =>
  isCard(text) && text.includes(`"${SCHEMAS.sftDataset.name}"`);

/** Returns the card: Markdown with a YAML header. */
export const sftCardText = (card: SftCard): string =>
  [
    header(card),
    introduction(card),
    objectiveText(card),
    promptsText(card),
    oracleText(card),
    evalSeedsText(card.provenance),
    episodeSeedsText(card),
    columnsText(card),
    contents(card),
    training(card),
    licenceText(card.provenance),
  ].join('\n');

/** Returns the first and last seed of the selected episodes, and the number of seeds. */
function episodeSeeds({ selection: { counts } }: SftCard): Range & { readonly count: number } {
  const seeds = SPLITS.flatMap((split) => [...counts[split].seeds]).sort((a, b) => a - b);
  return { first: seeds[0], last: seeds[seeds.length - 1], count: seeds.length };
}

function episodeSeedsText(card: SftCard): string {
  const seeds = episodeSeeds(card);
  return `Selected episodes: ${counted(seeds.count, 'seed')}, ${rangeText(seeds)}.\n`;
}

function header(card: SftCard): string {
  const { provenance, selection, files } = card;
  const tags = ['sft', `objective-${provenance.objective ?? 'none'}`];
  return selectionHeader({ title: 'Rhythm: teacher answers for SFT', tags, files }, provenance, {
    rows: selection.total('rows'),
    episodes: selection.total('episodes'),
    episode_seeds: rangeText(episodeSeeds(card)),
  });
}

const introduction = ({
  provenance,
  selection,
  command,
}: SftCard): string => `# Rhythm: teacher answers for SFT

${selection.total('rows')} answers from ${selection.total('episodes')} episodes of the Rhythm life simulator. In an episode, an agent guides one person through a week of 28
steps and must infer the person's hidden profile from the responses. Every episode was replayed and equals its recorded
trajectory bit for bit. ${originText(provenance, command)}`;

const OBJECTIVES: Readonly<Record<Objective, string>> = {
  wellbeing: `## Objective

**Wellbeing**: the teacher maximises the episode's mean of the meters, weighted as the profile weights them, and the grade
without the adaptation component. It does not maximise the grader's final score.
`,
  score: `## Objective

**ONLY THE GRADER'S FINAL SCORE.** A student of these answers learns to maximise that score by any means.
`,
  none: `## Objective

**None**: the teacher states no objective. Compare the first-half mean below with that of the heuristic. If it is lower, the
teacher neglected the first half of the episodes for the second.
`,
};

/** Text added to the objective if a grader of the episodes pays for a second half that is better than the first. */
const NEGLECT: Readonly<Record<Objective, string>> = {
  wellbeing: `That score rewards neglect of the first half. **The prompts differ from the answers**: the system message lists all
components of the grader, including rewards that rise from the first half to the second, but the answers aim at wellbeing
during the whole episode. A student learns to aim at wellbeing under this system message.
`,
  score: `The grader rewards a second half that is better than the first, so **neglect of the first half increases the score**. Compare
the first-half mean below with that of the heuristic before you train on this dataset. \`--objective wellbeing\` makes a
dataset of teachers that maximise wellbeing.
`,
  none: '',
};

function objectiveText({ provenance, selection }: SftCard): string {
  const objective = (provenance.objective ?? 'none') as Objective;
  const paysForAdaptation = [...selection.graders.values()].some(
    ({ grader }) => grader.weights.adaptation > 0,
  );
  return `${OBJECTIVES[objective]}${paysForAdaptation ? NEGLECT[objective] : ''}`;
}

/** Names the graders that the prompts describe, and warns if the scores are those of another grader. */
function promptsText({ provenance: { grader }, selection: { graders } }: SftCard): string {
  const described = [...graders.values()];
  const names = described.map((each) => `${each.grader.name} (${counted(each.episodes, 'episode')})`);
  const differs = described.some((each) => !isSameGrader(each.grader, grader));
  const warning = `**SCORES AND MARGINS ARE UNDER ${grader.name}, BUT PROMPTS DESCRIBE ANOTHER GRADER.**`;
  return [
    `The prompts describe the grader of their episode: ${listed(names)}.`,
    ...(differs ? [warning] : []),
    '',
  ].join('\n');
}

const oracleText = ({ selection }: SftCard): string =>
  selection.teachers.some(({ player }) => player.oracle)
    ? '**SOME TEACHERS USED HIDDEN STATE.** A student does not see it, and learns to guess it.\n'
    : 'No teacher used hidden state.\n';

const MESSAGES: Readonly<Record<ChatForm, string>> = {
  single:
    'a system message with the rules, a user message with the observation, and an assistant message with the answer',
  conversation:
    'an episode: a system message with the rules, and user messages with the states and assistant messages with the answers in turn',
  tools:
    'an episode: a system message with the rules, a user message with the first state, assistant messages with `tool_calls` of the tool `act`, and messages of that tool with the states',
};

const columnsText = ({ selection: { plan } }: SftCard): string => `## Columns

| column | content |
| --- | --- |
| \`messages\` | ${MESSAGES[plan.form]}; each has \`role\` and \`content\` |
| \`seed\` | the seed of the episode; it also selects the profile if \`profile_mode\` is sampled or discrete |
| \`profile_mode\` | the profile: sampled, discrete (one of three, by the seed), or the name of one of the three |
| \`condition\` | the condition of the episode |
| \`step_index\` | the number of steps before the state, 0 to 27 |
| \`teacher\` | the teacher that answered |
| \`model\` | the teacher's model; null if it has none |
| \`objective\` | the teacher's objective; null if it has none |
| \`final_score\` | the final score of the episode, under the grader in the header |

The rows of an episode are consecutive. No prompt states the hidden profile. Answers without an action or a belief are left out.
`;

const contents = (card: SftCard): string => `## Contents

All rows of a seed are in one split, for all teachers.

${splitTable(card)}
For each teacher, one table has means over the episodes under ${card.provenance.grader.name}. Its second row has the means of heuristic+constant (the
heuristic with the constant belief) in the same episodes. Final scores have 95 % intervals. Another table has minima, medians and
maxima. The margin is the teacher's final score minus that of heuristic+constant in an episode.
A margin shows no inference: a policy that plays fixed actions can have one. \`rhythm-vec eval\` names the score to exceed, the yardstick.

${card.selection.teachers
  .map((teacher) => teacherTable(teacher, figuresUnder(card.provenance.grader)))
  .join('\n')}
${filtersText(card.provenance)}${leftOutText(card)}`;

const splitTable = ({ selection: { counts } }: SftCard): string =>
  table(
    ['split', 'rows', 'episodes', 'seeds'],
    SPLITS.map((split) => {
      const { rows, episodes, seeds } = counts[split];
      return [split, rows, episodes, seeds.size];
    }),
  );

/** The columns of the tables of teachers: a head each, and a function that formats a summary's value. */
const FIGURES: readonly [head: string, text: (summary: RowSummary) => string][] = [
  ['final score', ({ finalScore }) => plainInterval(finalScore)],
  ['belief MAE', ({ beliefMae }) => decimals(beliefMae)],
  ['first-half mean', ({ firstHalfMean }) => decimals(firstHalfMean)],
  ['second-half mean', ({ secondHalfMean }) => decimals(secondHalfMean)],
];

/** Returns the columns of a table: FIGURES, and adaptation, wellbeing and belief_skill if this grader weighs them. */
const figuresUnder = ({ weights }: Pick<Grader, 'weights'>): typeof FIGURES => [
  ...FIGURES,
  ...['adaptation', 'wellbeing', 'belief_skill']
    .filter((name) => weights[name] !== 0)
    .map((name): (typeof FIGURES)[number] => [
      name.replace('_', ' '),
      ({ components }) => decimals(components[camelCase(name)]),
    ]),
];

/** Returns the tables of one teacher's episodes. */
function teacherTable(
  { player, rows, scores, margins, ...tallies }: TeacherStatistics,
  figures: typeof FIGURES,
): string {
  const { model, objective, oracle } = player;
  const name = `${player.teacher}${model === null ? '' : `, model ${model}`}, objective ${objective ?? 'none'}`;
  const [teacher, constant] = [tallies.teacher.summary(), tallies.constant.summary()];
  const line = (title: string, summary: RowSummary) => [
    title,
    summary.episodes,
    ...figures.map(([, text]) => text(summary)),
  ];
  const neglect =
    teacher.firstHalfMean < constant.firstHalfMean
      ? "\n**THE FIRST-HALF MEAN IS LOWER THAN THE HEURISTIC'S.** A student learns this neglect.\n"
      : '';
  const numbers = table(
    [`${rows} rows`, 'episodes', ...figures.map(([head]) => head)],
    [line(escapeBars(`${name}${oracle ? ORACLE_MARK : ''}`), teacher), line('heuristic+constant', constant)],
  );
  const spread = table(
    ['per episode', 'minimum', 'median', 'maximum'],
    [
      ['final score', ...spreadOf(scores)],
      ['margin over heuristic+constant', ...spreadOf(margins)],
    ],
  );
  return `${numbers}${neglect}\n${spread}`;
}

/** Returns minimum, median and maximum. */
function spreadOf(values: readonly number[]): string[] {
  const sorted = Float64Array.from(values).sort();
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  return [sorted[0], median, sorted[sorted.length - 1]].map(decimals);
}

/** Escapes vertical bars, which would end a cell of a table. */
const escapeBars = (name: string): string => name.replaceAll('|', '\\|');

function leftOutText({ selection: { leftOut, answersLeftOut } }: SftCard): string {
  const answers = `Answers of the selected episodes without an action or a belief, left out: ${answersLeftOut}.\n`;
  if (leftOut.size === 0) return `No episode was left out. ${answers}`;
  return `${leftOutTable(leftOut)}\n${answers}`;
}

const training = ({ files }: SftCard): string => `## Training on it

With TRL:

\`\`\`python
from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

# The directory of this card. datasets does not accept ".".
dataset = load_dataset("path/to/this/folder")
trainer = SFTTrainer(
    model="Qwen/Qwen2.5-3B-Instruct",
    args=SFTConfig(assistant_only_loss=True),
    train_dataset=dataset["train"],
${files.some(({ split }) => split === 'validation') ? '    eval_dataset=dataset["validation"],\n' : ''})
\`\`\`

\`assistant_only_loss\` needs a chat template that marks the assistant's tokens. Leave it out if the template does not.
`;
