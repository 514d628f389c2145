/** `rhythm-vec regrade`: grades stored components under a grader, without playing the episodes again. */
import { type Command, Option } from 'commander';
import { type Regraded, regradeStored, type StoredCondition } from '../../evaluation/regrade-stored.js';
import { toSnakeCase } from '../../evaluation/result-json.js';
import { didYouMean } from '../../shared/names.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { describe } from '../../shared/values.js';
import { packageVersion } from '../../shared/version.js';
import { COMPONENT_NAMES } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';
import { UsageError } from '../command-errors.js';
import { readComponents } from '../components/read-components.js';
import type { Context } from '../context.js';
import { checkOutputs } from '../files/check-outputs.js';
import { checkedStream, checkKind, KINDS } from '../files/file-kind.js';
import { readGrader } from '../files/grader-file.js';
import { checkDifferentFile, checkInput, inputName, openInput, withProgress } from '../files/input-file.js';
import { messageStream, writeJson } from '../files/output-file.js';
import { parseNames } from '../shared-options.js';
import { wrap } from '../text-table.js';
import { renderRegraded } from './regrade-table.js';

interface Options {
  readonly components: string;
  readonly grader: string;
  readonly conditions?: readonly string[];
  readonly json?: string;
}

const NAMES = wrap(COMPONENT_NAMES.join(', ')).replaceAll('\n', '\n  ');
const HELP = `
A grade is a weighted sum of components, which eval --components stores for every episode. So episodes can be graded under
another grader without playing them again. A grader is v1, v2, v3 or a file with a name and weights that sum to 1:
  {"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}
The components are the following; missing components weigh 0.
  ${NAMES}
The output has three parts: the rows of eval; the ranking, with each policy's lead over the policy below it on the same seeds
and the unweighted difference between the two in each component; and, for each weight, the nearest lower and higher values at
which two policies swap ranks, found by grading the episodes again.
A damaged line, or a line of another schema or world, is an error: means over a part of the episodes would mislead.

Examples:
  rhythm-vec eval --components components.jsonl
  rhythm-vec regrade --components components.jsonl --grader v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec regrade --components components.jsonl --grader calm.json --conditions ood --json calm-results.json
`;

export function addRegradeCommand(program: Command, { signal }: Context): void {
  program
    .command('regrade')
    .description(
      'Grade stored components under another grader: scores, ranking, and the stability of the ranking.',
    )
    .requiredOption('--components <file>', 'a file of eval --components; - is the standard input')
    .addOption(new Option('--grader <name|file>', 'v1, v2, v3 or a grader file').default('v2'))
    .option('--conditions <names>', 'only these conditions, comma-separated (default: all)', parseNames)
    .option('--json <file>', 'also write the results as JSON; - is the standard output')
    .addHelpText('after', HELP)
    .action((options: Options) => runRegrade(options, signal));
}

async function runRegrade({ components, conditions, json, ...options }: Options, signal: AbortSignal) {
  const accepted = { option: '--components', kinds: [KINDS.components] };
  checkInput('--components', components);
  checkKind('--components', components, accepted.kinds);
  if (json !== undefined) {
    checkOutputs([{ option: '--json', path: json }], options.grader);
    checkDifferentFile('--json', json, '--components', components);
  }
  const grader = await readGrader(options.grader);
  const input = openInput(components, signal);
  const name = inputName(components);
  const checked = checkedStream(withProgress(components, input), { ...accepted, name });
  const stored = await readComponents(checked, name).finally(() => input.destroy());
  const regraded = regradeStored(selected(stored, conditions), grader);
  messageStream(json).write(renderRegraded(regraded));
  if (json !== undefined) await writeJson(json, toJson(regraded));
}

function selected(stored: readonly StoredCondition[], names: readonly string[] | undefined) {
  const conditions = stored.map(({ condition }) => condition);
  const unknown = names?.find((name) => !conditions.includes(name));
  if (unknown === undefined) {
    return stored.filter(({ condition }) => names === undefined || names.includes(condition));
  }
  throw new UsageError(
    `Expected --conditions among the stored conditions, ${conditions.join(', ')}; got ${describe(unknown)}.${didYouMean(unknown, conditions)}`,
  );
}

const toJson = (regraded: Regraded): unknown =>
  toSnakeCase({
    schema: SCHEMAS.regrade,
    version: packageVersion(),
    worldDigest: createWorld().digest,
    ...regraded,
  });
