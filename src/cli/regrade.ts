/** `rhythm-vec regrade`: grades stored trajectories under a grader, without playing the episodes again. */
import type { Command } from 'commander';
import { alignedInterval, decimals } from '../evaluation/format-results.js';
import {
  type Regraded,
  type RegradedCondition,
  regradeStored,
  type StoredCondition,
} from '../evaluation/regrade-stored.js';
import { toSnakeCase } from '../evaluation/result-json.js';
import type { Flip, WeightSensitivity } from '../evaluation/weight-sensitivity.js';
import { scoresOf, yardstickNotes, yardsticksOf } from '../evaluation/yardstick.js';
import { BadEpisode } from '../rollouts/trajectories/trajectory-lines.js';
import { didYouMean } from '../shared/names.js';
import { BadRow } from '../shared/row-schemas.js';
import { SCHEMAS } from '../shared/schemas.js';
import { describe } from '../shared/values.js';
import { packageVersion } from '../shared/version.js';
import { COMPONENT_NAMES } from '../world/fields.js';
import { createWorld } from '../world/world.js';
import { UsageError } from './command-errors.js';
import type { Context } from './context.js';
import { renderRows, rowNotes, weightsLine } from './eval/eval-table.js';
import { checkOutputs } from './files/check-outputs.js';
import { readGrader } from './files/grader-file.js';
import { printable } from './files/lines.js';
import { messageStream, writeJson } from './files/output-file.js';
import { checkTrajectories, readTrajectories } from './files/trajectory-files.js';
import { createProgress } from './progress.js';
import { StoredEpisodes } from './regrade-episodes.js';
import { OPTIONS } from './shared-options.js';
import { COMPONENT_HEADS, renderColumns, wrap } from './text-table.js';

interface Options {
  readonly jsonl: readonly string[];
  readonly grader: string;
  readonly conditions?: readonly string[];
  readonly json?: string;
}

const NAMES = wrap(COMPONENT_NAMES.join(', ')).replaceAll('\n', '\n  ');
const HELP = `
A grade is a weighted sum of components, which every trajectory has. So episodes can be graded under another grader without
playing them again. A grader is v1, v2, v3 or a file with a name and weights that sum to 1:
  {"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}
The components are the following; missing components weigh 0.
  ${NAMES}
The output has three parts: the rows of eval; the ranking, with each policy's lead over the policy below it on the same seeds
and the unweighted difference between the two in each component; and, for each weight, the nearest lower and higher values at
which two policies swap ranks, found by grading the episodes again.
A damaged line or row, or one of another schema or world, is an error: means over a part of the episodes would mislead.

Examples:
  rhythm-vec eval --trajectories episodes.parquet
  rhythm-vec regrade --jsonl episodes.parquet --grader v1
  echo '{"name":"calm","weights":{"crash_free":0.5,"efficiency":0.3,"belief_accuracy":0.2}}' > calm.json
  rhythm-vec regrade --jsonl episodes.parquet --grader calm.json --conditions ood --json calm-results.json
`;

export function defineRegrade(command: Command, { signal }: Context): void {
  command
    .addOption(OPTIONS.jsonl)
    .addOption(OPTIONS.grader)
    .addOption(OPTIONS.conditions)
    .addOption(OPTIONS.json)
    .addHelpText('after', HELP)
    .action((options: Options) => runRegrade(options, signal));
}

async function runRegrade({ jsonl, conditions, json, ...options }: Options, signal: AbortSignal) {
  if (json !== undefined) checkOutputs([{ option: '--json', path: json }], options.grader);
  checkTrajectories('--jsonl', jsonl, json === undefined ? null : { option: '--json', path: json });
  const grader = await readGrader(options.grader);
  const stored = await readStored(jsonl, signal);
  const regraded = regradeStored(selected(stored, conditions), grader);
  messageStream(json).write(renderRegraded(regraded));
  if (json !== undefined) await writeJson(json, toJson(regraded));
}

