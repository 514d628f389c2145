/** `rhythm-vec dataset grpo`. What makes the rows is loaded when they are asked for. */
import { type Command, Option } from 'commander';
import { FORMATS } from '../../dataset/formats.js';
import { MIX } from '../../dataset/options.js';
import { PROFILE_NAMES } from '../../world/fields.js';
import type { Context } from '../context.js';
import { addEngineOptions, parseInteger, parseNames, parseSeeds, parseSteps } from '../options.js';
import type { GrpoOptions } from './grpo.js';

const FORMAT_NAMES = FORMATS.map(({ name }) => name);

const HELP = `
A row is a prompt and what replays it:
  {"messages":[{"role":"system","content":...},{"role":"user","content":...}],"seed":8000,"profile_mode":"sampled",
   "step_index":2,"action_history":["sleep","deep_work"],"policy":"random"}
States are reached by a mix of policies (random, heuristic, blind tape, deviations from them, habits); no person, week and
time come up again before all have. The card, README.md beside the rows, has their shares, the columns, how to train on
them, and the command: the same one gives the same bytes on every machine, and a longer dataset begins with a shorter one.
Profiles: sampled, discrete, ${PROFILE_NAMES.join(', ')}; ${MIX} is sampled,discrete.
  Those named come up equally often.
Seeds 0-99 and from 10000 on are kept for evaluation: they are refused, unless --allow-eval-seeds says that it is meant.

Examples:
  mkdir grpo grpo-late
  rhythm-vec dataset grpo --rows 3000 --output grpo/train.jsonl
  rhythm-vec dataset grpo --rows 3000 --profiles mix --steps 8-27 --seed 1 --output grpo-late/train.parquet
`;

export function addGrpoCommand(dataset: Command, { signal }: Context): void {
  const command = dataset
    .command('grpo')
    .description(
      'Write rows for GRPO: prompts of diverse states, and what replays them, as JSON lines or Parquet.',
    )
    .requiredOption('--rows <n>', 'how many', parseInteger)
    .requiredOption('--output <file>', 'where they go, whole or not at all; the card goes beside it')
    .addOption(new Option('--format <name>', "default: by the file's name").choices(FORMAT_NAMES))
    .option('--seeds <A-B>', 'of the weeks (default: 100-9999)', parseSeeds)
    .option('--profiles <names>', 'comma-separated: whose weeks (default: sampled)', parseNames)
    .option('--steps <A-B>', 'steps taken before a row (default: 0-27)', parseSteps)
    .option('--seed <n>', 'of the draw (default: 0)', parseInteger)
    .option('--allow-eval-seeds', 'let --seeds hold seeds that results are reported on; the card says so');
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: GrpoOptions) => {
      const { runGrpo } = await import('./grpo.js');
      await runGrpo(options, signal);
    });
}
