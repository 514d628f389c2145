/** Files of results for a report, told apart by what they say that they are: one value of JSON, or an episode a line. */
import { ResultGatherer, TrajectoryTally } from '../../report/gathered.js';
import { fileLabels } from '../../report/names.js';
import { parseResult, RESULT_KINDS } from '../../report/results.js';
import { SCHEMAS } from '../../schemas.js';
import { BadRow } from '../../validate/rows.js';
import { UsageError } from '../failure.js';
import { inputName } from '../files/input-file.js';
import { type Line, printable } from '../files/lines.js';
import { inBatches, type Report } from '../files/trajectory-batches.js';
import { episodesIn, openFiles, type ReadOptions, SkippedLines } from '../files/trajectory-files.js';

/** A file of one value is held whole; none of those that this package writes is nearly as large. */
const MAX_VALUE = 64 * 2 ** 20;

interface GatherOptions extends ReadOptions {
  /** Takes what is wrong with lines, for people. */
  readonly report: Report;
}

export interface Gathered {
  readonly gatherer: ResultGatherer;
  /** Lines that were left out, of all files. */
  readonly skipped: number;
}

/** @throws UsageError that names the file that is none of the results; the signal's reason. */
export async function gatherResults(paths: readonly string[], options: GatherOptions): Promise<Gathered> {
  const gatherer = new ResultGatherer();
  const labels = fileLabels(paths.map(inputName));
  let [k, skipped] = [0, 0];
  for await (const { path, lines } of openFiles(paths, options)) {
    skipped += await addFile(gatherer, { name: inputName(path), label: labels[k++] }, lines, options);
  }
  return { gatherer, skipped };
}

interface File {
  /** As errors have it. */
  readonly name: string;
  /** As the report has it. */
  readonly label: string;
}

/** @returns how many lines were left out. */
async function addFile(
  gatherer: ResultGatherer,
  file: File,
  lines: AsyncGenerator<Line>,
  options: GatherOptions,
): Promise<number> {
  const { begun, value } = await beginningOf(lines);
  if (value === undefined) return addEpisodes(gatherer, file, joined(begun, lines), options);
  try {
    gatherer.addResult(file.label, parseResult(value));
    return 0;
  } catch (error) {
    if (error instanceof BadRow) throw new UsageError(`${file.name}: ${printable(error.message)}`);
    throw error;
  }
}

interface Beginning {
  /** What was read to find out. */
  readonly begun: readonly Line[];
  /** What the whole file is; undefined for one of lines. */
  readonly value: unknown;
}

/** A first line that is an episode makes a file of lines; so does a whole that is no JSON. */
async function beginningOf(lines: AsyncGenerator<Line>): Promise<Beginning> {
  const begun: Line[] = [];
  let size = 0;
  // Not `for await`, which would end the lines with the loop.
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const line = next.value;
    begun.push(line);
    size += line.text?.length ?? 0;
    const unreadable = line.text === null || size > MAX_VALUE;
    if (unreadable || isEpisode(line.text)) return { begun, value: undefined };
  }
  return { begun, value: jsonOf(begun.map(({ text }) => text).join('\n')) };
}

function isEpisode(text: string): boolean {
  // No other value says so on one line, unless it is small.
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

async function* joined(begun: readonly Line[], lines: AsyncGenerator<Line>): AsyncGenerator<Line> {
  yield* begun;
  yield* lines;
}

async function addEpisodes(
  gatherer: ResultGatherer,
  { name, label }: File,
  lines: AsyncIterable<Line>,
  { report, signal }: GatherOptions,
): Promise<number> {
  const skipped = new SkippedLines();
  const tally = new TrajectoryTally();
  for await (const batch of inBatches(episodesIn(name, lines), { skipped, report, signal })) {
    for (const { episode } of batch) tally.add(episode);
  }
  if (tally.empty) {
    const why = skipped.total === 0 ? 'an empty file' : skipped.text;
    throw new UsageError(`${name}: Expected ${RESULT_KINDS}, got ${why}. Pass one of these.`);
  }
  gatherer.addTrajectories(label, tally, skipped.text);
  return skipped.total;
}
