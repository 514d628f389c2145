/** The card of a dataset for DPO. */
import { SCHEMAS } from '../../../shared/schemas.js';
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
import type { DpoSelection } from './dpo-selection.js';

interface DpoCard {
  readonly provenance: SelectionProvenance;
  readonly selection: DpoSelection;
  readonly files: readonly SplitFile[];
  /** The command that reproduces the dataset. */
  readonly command: string;
}

/** Returns whether a text is the card of a dataset for DPO. */
export const isDpoCard = (text: string): boolean =>
  isCard(text) && text.includes(`"${SCHEMAS.dpoDataset.name}"`);

/** Returns the card: Markdown with a YAML header. */
export const dpoCardText = (card: DpoCard): string =>
  [
    header(card),
    introduction(card),
    criterionText(card),
    evalSeedsText(card.provenance),
    COLUMNS,
    contents(card),
    TRAINING,
    licenceText(card.provenance),
  ].join('\n');

const header = ({ provenance, selection, files }: DpoCard): string =>
  selectionHeader(
    { title: 'Rhythm: pairs of answers for DPO', tags: ['dpo', 'preference'], files },
    provenance,
    { rows: selection.total('rows'), episodes: selection.total('episodes') },
  );

const introduction = ({
  provenance,
  selection,
  command,
}: DpoCard): string => `# Rhythm: pairs of answers for DPO

${selection.total('rows')} pairs of answers to the same state, from ${selection.total('episodes')} episodes of the Rhythm life simulator. In an episode, an agent
guides one person through a week of 28 steps and must infer the person's hidden profile from the responses. Every episode was
replayed and equals its recorded trajectory bit for bit. ${originText(provenance, command)}`;

function criterionText({ provenance: { by, grader } }: DpoCard): string {
  const what =
    by === 'score'
      ? `the final score of the episode under ${grader.name}`
      : "the sum of the rewards from the state on; the last reward contains the grade under the episode's own grader";
  const rewardsNeglect = by === 'score' && (grader.weights.adaptation ?? 0) > 0;
  return [
    '## Which answer is better',
    '',
    `The chosen answer's episode has the higher value: ${what}. Both episodes have the same seed, profile, grader and actions up to`,
    'the state, and take different actions in it. What follows in the episodes differs too, so single pairs are noisy.',
    ...(rewardsNeglect
      ? [
          `**${grader.name} rewards a second half that is better than the first, so neglect of the first half counts as better.**`,
        ]
      : []),
    '',
  ].join('\n');
}

const COLUMNS = `## Columns

| column | content |
| --- | --- |
| \`prompt\` | a system message with the rules and a user message with the observation; each has \`role\` and \`content\` |
| \`chosen\`, \`rejected\` | an assistant message each: the better and the worse answer |
| \`seed\` | the seed of both episodes; it also selects the profile if \`profile_mode\` is sampled or discrete |
| \`profile_mode\` | the profile: sampled, discrete (one of three, by the seed), or the name of one of the three |
| \`step_index\` | the number of steps before the state, 0 to 27 |
| \`chosen_action\`, \`rejected_action\` | the names of the actions |
| \`chosen_value\`, \`rejected_value\` | the values that decided which answer is better |
| \`chosen_teacher\`, \`rejected_teacher\` | the policies that answered |
| \`chosen_model\`, \`rejected_model\` | the language models that answered; null for other policies |

No prompt states the hidden profile. Answers without an action or a belief are left out.
`;

const contents = ({ provenance, selection: { counts, leftOut } }: DpoCard): string => `## Contents

All rows of a seed are in one split.

${table(
  ['split', 'pairs', 'seeds'],
  SPLITS.map((split) => [split, counts[split].rows, counts[split].seeds.size]),
)}
${filtersText(provenance)}${leftOut.size === 0 ? 'No episode was left out.\n' : leftOutTable(leftOut)}`;

const TRAINING = `## Training on it

With TRL, which reads the columns \`prompt\`, \`chosen\` and \`rejected\`:

\`\`\`python
from datasets import load_dataset
from trl import DPOConfig, DPOTrainer

# The directory of this card. datasets does not accept ".".
dataset = load_dataset("path/to/this/folder")
columns = ["prompt", "chosen", "rejected"]
trainer = DPOTrainer(
    model="Qwen/Qwen2.5-3B-Instruct",
    args=DPOConfig(),
    train_dataset=dataset["train"].select_columns(columns),
)
\`\`\`
`;
