/** `rhythm-vec eval`: how well policies do, under which conditions. */
import { type Command, Option } from 'commander';
import { CONDITIONS } from '../evaluate/conditions.js';
import { type EvaluateOptions, evaluate } from '../evaluate/evaluate.js';
import { evaluationToJson } from '../evaluate/report.js';
import { POLICY_NAMES } from '../policies/policies.js';
import type { Context } from './context.js';
import { renderHeader, renderTable } from './eval-table.js';
import { addEngineOptions, checkEngineOptions, parseInteger, parseNames, parseSeeds } from './options.js';
import { checkOutput, openOutput } from './output-file.js';
import { createProgress } from './progress.js';

interface Options extends Omit<EvaluateOptions, 'chunkSize' | 'onStart' | 'onProgress' | 'signal'> {
  readonly json?: string;
}

const HELP = `
Conditions: ${CONDITIONS.map(({ name }) => name).join(', ')}, custom.
  in-distribution is seeds 0-99, ood is seeds 10000-10049; together they are the 150 episodes of the re-evaluation.
  discrete:NAME is seeds 0-4 of one named profile; discrete is all three, and their mean.
  custom is the seeds of --seeds; it runs alone unless --conditions names others.
  --profiles leaves out the discrete conditions, and refuses them by name: their persons are fixed.
Policies: ${POLICY_NAMES.join(', ')}.
  +constant gives the belief [0.5, 0.5, 0.5] at every step: a score that does not beat it shows no inference.

Examples:
  rhythm-vec eval
  rhythm-vec eval --conditions in-distribution,ood --json results.json
  rhythm-vec eval --seeds 0-9999999 --policies heuristic,heuristic+constant
  rhythm-vec eval --profiles introvert_morning --episodes 20 --grader v1
`;

export function addEvalCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('eval')
    .description('Evaluate policies: final scores with 95 % intervals, beside the published figures.')
    .option('--policies <names>', 'comma-separated (default: all)', parseNames)
    .option('--conditions <names>', 'comma-separated (default: all)', parseNames)
    .option('--seeds <A-B>', 'seeds of the condition custom, in constant memory', parseSeeds)
    .option('--episodes <n>', 'only the first n seeds of each condition', parseInteger)
    .option(
      '--profiles <name>',
      'sampled, discrete or a profile: the persons of in-distribution, ood and custom; not with discrete conditions',
    )
    .addOption(new Option('--grader <name>', 'v1 or v2').default('v2'))
    .option('--json <file>', 'also write the results as JSON; - is the standard output');
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action((options: Options) => runEval(options, signal));
}

async function runEval({ json, ...options }: Options, signal: AbortSignal): Promise<void> {
  checkEngineOptions(options);
  if (json !== undefined) checkOutput('--json', json);
  // Whoever asks for JSON on the standard output wants nothing else there.
  const people = json === '-' ? process.stderr : process.stdout;
  const progress = createProgress('episodes');
  try {
    const evaluation = await evaluate({
      ...options,
      signal,
      onStart: (info) => people.write(renderHeader(info)),
      onProgress: progress.update,
    });
    progress.stop();
    people.write(renderTable(evaluation));
    if (json !== undefined) await writeJson(json, evaluationToJson(evaluation));
  } finally {
    progress.stop();
  }
}

async function writeJson(path: string, value: unknown): Promise<void> {
  const output = await openOutput(path);
  try {
    await output.write(`${JSON.stringify(value, null, 2)}\n`);
    await output.commit();
  } finally {
    await output.discard();
  }
}
