/** The card of a dataset for GRPO: a README.md that describes the rows to readers and loaders. */
import {
  evalSeedsText,
  type GrpoCounts,
  headerText,
  licenceText,
  originText,
  table,
  trainingText,
} from '../card-parts.js';
import { MIX_OF_POLICIES, TOTAL_SHARE } from '../policy-mix.js';
import type { Provenance } from './grpo-rows.js';

interface Card {
  readonly provenance: Provenance;
  readonly tally: GrpoCounts;
  /** The name of the file of rows. */
  readonly file: string;
  /** The command that reproduces the dataset. */
  readonly command: string;
}

/** Returns the paths of the data files that a card's YAML header names; [] for a header of another form. */
export function filesOfCard(card: string): readonly string[] {
  const config = /^configs: \[\{"config_name":"default","data_files":(.*)\}\]$/m.exec(card);
  try {
    const files: string | (string | { path: string })[] = JSON.parse(config?.[1] ?? '[]');
    return [files].flat().map((file) => (typeof file === 'string' ? file : String(file.path)));
  } catch {
    return [];
  }
}

/** Returns the card: Markdown with a YAML header. */
export const cardText = (card: Card): string =>
  [
    header(card),
    introduction(card),
    evalSeedsText(card.provenance),
    columns(card),
    contents(card),
    trainingText(card.provenance.grader),
    licenceText(card.provenance),
  ].join('\n');

const header = ({ provenance, file }: Card): string =>
  headerText(
    {
      title: 'Rhythm: states for GRPO',
      tasks: ['reinforcement-learning', 'text-generation'],
      tags: ['grpo'],
      rows: provenance.rows,
      files: file,
    },
    provenance,
  );

const introduction = ({ provenance, command }: Card): string => `# Rhythm: states for GRPO

${provenance.rows} states of episodes of the Rhythm life simulator. Each row has the prompt of a state, and the seed and actions that
reproduce it. In an episode, an agent guides one person through a week of 28 steps and must infer the person's hidden
profile from the responses. ${originText(provenance, command, 'command gives')}`;

const columns = ({ provenance: { grader } }: Card): string => `## Columns

| column | content |
| --- | --- |
| \`prompt\` | a system message with the rules and a user message with the observation; each has \`role\` and \`content\` |
| \`seed\` | the seed of the episode; it also selects the profile if \`profile_mode\` is sampled or discrete |
| \`profile_mode\` | the profile: sampled, discrete (one of three, by the seed), or the name of one of the three |
| \`step_index\` | the number of steps before the state, 0 to 27 |
| \`action_history\` | the names of the actions in these steps |
| \`policy\` | the policy that chose these actions |

\`seed\`, \`profile_mode\` and \`action_history\` are all that a replay needs. No prompt states the hidden profile.
The system message says what grader ${grader.name} pays for. Score completions under that grader.
`;

const contents = ({ tally }: Card): string => `## Contents

A mix of policies plays the episodes. Each row is one state of an episode of its own. No combination of seed, profile mode
and step repeats before all others were used. All prompts of step 0 are equal, because nothing has been observed.

${policyTable(tally)}
${table(['profile mode', 'rows'], [...tally.profileModes])}
${table(['step_index', 'rows'], [...tally.steps])}`;

const policyTable = ({ policies }: GrpoCounts): string =>
  table(
    ['policy', 'rows', 'share', 'description'],
    MIX_OF_POLICIES.map(({ name, share, description }) => [
      name,
      policies.get(name) ?? 0,
      `${share} of ${TOTAL_SHARE}`,
      description,
    ]),
  );
