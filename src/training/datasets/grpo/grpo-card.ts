/** The dataset card: a README.md that describes the rows to people and loaders. */
import { commandText, ending, evalSeedsSaid, headerText, table } from '../card-parts.js';
import { TRAINING } from '../card-training.js';
import { MIX_OF_POLICIES, SHARES } from '../policy-mix.js';
import type { GrpoCounts } from '../row-counts.js';
import type { Provenance } from './grpo-provenance.js';

interface Card {
  readonly provenance: Provenance;
  readonly tally: GrpoCounts;
  /** What the file of rows is called. */
  readonly file: string;
  /** What makes it again. */
  readonly command: string;
}

/** The file that a card is of; null if it does not say so as this release does. */
export function fileOfCard(card: string): string | null {
  const named = /^configs: \[\{"config_name":"default","data_files":(".*")\}\]$/m.exec(card);
  try {
    return named === null ? null : JSON.parse(named[1]);
  } catch {
    return null;
  }
}

/** The card as Markdown, with a header in YAML. */
export const cardText = (card: Card): string =>
  [
    header(card),
    introduction(card),
    evalSeedsSaid(card.provenance),
    columns(),
    contents(card),
    TRAINING,
    ending(card.provenance),
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

${provenance.rows} moments of the Rhythm life simulator, each as a prompt and with what replays it: an agent guides one person
through one week of 28 steps and must work out, from how the person responds, who that person is. Made by rhythm-vec
${provenance.version}, in the world \`${provenance.world_digest}\`:

${commandText(command)}
The same command gives the same bytes, on every machine, backend and number of threads.
`;

const columns = (): string => `## Columns

| column | what it is |
| --- | --- |
| \`messages\` | the prompt: a system message, the rules, and a user message, what an agent sees; each with \`role\` and \`content\` |
| \`seed\` | of the week, and of the person where \`profile_mode\` is sampled or discrete |
| \`profile_mode\` | whose week it is: sampled, discrete (one of three, by the seed), or one of these by name |
| \`step_index\` | steps taken before, 0 to 27 |
| \`action_history\` | the actions taken in them, by name |
| \`policy\` | which policy of the mix took them |

\`seed\`, \`profile_mode\` and \`action_history\` are all that a replay needs. No prompt tells who the person is.
`;

const contents = ({ tally }: Card): string => `## Contents

Weeks are played by a mix of policies, and each row stops in one of them. No person, week and time come up a second time
before all have come up; at step 0 all prompts are alike, since nothing has been seen.

${policyTable(tally)}
${table(['profile mode', 'rows'], [...tally.profileModes])}
${table(['step_index', 'rows'], [...tally.steps])}`;

const policyTable = ({ policies }: GrpoCounts): string =>
  table(
    ['policy', 'rows', 'share', 'what it plays'],
    MIX_OF_POLICIES.map(({ name, share, does }) => [
      name,
      policies.get(name) ?? 0,
      `${share} of ${SHARES}`,
      does,
    ]),
  );
