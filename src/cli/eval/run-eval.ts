/** Runs `rhythm-vec eval`. */

import { bracketEvaluation } from '../../evaluation/bracket.js';
import { playersOf } from '../../evaluation/choose-policies.js';
import { evaluateConditions } from '../../evaluation/evaluate.js';
import type { EvaluateOptions } from '../../evaluation/evaluate-options.js';
import { evaluationToJson } from '../../evaluation/result-json.js';
import type { RunInfo } from '../../evaluation/run-info.js';
import { gradersInUse } from '../../evaluation/score-tally.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { selectConditions } from '../../world/conditions.js';
import { UsageError } from '../command-errors.js';
import type { Context } from '../context.js';
import { checkOutputs, type PlannedOutput } from '../files/check-outputs.js';
import { readGrader } from '../files/grader-file.js';
import { commitTogether, jsonText, messageStream, Outputs } from '../files/output-file.js';
import { partialFiles } from '../files/partial-file.js';
import { readPolicies } from '../files/policy-file.js';
import { checkJournal, journalFiles } from '../llm/journal.js';
import { type ModelFlags, samplingOf } from '../llm/llm-options.js';
import { checkModels, EvalModels, modelsIn, prepareModels } from '../llm/models.js';
import { createProgress } from '../progress.js';
import type { Shard } from '../shards/shard.js';
import { beginShard, checkShardFormat } from '../shards/shard-file.js';
import { checkEngineOptions, formatOf, LINES } from '../shared-options.js';
import { checkBracket, checkBracketGrader, readBracket, renderBracket } from './bracket.js';
import {
  checkEpisodeCount,
  type EpisodeStore,
  type Evaluated,
  openFileStore,
  openJournalStore,
} from './episode-store.js';
import { checkEvalShard, evalShard, finishShard } from './eval-shard.js';
import { renderHeader, renderTable } from './eval-table.js';

type Listeners = 'onStart' | 'onProgress' | 'onEpisodes' | 'onTrajectories';

/** Optional outputs besides the table. */
interface OutputPaths {
  readonly json?: string;
  readonly trajectories?: string;
  /** The value of --format, for `trajectories`. */
  readonly format?: string;
}

export interface EvalCommandOptions
  extends Omit<EvaluateOptions, 'chunkSize' | 'policies' | 'grader' | 'llm' | 'signal' | Listeners>,
    ModelFlags,
    OutputPaths {
  /** Names of policies, and paths of files that export one. */
  readonly policies?: readonly string[];
  readonly grader: string;
  /** The path of an audit's JSON. */
  readonly bracket?: string;
  readonly shard?: Shard;
}

/**
 * Evaluates policies, prints the tables and writes the files. A shard prints no table. If its file is complete, the shard is
 * not played again.
 */
export async function runEval(options: EvalCommandOptions, { signal, model }: Context): Promise<void> {
  const { json, trajectories, profiles, backend, kernel, threads } = options;
  const modelNames = check(options);
  const policies = await readPolicies(options.policies);
  const openers = await prepareModels(modelNames, options);
  const grader = await readGrader(options.grader);
  const anchors = await readBracket(options.bracket, signal);
  checkBracketGrader(options.bracket, anchors, gradersInUse(grader));
  const shard = await evalShard(options, policies, grader);
  const isComplete = shard !== null && (await beginShard(shard.file));
  if (isComplete) return;
  const conditions = shard?.conditions ?? selectConditions(options);
  const messages = messageStream(json, trajectories);
  await using outputs = new Outputs();
  const store = await openStore(options, modelNames, () => ({
    conditions,
    grader,
    players: playersOf(policies),
  }));
  const models = new EvalModels(openers, store?.spending ?? {}, options, model);
  const answers = (await model?.answers()) ?? store?.answers;
  const progress = createProgress('episodes');
  try {
    const settings = {
      profiles,
      backend,
      kernel,
      threads,
      policies,
      grader,
      signal,
      llm: models.llmOptions({ played: store?.played, answers }),
      onStart: (info: RunInfo) => {
        if (shard === null) messages.write(renderHeader(info));
      },
      onProgress: (done: number, total: number) => progress.update(done, total, models.spentText()),
      onTrajectories:
        store === null ? undefined : (episodes: readonly TrajectoryEpisode[]) => store.add(episodes),
    };
    const evaluation = await evaluateConditions(settings, conditions);
    progress.stop();
    const bracketed = bracketEvaluation(evaluation, anchors);
    if (shard === null)
      messages.write(`${renderTable(evaluation)}${renderBracket(bracketed)}${models.text()}`);
    if (json !== undefined) await (await outputs.open(json)).write(jsonText(evaluationToJson(bracketed)));
    signal.throwIfAborted();
    await commitTogether(store === null ? [outputs] : [store, outputs]);
    if (shard !== null) await finishShard(shard, models.text());
  } catch (error) {
    progress.stop();
    process.stderr.write(`${models.text()}${store?.keptText() ?? ''}`);
    throw error;
  } finally {
    progress.stop();
    const kept = await store?.close();
    if (kept)
      process.stderr.write(`The episodes so far are kept in ${kept}, which reeval and report read.\n`);
  }
}

/** Checks the options. @returns the names of the language models among the policies. @throws UsageError. */
function check(options: EvalCommandOptions): string[] {
  checkEngineOptions(options);
  const models = modelsIn(options.policies);
  const outputs = outputsOf(options, models);
  checkOutputs(outputs, options.grader);
  checkBracket(options.bracket, outputs);
  checkModels(models, options);
  if (options.shard !== undefined) {
    checkEvalShard(options);
    checkShardFormat('--trajectories', formatOfTrajectories(options));
  }
  return models;
}

/** Opens the store of trajectories. Returns null without --trajectories. */
async function openStore(
  options: EvalCommandOptions,
  models: readonly string[],
  evaluatedOf: () => Evaluated,
): Promise<EpisodeStore | null> {
  const { trajectories: path } = options;
  if (path === undefined) return null;
  const evaluated = evaluatedOf();
  const format = formatOfTrajectories(options);
  checkEpisodeCount(evaluated, models.length > 0 ? LINES : format);
  if (models.length === 0) return openFileStore(path, format, evaluated);
  checkJournal('--trajectories', path, 'a language model');
  return openJournalStore(path, format, evaluated, samplingOf(options));
}

/** Returns the format of the trajectories. @throws UsageError for --format without them. */
function formatOfTrajectories({ trajectories, format }: OutputPaths): RowFormat {
  if (trajectories !== undefined) return formatOf('--trajectories', trajectories, format) ?? LINES;
  if (format === undefined) return LINES;
  throw new UsageError(
    'Expected --trajectories with --format, got none. Name a file, or leave out --format.',
  );
}

/** Returns the outputs, each with its option. Episodes of language models are stored in a journal until all are finished. */
function outputsOf(
  { json, trajectories, format }: OutputPaths,
  models: readonly string[],
): readonly PlannedOutput[] {
  const isTable = formatOfTrajectories({ trajectories, format }) !== LINES && trajectories !== '-';
  const named = Object.entries({
    '--json': json,
    '--trajectories': trajectories,
  });
  return named.flatMap(([option, path]) => {
    if (path === undefined) return [];
    if (option !== '--trajectories') return [{ option, path }];
    if (models.length > 0) return [{ option, path, workFiles: journalFiles(path) }];
    return [{ option, path, workFiles: isTable ? partialFiles(path) : [] }];
  });
}
