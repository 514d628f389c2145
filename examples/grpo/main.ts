/**
 * `npx tsx examples/grpo/main.ts`: trains policies with GRPO, one per training seed, and evaluates them and baselines on
 * held-out seeds. `--help` lists the options. README.md in this folder has the results.
 */
import { writeFileSync } from 'node:fs';
import cliProgress from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import { evaluateBaselines, evaluatePolicy, HELD_OUT } from './evaluate.js';
import { meansOf, type Run, renderRows, renderRuns } from './report.js';
import { DEFAULTS, TRAINING_SEEDS, type TrainOptions, train } from './train.js';

interface Options {
  readonly seeds: number;
  readonly updates: number;
  readonly minutes?: number;
  readonly json?: string;
}

const program = new Command()
  .description(
    'Trains small policies by GRPO from public observations, and evaluates them on held-out seeds.',
  )
  .option('--seeds <n>', 'number of policies, with training seeds 0, 1, ...', parseWhole, 5)
  .option(
    '--updates <n>',
    'updates per policy; without --minutes the result depends only on these and the seed',
    parseWhole,
    DEFAULTS.updates,
  )
  .option('--minutes <n>', 'maximum time of each training', parsePositive)
  .option('--json <file>', 'also write the results, with backend and machine')
  .parse();
await main(program.opts<Options>());

async function main({ seeds, updates, minutes, json }: Options): Promise<void> {
  const start = performance.now();
  const runs: Run[] = [];
  for (let seed = 0; seed < seeds; seed++) runs.push(run({ ...DEFAULTS, updates, seed }, minutes));
  const baselines = await evaluateBaselines();
  process.stdout.write(`${renderRuns(runs)}\n${renderRows([...baselines.rows, ...meansOf(runs)])}`);
  if (json === undefined) return;
  const { backendReason: _, ...info } = baselines.info;
  const seconds = (performance.now() - start) / 1000;
  const training = { ...DEFAULTS, updates, seeds: TRAINING_SEEDS };
  const result = { ...info, seconds, training, heldOut: HELD_OUT, baselines: baselines.rows, runs };
  writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
}

function run(options: TrainOptions, minutes = Number.POSITIVE_INFINITY): Run {
  const start = performance.now();
  const startUsage = process.cpuUsage();
  const elapsed = (): number => (performance.now() - start) / 1000;
  const bar = new cliProgress.SingleBar({
    format: `seed ${options.seed}  {bar} {value} of {total} updates, final score {score}, belief MAE {mae}`,
    clearOnComplete: true,
    noTTYOutput: false,
  });
  bar.start(options.updates, 0, { score: '-', mae: '-' });
  let updates = 0;
  const parameters = train(options, ({ update, finalScore, beliefMae }) => {
    updates = update;
    bar.update(update, { score: finalScore.toFixed(3), mae: beliefMae.toFixed(3) });
    return elapsed() < 60 * minutes;
  });
  bar.stop();
  const seconds = elapsed();
  const { user, system } = process.cpuUsage(startUsage);
  return {
    seed: options.seed,
    updates,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    ...evaluatePolicy(parameters),
  };
}

function parseWhole(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number above 0, such as 5.');
}

function parsePositive(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('Expected a number above 0, such as 1.5.');
}
