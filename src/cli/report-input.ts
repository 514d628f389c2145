/** Reads files of results for a report and detects their kind: one JSON value, or episodes (JSON lines or Parquet). */

import { parseResult, RESULT_KINDS } from '../report/parse-results.js';
import { fileLabels } from '../report/player-names.js';
import { ResultGatherer, TrajectoryTally } from '../report/result-gatherer.js';
import { BadRow, parseJson } from '../shared/row-schemas.js';
import { UsageError } from './command-errors.js';
import { type FileKind, KINDS } from './files/file-kind.js';
import { inputName } from './files/input-file.js';
import { type Line, printable } from './files/lines.js';
import {
  episodesIn,
  inBatches,
  type OpenLines,
  openFiles,
  SkippedLines,
  toStandardError,
} from './files/trajectory-files.js';
import type { TrajectoryLine } from './files/trajectory-table.js';
import { createProgress } from './progress.js';

/** The maximum number of characters of a file that is read as one value. Chosen by hand: it limits the memory. */
const MAX_VALUE = 64 * 2 ** 20;

/** The kinds of files that a report reads. */
export const RESULT_FILES: readonly FileKind[] = [
  KINDS.evaluation,
  KINDS.reevaluation,
  KINDS.audit,
  KINDS.trajectories,
];

/** Reads all files. @returns the results, and the number of lines left out. */
export async function gatherResults(
  paths: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly gatherer: ResultGatherer; readonly skipped: number }> {
  using progress = createProgress('bytes');
  const gatherer = new ResultGatherer();
  const labels = fileLabels(paths.map(inputName));
  let [k, skipped] = [0, 0];
  const accepted = { option: 'RESULTS', kinds: RESULT_FILES };
  for await (const opened of openFiles(paths, { signal, onProgress: progress.update, accepted })) {
    const file = { name: inputName(opened.path), label: labels[k++] };
    skipped += await (opened.episodes === undefined
      ? addFile(gatherer, file, opened, signal)
      : addEpisodes(gatherer, file, opened.episodes, signal));
  }
  return { gatherer, skipped };
}

interface File {
  /** The name in errors. */
  readonly name: string;
  /** The name in the report. */
  readonly label: string;
}

/** Adds a file: the JSON of a command, or else trajectories. @returns the number of lines left out. */
async function addFile(
  gatherer: ResultGatherer,
  file: File,
  { lines, kind }: OpenLines,
  signal: AbortSignal,
): Promise<number> {
  // Not `for await`, which would close the generator. The kind is known when the first line is read.
  const first = await lines.next();
  const all = first.done ? lines : joined(first.value, lines);
  if (kind() === null || kind() === KINDS.trajectories)
    return addEpisodes(gatherer, file, episodesIn(file.name, all), signal);
  try {
    gatherer.addResult(file.label, parseResult(await jsonOf(all)));
    return 0;
  } catch (error) {
    if (error instanceof BadRow) throw new UsageError(`${file.name}: ${printable(error.message)}`);
    throw error;
  }
}

async function* joined(first: Line, lines: AsyncGenerator<Line>): AsyncGenerator<Line> {
  yield first;
  yield* lines;
}

/** Returns the JSON value of a file. @throws BadRow for invalid JSON, and for more than MAX_VALUE characters. */
async function jsonOf(lines: AsyncIterable<Line>): Promise<unknown> {
  let json = '';
  for await (const { text, problem } of lines) {
    if (text === null) throw new BadRow(problem);
    json += `${text}\n`;
    if (json.length > MAX_VALUE)
      throw new BadRow(
        `Expected JSON of at most ${MAX_VALUE} characters, got more. Report fewer conditions.`,
      );
  }
  return parseJson(json);
}

async function addEpisodes(
  gatherer: ResultGatherer,
  { name, label }: File,
  episodes: AsyncIterable<TrajectoryLine>,
  signal: AbortSignal,
): Promise<number> {
  const skipped = new SkippedLines();
  const tally = new TrajectoryTally();
  for await (const batch of inBatches(episodes, { skipped, report: toStandardError, signal })) {
    for (const { episode } of batch) tally.add(episode);
  }
  if (tally.empty) {
    const why = skipped.total === 0 ? 'an empty file' : skipped.text;
    throw new UsageError(`${name}: Expected ${RESULT_KINDS}, got ${why}. Pass a file of results.`);
  }
  gatherer.addTrajectories(label, tally, skipped.text);
  return skipped.total;
}
