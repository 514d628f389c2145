/** The work of `rhythm-vec eval`. */
import { selectConditions } from '../../conditions.js';
import { playerNamed } from '../../evaluate/choosing.js';
import { evaluate } from '../../evaluate/evaluate.js';
import type { EvaluateOptions } from '../../evaluate/options.js';
import { evaluationToJson } from '../../evaluate/report.js';
import type { Grader } from '../../graders/grader.js';
import { POLICY_NAMES } from '../../policies/policies.js';
import { headerText, rowsText } from '../components/text.js';
import { readGrader } from '../files/grader-file.js';
import { besideOutputs, openOutput, writeJson } from '../files/output-file.js';
import { checkOutputs, type PlannedOutput } from '../files/output-places.js';
import { checkJournal, journalFiles } from '../llm/journal.js';
import { type ModelFlags, samplingOf } from '../llm/options.js';
import { checkEngineOptions } from '../options.js';
import { createProgress } from '../progress.js';
import { checkModels, EvalModels, modelsIn, prepareModels } from './models.js';
import { renderHeader, renderTable } from './table.js';
import { checkFewEnough, type KeptWeeks, keepInJournal, keepTogether } from './trajectories.js';

type Listeners = 'onStart' | 'onProgress' | 'onEpisodes' | 'onTrajectories';

/** What is written besides the table. */
interface Outputs {
  readonly json?: string;
  readonly components?: string;
  readonly trajectories?: string;
}

export interface EvalCommandOptions
  extends Omit<EvaluateOptions, 'chunkSize' | 'grader' | 'llm' | 'signal' | Listeners>,
    ModelFlags,
    Outputs {
  readonly grader: string;
}

/** @throws UsageError for paths; InputError for names; what asking a model throws; the signal's reason. */
export async function runEval(options: EvalCommandOptions, signal: AbortSignal): Promise<void> {
  const { json, components, trajectories } = options;
  const names = check(options);
  const openers = await prepareModels(names, options);
  const grader = await readGrader(options.grader);
  const people = besideOutputs(json, components, trajectories);
  const kept = await keepWeeks(options, names, grader);
  const models = new EvalModels(openers, kept?.spending ?? {}, options);
  const stored = components === undefined ? null : await openOutput(components);
  const progress = createProgress('episodes');
  try {
    const evaluation = await evaluate({
      ...asked(options),
      grader,
      signal,
      llm: models.asked(kept?.played),
      onStart: async (info) => {
        people.write(renderHeader(info));
        await stored?.write(headerText(info));
      },
      onProgress: (done, total) => progress.update(done, total, models.money()),
      onEpisodes: stored === null ? undefined : (episodes) => stored.write(rowsText(episodes)),
      onTrajectories: kept === null ? undefined : (episodes) => kept.add(episodes),
    });
    progress.stop();
    people.write(`${renderTable(evaluation)}${models.text()}`);
    if (json !== undefined) await writeJson(json, evaluationToJson(evaluation));
    await stored?.commit();
    await kept?.commit();
  } catch (error) {
    progress.stop();
    process.stderr.write(`${models.text()}${kept?.left() ?? ''}`);
    throw error;
  } finally {
    progress.stop();
    await stored?.discard();
    await kept?.discard();
  }
}

/** @returns the language models. @throws UsageError. */
function check(options: EvalCommandOptions): string[] {
  checkEngineOptions(options);
  const models = modelsIn(options.policies);
  checkOutputs(outputsOf(options, models), options.grader);
  checkModels(models, options);
  return models;
}

/** What `evaluate` is asked for, of all that the command knows. */
function asked(options: EvalCommandOptions): EvaluateOptions {
  const { policies, conditions, seeds, episodes, profiles, backend, kernel, threads } = options;
  return { policies, conditions, seeds, episodes, profiles, backend, kernel, threads };
}

/** Null where nobody asks for them. @throws UsageError; InputError for names. */
async function keepWeeks(
  options: EvalCommandOptions,
  models: readonly string[],
  grader: Grader,
): Promise<KeptWeeks | null> {
  const { trajectories: path } = options;
  if (path === undefined) return null;
  const players = [...new Set(options.policies ?? POLICY_NAMES)].map(playerNamed);
  const evaluated = { conditions: selectConditions(options), players, grader };
  checkFewEnough(evaluated);
  if (models.length === 0) return keepTogether(path);
  checkJournal('--trajectories', path, 'a language model');
  return keepInJournal(path, evaluated, samplingOf(options));
}

/** What is written, by which option. Weeks that are paid for are kept until all of them are there. */
function outputsOf(
  { json, components, trajectories }: Outputs,
  models: readonly string[],
): readonly PlannedOutput[] {
  const named = Object.entries({
    '--json': json,
    '--components': components,
    '--trajectories': trajectories,
  });
  return named.flatMap(([option, path]) => {
    if (path === undefined) return [];
    const paid = option === '--trajectories' && models.length > 0;
    return [{ option, path, meanwhile: paid ? journalFiles(path) : [] }];
  });
}
