/** `rhythm-vec eval`: how well policies do, under which conditions. */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { CONDITIONS } from '../evaluate/conditions.js';
import { type EvaluateOptions, evaluate } from '../evaluate/evaluate.js';
import { evaluationToJson } from '../evaluate/report.js';
import { POLICY_NAMES } from '../policies/policies.js';
import { STEPPED_NAMES } from '../policies/stepped.js';
import { GRADER_NAMES } from '../world/fields.js';
import { headerText, rowsText } from './components-text.js';
import type { Context } from './context.js';
import { renderHeader, renderTable } from './eval-table.js';
import { UsageError } from './failure.js';
import { checkNotGrader, readGrader } from './grader-file.js';
import { addEngineOptions, checkEngineOptions, parseInteger, parseNames, parseSeeds } from './options.js';
import { checkOutput, openOutput, writeJson } from './output-file.js';
import { createProgress } from './progress.js';

type Listeners = 'onStart' | 'onProgress' | 'onEpisodes';

interface Options extends Omit<EvaluateOptions, 'chunkSize' | 'grader' | 'signal' | Listeners> {
  readonly grader: string;
  readonly json?: string;
  readonly components?: string;
}

const HELP = `
Conditions: ${CONDITIONS.map(({ name }) => name).join(', ')}, custom.
  in-distribution is seeds 0-99, ood is seeds 10000-10049; together they are the 150 episodes of the re-evaluation.
  discrete:NAME is seeds 0-4 of one named profile; discrete is all three, and their mean.
  custom is the seeds of --seeds; it runs alone unless --conditions names others.
  --profiles leaves out the discrete conditions, and refuses them by name: their persons are fixed.
Policies: ${POLICY_NAMES.join(', ')};
  and if asked for, since they take their time: ${STEPPED_NAMES.join(', ')}.
  +constant gives the belief [0.5, 0.5, 0.5] at every step: a score that does not beat it shows no inference.
  +inference gives what was inferred from what was seen. A planner also acts on it, by imagining weeks: for the score,
  or for the person's wellbeing; planner-prior does not infer, and planner-oracle is shown who the persons are.
Graders: ${GRADER_NAMES.join(', ')}, or a file of a name and weights by component that sum to 1; what is left out weighs 0.
  --components stores what grades consist of: \`rhythm-vec regrade\` weighs it otherwise, without playing again.

Examples:
  rhythm-vec eval
  rhythm-vec eval --conditions in-distribution,ood --json results.json
  rhythm-vec eval --seeds 0-9999999 --policies heuristic,heuristic+constant
  rhythm-vec eval --profiles introvert_morning --episodes 20 --grader v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec eval --grader calm.json --components components.jsonl
  rhythm-vec eval --seeds 100-119 --policies heuristic+constant,planner,planner-wellbeing
`;

export function addEvalCommand(program: Command, { signal }: Context): void {
  const command = program
    .command('eval')
    .description('Evaluate policies: final scores with 95 % intervals, beside the published figures.')
    .option('--policies <names>', 'comma-separated (default: those that are quick)', parseNames)
    .option('--conditions <names>', 'comma-separated (default: all)', parseNames)
    .option('--seeds <A-B>', 'seeds of the condition custom, in constant memory', parseSeeds)
    .option('--episodes <n>', 'only the first n seeds of each condition', parseInteger)
    .option(
      '--profiles <name>',
      'sampled, discrete or a profile: the persons of in-distribution, ood and custom; not with discrete conditions',
    )
    .addOption(new Option('--grader <name|file>', 'v1, v2 or a grader file').default('v2'))
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .option(
      '--components <file>',
      "also write each episode's components, for regrade; - is the standard output",
    );
  addEngineOptions(command)
    .addHelpText('after', HELP)
    .action((options: Options) => runEval(options, signal));
}

async function runEval({ json, components, ...options }: Options, signal: AbortSignal): Promise<void> {
  checkEngineOptions(options);
  checkOutputs(json, components);
  checkNotGrader('--json', json, options.grader);
  checkNotGrader('--components', components, options.grader);
  const grader = await readGrader(options.grader);
  // Whoever asks for JSON on the standard output wants nothing else there.
  const people = [json, components].includes('-') ? process.stderr : process.stdout;
  const stored = components === undefined ? null : await openOutput(components);
  const progress = createProgress('episodes');
  try {
    const evaluation = await evaluate({
      ...options,
      grader,
      signal,
      onStart: async (info) => {
        people.write(renderHeader(info));
        await stored?.write(headerText(info));
      },
      onProgress: progress.update,
      onEpisodes: stored === null ? undefined : (episodes) => stored.write(rowsText(episodes)),
    });
    progress.stop();
    people.write(renderTable(evaluation));
    if (json !== undefined) await writeJson(json, evaluationToJson(evaluation));
    await stored?.commit();
  } finally {
    progress.stop();
    await stored?.discard();
  }
}

function checkOutputs(json: string | undefined, components: string | undefined): void {
  if (json !== undefined) checkOutput('--json', json);
  if (components !== undefined) checkOutput('--components', components);
  if (json === undefined || components === undefined || resolve(json) !== resolve(components)) return;
  throw new UsageError(
    `Expected --components to be another file than --json, got ${components}. Name another.`,
  );
}
