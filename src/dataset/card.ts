/** The dataset card: what a README.md beside the rows says of them, to people and to those who load them. */
import { MIX_OF_POLICIES, SHARES } from './mix.js';
import type { Provenance } from './provenance.js';
import type { Tally } from './tally.js';
import { TRAINING } from './training.js';

interface Card {
  readonly provenance: Provenance;
  readonly tally: Tally;
  /** What the file of rows is called. */
  readonly file: string;
  /** What makes it again. */
  readonly command: string;
}

/** A line that every card has, and no other README. */
const MARK = 'rhythm_vec:';

/** Whether a text is a card, of this release or another. */
export const isCard = (text: string): boolean => text.startsWith('---\n') && text.includes(`\n${MARK}\n`);

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
    evalSeedsSaid(card),
    columns(),
    contents(card),
    TRAINING,
    ending(card),
  ].join('\n');

/** JSON is YAML, too. */
const lines = (entries: object, indent = ''): string =>
  Object.entries(entries)
    .map(([key, value]) => `${indent}${key}: ${JSON.stringify(value)}\n`)
    .join('');

const header = ({ provenance, file }: Card): string => `---
${lines({
  license: 'mit',
  pretty_name: 'Rhythm: states for GRPO',
  language: ['en'],
  task_categories: ['reinforcement-learning', 'text-generation'],
  tags: ['rhythm-vec', 'grpo', 'trl', 'simulation'],
  size_categories: [sizeCategory(provenance.rows)],
  configs: [{ config_name: 'default', data_files: file }],
})}${MARK}
${lines(provenance, '  ')}---
`;

/** As dataset hubs call sizes. */
function sizeCategory(rows: number): string {
  const bounds: readonly [string, number][] = [
    ['1K', 1e3],
    ['10K', 1e4],
    ['100K', 1e5],
    ['1M', 1e6],
    ['10M', 1e7],
    ['100M', 1e8],
    ['1B', 1e9],
  ];
  const above = bounds.findIndex(([, bound]) => rows < bound);
  if (above === 0) return 'n<1K';
  return above < 0 ? '1B<n<10B' : `${bounds[above - 1][0]}<n<${bounds[above][0]}`;
}

const introduction = ({ provenance, command }: Card): string => `# Rhythm: states for GRPO

${provenance.rows} moments of the Rhythm life simulator, each as a prompt and with what replays it: an agent guides one person
through one week of 28 steps and must work out, from how the person responds, who that person is. Made by rhythm-vec
${provenance.version}, in the world \`${provenance.world_digest}\`:

\`\`\`sh
${command}
\`\`\`

The same command gives the same bytes, on every machine, backend and number of threads.
`;

const evalSeedsSaid = ({ provenance: { seeds, eval_seeds: held } }: Card): string =>
  held.length === 0
    ? `Seeds are ${seeds}. **No evaluation seeds are among them**: results are reported on 0-99 and from 10000 on.\n`
    : `Seeds are ${seeds}. **EVALUATION SEEDS ARE AMONG THEM: ${held.join(' and ')}.** Do not report results on these for ` +
      'anything that was trained on this dataset.\n';

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

const policyTable = ({ policies }: Tally): string =>
  table(
    ['policy', 'rows', 'share', 'what it plays'],
    MIX_OF_POLICIES.map(({ name, share, does }) => [
      name,
      policies.get(name) ?? 0,
      `${share} of ${SHARES}`,
      does,
    ]),
  );

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

const ending = ({ provenance: { schema } }: Card): string => `## Licence

MIT, as rhythm-vec. Rows follow the schema \`${schema.name}\`, version ${schema.version}.
`;
