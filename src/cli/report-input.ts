/** Reads files of results for a report and detects their kind: one JSON value, or episodes (JSON lines or Parquet). */

import { parseResult, RESULT_KINDS } from '../report/parse-results.js';
import { fileLabels } from '../report/player-names.js';
import { ResultGatherer, TrajectoryTally } from '../report/result-gatherer.js';
import { BadRow } from '../shared/row-schemas.js';
import { SCHEMAS } from '../shared/schemas.js';
import { UsageError } from './command-errors.js';
import { type FileKind, KINDS } from './files/file-kind.js';
import { inputName } from './files/input-file.js';
import { type Line, printable } from './files/lines.js';
import {
  episodesIn,
  inBatches,
  openFiles,
  type ReadOptions,
  type Report,
  SkippedLines,
} from './files/trajectory-files.js';
import type { TrajectoryLine } from './files/trajectory-table.js';

/** The maximum size of a file that is read as one value, as `readBeginning` counts it. Chosen by hand: it limits the memory. */
const MAX_VALUE = 64 * 2 ** 20;
/** The approximate memory in bytes of a line in addition to its text. */
const LINE_COST = 64;

/** The kinds of files that a report reads. */
export const RESULT_FILES: readonly FileKind[] = [
  KINDS.evaluation,
  KINDS.reevaluation,
  KINDS.audit,
  KINDS.trajectories,
];

interface GatherOptions extends ReadOptions {
  /** Receives the faults of lines. */
  readonly report: Report;
}

export interface Gathered {
  readonly gatherer: ResultGatherer;
  /** The number of lines left out, of all files. */
  readonly skipped: number;
}

/** Reads all files. */
export async function gatherResults(paths: readonly string[], options: GatherOptions): Promise<Gathered> {
  const gatherer = new ResultGatherer();
  const labels = fileLabels(paths.map(inputName));
  let [k, skipped] = [0, 0];
  for await (const { path, lines, episodes } of openFiles(paths, {
    ...options,
    accepted: { option: 'RESULTS', kinds: RESULT_FILES },
  })) {
    const file = { name: inputName(path), label: labels[k++] };
    skipped += await (episodes === undefined
      ? addFile(gatherer, file, lines, options)
      : addEpisodes(gatherer, file, episodes, options));
  }
  return { gatherer, skipped };
}

interface File {
  /** The name in errors. */
  readonly name: string;
  /** The name in the report. */
  readonly label: string;
}

/** Adds a file. @returns the number of lines left out. */
async function addFile(
  gatherer: ResultGatherer,
  file: File,
  lines: AsyncGenerator<Line>,
  options: GatherOptions,
): Promise<number> {
  const { firstLines, value } = await readBeginning(lines);
  if (value === undefined) {
    return addEpisodes(gatherer, file, episodesIn(file.name, joined(firstLines, lines)), options);
  }
  try {
    gatherer.addResult(file.label, parseResult(value));
    return 0;
  } catch (error) {
    if (error instanceof BadRow) throw new UsageError(`${file.name}: ${printable(error.message)}`);
    throw error;
  }
}

interface Beginning {
  /** The lines read so far, without blank lines. */
  readonly firstLines: readonly Line[];
  /** The value of the whole file; undefined for a file of lines. */
  readonly value: unknown;
}

/**
 * Reads a file until its kind is known. It is a file of lines if a line is an episode or unreadable, if the file is not valid
 * JSON as a whole, or if it is too large.
 * @param maxBytes the maximum size of the lines: one byte per character, and LINE_COST per line.
 */
export async function readBeginning(lines: AsyncGenerator<Line>, maxBytes = MAX_VALUE): Promise<Beginning> {
  const firstLines: Line[] = [];
  let size = 0;
  // Not `for await`, which would close the generator at the end of the loop.
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const line = next.value;
    if (line.text?.trim() === '') continue;
    firstLines.push(line);
    size += LINE_COST + (line.text?.length ?? 0);
    const isLines = line.text === null || size > maxBytes || isEpisode(line.text);
    if (isLines) return { firstLines, value: undefined };
  }
  return { firstLines, value: jsonOf(firstLines.map(({ text }) => text).join('\n')) };
}

function isEpisode(text: string): boolean {
  // Avoids parsing most lines that are not episodes.
  if (!text.includes(SCHEMAS.trajectory.name)) return false;
  const value = jsonOf(text) as { schema?: { name?: unknown } } | null | undefined;
  return value?.schema?.name === SCHEMAS.trajectory.name;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function* joined(firstLines: readonly Line[], lines: AsyncGenerator<Line>): AsyncGenerator<Line> {
  yield* firstLines;
  yield* lines;
}

async function addEpisodes(
  gatherer: ResultGatherer,
  { name, label }: File,
  episodes: AsyncIterable<TrajectoryLine>,
  { report, signal }: GatherOptions,
): Promise<number> {
  const skipped = new SkippedLines();
  const tally = new TrajectoryTally();
  for await (const batch of inBatches(episodes, { skipped, report, signal })) {
    for (const { episode } of batch) tally.add(episode);
  }
  if (tally.empty) {
    const why = skipped.total === 0 ? 'an empty file' : skipped.text;
    throw new UsageError(`${name}: Expected ${RESULT_KINDS}, got ${why}. Pass a file of results.`);
  }
  gatherer.addTrajectories(label, tally, skipped.text);
  return skipped.total;
}
