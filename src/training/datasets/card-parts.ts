/** The common parts of dataset cards. A card is Markdown with a YAML header. */
import type { Grader } from '../../engine/graders/grader.js';
import { GRADER_NAMES } from '../../world/fields.js';
import type { SelectionProvenance, Split } from './episode-selection.js';
import type { GrpoState, Provenance } from './grpo/grpo-rows.js';
import { MIX_OF_POLICIES } from './policy-mix.js';
import type { DatasetPlan } from './state-sampler.js';

/** Row counts by policy, profile mode and step. Every possible value has an entry. */
export interface GrpoCounts {
  readonly policies: ReadonlyMap<string, number>;
  readonly profileModes: ReadonlyMap<string, number>;
  readonly steps: ReadonlyMap<number, number>;
}

export class GrpoTally implements GrpoCounts {
  readonly policies: Map<string, number>;
  readonly profileModes: Map<string, number>;
  readonly steps: Map<number, number>;

  constructor({ profiles, steps: { first, last } }: DatasetPlan) {
    this.policies = zeros(MIX_OF_POLICIES.map(({ name }) => name));
    this.profileModes = zeros(profiles);
    this.steps = zeros(Array.from({ length: last - first + 1 }, (_, k) => first + k));
  }

  add(rows: readonly GrpoState[]): void {
    for (const { policy, profile_mode, step_index } of rows) {
      increase(this.policies, policy);
      increase(this.profileModes, profile_mode);
      increase(this.steps, step_index);
    }
  }
}

const zeros = <Key>(keys: readonly Key[]): Map<Key, number> => new Map(keys.map((key) => [key, 0]));

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A line that every card has and no other README has. */
const MARK = 'rhythm_vec:';

/** Returns whether a text is a card, of this release or another. */
export const isCard = (text: string): boolean => text.startsWith('---\n') && text.includes(`\n${MARK}\n`);

/** Metadata that the Hub reads from the header. */
interface HubMetadata {
  readonly title: string;
  readonly tasks: readonly string[];
  readonly tags: readonly string[];
  readonly rows: number;
  /** A file, or files by split. */
  readonly files: string | readonly { readonly split: string; readonly path: string }[];
}

/** Returns the YAML header. @param provenance the entries below `rhythm_vec:`, in their order, with keys in snake_case. */
export const headerText = (
  { title, tasks, tags, rows, files }: HubMetadata,
  provenance: object,
): string => `---
${entries({
  license: 'mit',
  pretty_name: title,
  language: ['en'],
  task_categories: tasks,
  tags: ['rhythm-vec', ...tags, 'trl', 'simulation'],
  size_categories: [sizeCategory(rows)],
  configs: [{ config_name: 'default', data_files: files }],
})}${MARK}
${entries(provenance, '  ')}---
`;

/** Formats an object as YAML. Each value is JSON, which is also YAML. */
const entries = (object: object, indent = ''): string =>
  Object.entries(object)
    .map(([key, value]) => `${indent}${key}: ${JSON.stringify(value)}\n`)
    .join('');

/** Returns the Hub's size category of a number of rows. */
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

/** A file that has rows. */
export interface SplitFile {
  readonly split: Split;
  readonly path: string;
}

/** Returns the header of a selection of episodes. @param totals numbers that come after the world's digest. */
export function selectionHeader(
  metadata: Pick<HubMetadata, 'title' | 'tags' | 'files'>,
  { schema, version, world_digest, ...provenance }: SelectionProvenance,
  totals: { readonly rows: number; readonly episodes: number; readonly episode_seeds?: string },
): string {
  const hub = { ...metadata, tasks: ['text-generation'], rows: totals.rows };
  return headerText(hub, { schema, version, world_digest, ...totals, ...provenance });
}

/** Returns the end of an introduction: the origin of the dataset, and the command that reproduces it. */
export const originText = (
  { version, world_digest }: Pick<Provenance, 'version' | 'world_digest'>,
  command: string,
  sameInputGives = 'command and files give',
): string => `The dataset was made by rhythm-vec ${version}, in the world
\`${world_digest}\`:

\`\`\`sh
${command}
\`\`\`

The same ${sameInputGives} the same bytes, on every machine, backend and number of threads.
`;

/** Returns the list of filters. */
export const filtersText = ({ filters }: SelectionProvenance): string =>
  `Filters:\n\n${filters.map((filter) => `- ${filter}\n`).join('')}\n`;

/** Returns the table of the numbers of episodes that were left out, by reason. */
export const leftOutTable = (leftOut: ReadonlyMap<string, number>): string =>
  table(['reason for leaving out', 'episodes'], [...leftOut]);

/** Returns the paragraph on evaluation seeds in the requested range. */
export const evalSeedsText = ({
  seeds,
  eval_seeds: evalSeeds,
}: Pick<Provenance, 'seeds' | 'eval_seeds'>): string =>
  evalSeeds.length === 0
    ? `Requested seeds: ${seeds}. **No evaluation seeds are among them**: results are reported on seeds 0-99 and from 10000 on.\n`
    : `Requested seeds: ${seeds}. **EVALUATION SEEDS ARE AMONG THEM: ${evalSeeds.join(' and ')}.** Do not use these seeds to ` +
      'evaluate a model that was trained on this dataset.\n';

/** Formats a Markdown table. */
export const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

/** Returns the last section: licence and schema. */
export const licenceText = ({ schema }: Pick<Provenance, 'schema'>): string => `## Licence

MIT, like rhythm-vec. Rows follow the schema \`${schema.name}\`, version ${schema.version}.
`;

/** Returns a grader as a Python expression. */
const pythonOf = ({ name, weights }: Grader): string =>
  JSON.stringify(GRADER_NAMES.includes(name) ? name : { name, weights });

/** Returns the section. @param grader the grader of the reward functions. */
export const trainingText = (grader: Grader): string => `## Training on it

TRL reads the column \`prompt\` and passes the other columns to the reward functions, with one entry per
completion. The reward functions are in \`python/rhythm_vec\` of the package. They call a server, which
\`npx rhythm-vec serve\` starts:

\`\`\`python
from datasets import load_dataset
from rhythm_vec import Client, reward_funcs

# The directory of this card. datasets does not accept ".".
dataset = load_dataset("path/to/this/folder", split="train")
rewards = reward_funcs(Client("http://127.0.0.1:8000"), grader=${pythonOf(grader)})

# GRPOTrainer(..., train_dataset=dataset, reward_funcs=rewards)
\`\`\`

In TypeScript, \`scoreReplay\` takes the same rows, and \`parseCompletions\` parses completions.
`;
