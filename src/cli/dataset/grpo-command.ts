/** `rhythm-vec dataset grpo`: writes rows for GRPO. */
import { type Command, Option } from 'commander';
import { FORMATS } from '../../shared/row-files/file-formats.js';
import { MIX } from '../../training/datasets/state-sampler.js';
import { PROFILE_NAMES } from '../../world/fields.js';
import type { Context } from '../context.js';
import {
  addEngineOptions,
  addShardOption,
  parseInteger,
  parseNames,
  parseSeeds,
  parseSteps,
} from '../shared-options.js';
import type { GrpoOptions } from './run-grpo.js';

const FORMAT_NAMES = FORMATS.map(({ name }) => name);

const HELP = `
Each row has a prompt, and the seed and actions that reproduce its state:
  {"prompt":[{"role":"system","content":...},{"role":"user","content":...}],"seed":8000,"profile_mode":"sampled",
   "step_index":2,"action_history":["sleep","deep_work"],"policy":"random"}
A mix of policies reaches diverse states: random, heuristic, open-loop, deviations from heuristic and open-loop, and the policy
habits, which plays at most three different actions. A combination of seed, profile and step repeats only after all were used.
README.md, beside the rows, is the dataset card: it has the shares of the policies, the columns, how to train, and the
command. The command gives the same bytes on every machine, and a longer dataset begins with the rows of a shorter one.
Profiles: sampled, discrete, ${PROFILE_NAMES.join(', ')}; ${MIX} is sampled,discrete.
  Each name of --profiles is used equally often.
The system message says what --grader pays for. Score completions under the same grader. The states do not depend on the grader.
Seeds 0-99 and seeds from 10000 on are kept for evaluation and refused; --allow-eval-seeds admits them.

Examples:
  rhythm-vec dataset grpo --rows 3000 --output grpo/train.jsonl
  rhythm-vec dataset grpo --rows 3000 --grader v3 --output grpo-v3/train.jsonl
  rhythm-vec dataset grpo --rows 3000 --profiles mix --steps 8-27 --seed 1 --output grpo-late/train.parquet
`;

/** Adds the options that determine the rows. `queue submit dataset grpo` has them too. */
export const addGrpoOptions = (command: Command): Command =>
  command
    .requiredOption('--rows <n>', 'number of rows', parseInteger)
    .option('--seeds <A-B>', 'seeds of the episodes (default: 100-9999)', parseSeeds)
    .option('--profiles <names>', 'profiles, comma-separated (default: sampled)', parseNames)
    .option('--steps <A-B>', 'range of steps to take rows from (default: 0-27)', parseSteps)
    .option('--seed <n>', 'seed of the selection of states (default: 0)', parseInteger)
    .addOption(
      new Option(
        '--grader <name|file>',
        'the grader that prompts describe: v1, v2, v3 or a grader file',
      ).default('v2'),
    )
    .option('--allow-eval-seeds', 'admit seeds kept for evaluation; the card notes this option');

export function addGrpoCommand(dataset: Command, { signal }: Context): void {
  const command = addGrpoOptions(dataset.command('grpo'))
    .description(
      'Write rows for GRPO: prompts of diverse states with their seeds and actions, as JSON lines or Parquet.',
    )
    .requiredOption('--output <file>', 'the file to write; the card, README.md, is written beside it')
    .addOption(
      new Option('--format <name>', 'the format of --output (default: by its ending)').choices(FORMAT_NAMES),
    );
  addEngineOptions(addShardOption(command))
    .addHelpText('after', HELP)
    .action(async (options: GrpoOptions) => {
      const { runGrpo } = await import('./run-grpo.js');
      await runGrpo(options, signal);
    });
}
