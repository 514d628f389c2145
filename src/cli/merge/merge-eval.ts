/** Merges the shards of `rhythm-vec eval`: makes the outputs and tables of the whole evaluation. */

import { bracketEvaluation } from '../../evaluation/bracket.js';
import { evaluationToJson } from '../../evaluation/result-json.js';
import type { RunInfo } from '../../evaluation/run-info.js';
import { gradersInUse } from '../../evaluation/score-tally.js';
import { parseEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { checkBracketGrader, readBracket, renderBracket } from '../eval/bracket.js';
import { renderHeader, renderTable } from '../eval/eval-table.js';
import { openEpisodeFile } from '../files/episode-file.js';
import { commitTogether, jsonText, messageStream, Outputs } from '../files/output-file.js';
import { createProgress } from '../progress.js';
import type { EvalJob } from '../shards/job.js';
import { formatOf, LINES } from '../shared-options.js';
import { linesInOrder, mergeEvaluation } from './merge-evaluation.js';
import { StoredLines } from './stored-lines.js';

export interface MergeCommandOptions {
  readonly output: string;
  /** `json` and `bracket`: as in `eval`. */
  readonly json?: string;
  readonly bracket?: string;
  /** The format of --output. */
  readonly format?: string;
}

/** Writes the outputs and prints the tables. @param paths the files of all shards. */
export async function mergeEval(
  job: EvalJob,
  paths: readonly string[],
  options: MergeCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const { output: path, json, bracket } = options;
  const anchors = await readBracket(bracket, signal);
  checkBracketGrader(bracket, anchors, gradersInUse(job.grader));
  const messages = messageStream(path, json);
  const progress = createProgress('episodes');
  await using outputs = new Outputs();
  const format = formatOf('--output', path, options.format) ?? LINES;
  const episodeFile = await openEpisodeFile(path, format, { partial: 'never' });
  try {
    await using lines = await StoredLines.open(paths, () => signal.throwIfAborted());
    const hasModel = job.options.model !== null;
    const evaluation = await mergeEvaluation(job, lines, {
      signal,
      onProgress: progress.update,
      onStart: (info: RunInfo) => messages.write(renderHeader(info)),
      onTrajectories: hasModel ? undefined : (episodes) => episodeFile.write(episodes),
    });
    // With language models, the lines are in the order of the job's conditions, policies and seeds.
    if (hasModel) {
      for await (const line of linesInOrder(job.options, lines))
        await episodeFile.write([parseEpisode(line.trimEnd())]);
    }
    const bracketed = bracketEvaluation(evaluation, anchors);
    if (json !== undefined) await (await outputs.open(json)).write(jsonText(evaluationToJson(bracketed)));
    signal.throwIfAborted();
    await commitTogether([episodeFile, outputs]);
    progress.stop();
    messages.write(`${renderTable(evaluation)}${renderBracket(bracketed)}`);
  } finally {
    progress.stop();
    await episodeFile.close();
  }
}