/** Returns the conditions of the files. @throws UsageError that names the file and the line of a bad episode. */
async function readStored(paths: readonly string[], signal: AbortSignal): Promise<StoredCondition[]> {
  const episodes = new StoredEpisodes();
  const progress = createProgress('bytes');
  let last = paths[0];
  try {
    for await (const { place, episode } of readTrajectories(paths, { signal, onProgress: progress.update })) {
      last = place;
      if (episode instanceof BadEpisode) throw new BadRow(episode.message);
      episodes.add(episode);
    }
    const stored = episodes.conditions();
    if (stored.length > 0) return stored;
    throw new BadRow('Expected episodes, got none. Pass a file that eval --trajectories wrote.');
  } catch (error) {
    throw error instanceof BadRow ? new UsageError(`${last}: ${printable(error.message)}`) : error;
  } finally {
    progress.stop();
  }
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

/** Renders the rows of an evaluation, then each condition's ranking and the effect of each weight on it, then notes. */
export function renderRegraded(regraded: Regraded): string {
  const { grader, graderWeights, rows, conditions } = regraded;
  const episodes = rows.reduce((sum, row) => sum + row.episodes, 0);
  return [
    `${episodes} stored episodes, not played again; grader ${grader}`,
    weightsLine(grader, graderWeights),
    `${renderRows(rows, grader)}\n`,
    ...conditions.map((condition) => `${renderRanking(condition)}\n`),
    ...rowNotes(rows, grader),
    ...yardstickNotes(yardsticksOf(scoresOf(rows, regraded, false), createWorld().digest)).map((text) =>
      wrap(text),
    ),
    'lead: the mean of paired differences. The columns to its right show how much the lead changes per unit of each weight.',
    'at: the nearest lower and higher values at which two policies swap ranks; the other weights keep their ratios, and all sum to 1.',
    '',
  ].join('\n');
}

function renderRanking(condition: RegradedCondition): string {
  const leads = renderLeads(condition);
  return condition.standings.length < 2 ? leads : `${leads}\n\n${renderFlips(condition.sensitivity)}`;
}

/** Renders the ranking: each policy's score, its lead over the next policy, and the effect of each weight on the lead. */
function renderLeads({ condition, standings, sensitivity }: RegradedCondition): string {
  const heads = sensitivity.map(({ component }) => COMPONENT_HEADS[component]);
  const rows = standings.map(({ policy, finalScore, lead }, rank) => [
    policy,
    alignedInterval(finalScore),
    ...(lead === null
      ? ['-', ...heads.map(() => '-')]
      : [alignedInterval(lead), ...sensitivity.map(({ leads }) => signed(leads[rank].slope.mean))]),
  ]);
  return renderColumns(
    [`${condition}:\nranking`, 'final score\n(95 %)', 'lead over the\nnext (95 %)', ...heads],
    rows,
  );
}

/** Formats a number with its sign; a number that rounds to zero, without a sign. */
function signed(value: number): string {
  const text = decimals(value);
  return Number(text) > 0 ? `+${text}` : text;
}

/** Renders, for each weight, the nearest values at which two policies swap ranks. */
function renderFlips(sensitivity: readonly WeightSensitivity[]): string {
  const rows = sensitivity.flatMap(({ component, weight, below, above }) => {
    const flips = [below, above].filter((flip) => flip !== null);
    const first = [component, decimals(weight)];
    if (flips.length === 0) return [[...first, '-', 'found no value that changes the ranking']];
    return flips.map((flip, i) => [...(i === 0 ? first : ['', '']), decimals(flip.weight), flipText(flip)]);
  });
  return renderColumns(['weight of', 'now', 'at', ''], rows, ['left', 'right', 'right', 'left']);
}

const flipText = ({ policy, passed }: Flip): string => `${policy} passes ${passed}`;
