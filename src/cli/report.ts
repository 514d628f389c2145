/** `rhythm-vec report`: writes results as a page, with its figures, into a directory. */

import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { counted } from '../evaluation/format-results.js';
import { FILES_META, pageOf, sectionsOf } from '../report/page.js';
import { parseResult, RESULT_KINDS } from '../report/parse-results.js';
import { fileLabels } from '../report/player-names.js';
import { type ReportData, ResultGatherer, TrajectoryTally } from '../report/result-gatherer.js';
import { isFigure, type Section } from '../report/section.js';
import { BadRow, parseJson } from '../shared/row-schemas.js';
import { packageVersion } from '../shared/version.js';
import { EXIT, UsageError } from './command-errors.js';
import type { Context } from './context.js';
import { checkBracketGrader, readBracket } from './eval/bracket.js';
import { checkDirectory } from './files/check-outputs.js';
import { checkKind, type FileKind, KINDS } from './files/file-kind.js';
import { checkBracket, checkDifferentFile, checkInput, inputName } from './files/input-file.js';
import { type Line, printable } from './files/lines.js';
import { type OutputFile, temporaryFilesOf, writeFilesAtomically } from './files/output-file.js';
import { makeDirectory, stat } from './files/paths.js';
import { checkPictures, drawAll, outputsOf, type PictureFiles } from './files/picture-files.js';
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
import { OPTIONS } from './shared-options.js';

const HELP = `
RESULTS are files of eval --json, reeval --json and audit --json, and trajectories of teach and eval --trajectories, in any
mix. Each file's kind is detected from its content. Several files of a kind are shown side by side, each under its name.
The directory gets report.html, one self-contained page without scripts, and every figure as SVG and PNG: final scores beside
the published scores, belief error over the episode, calibration, use of the ten actions by profile, what the grader
rewards, cost, and episodes as timelines. The page also has tables, and lists missing parts with the commands that make them.
Each score has its share of the value of knowing the profile: 0 is the score of the best open-loop sequence with its best
constant belief, 1 that of planner-oracle. These two scores are the anchors of a grader. --bracket takes those of another
grader from its audit --json, made with this version and this world. Anchors closer than 0.02 yield no share.
The page begins with the verdict of eval, shows the first six figures, and folds the others.
Only files of an earlier report are replaced.
Invalid lines of trajectories are left out, and the first ten of a file are reported. The exit code is 1 if a line was
left out and --skip-bad is not given.

Examples:
  rhythm-vec eval --json results.json
  rhythm-vec audit --json audit.json
  rhythm-vec report results.json teacher.jsonl audit.json --output report
  rhythm-vec report results.json --bracket audit.json --output report
`;

interface ReportOptions {
  readonly output: string;
  /** The path of an audit's JSON. */
  readonly bracket?: string;
  readonly skipBad: boolean;
}

export function defineReport(command: Command, { signal }: Context): void {
  command
    .argument('<RESULTS...>', 'files of results; - is the standard input')
    .requiredOption('--output <directory>', 'the directory for the page and its figures')
    .addOption(OPTIONS.bracket)
    .addOption(OPTIONS.skipBad)
    .addHelpText('after', HELP)
    .action(async (paths: string[], options: ReportOptions) => {
      if (!(await runReport(paths, options, signal))) process.exitCode = EXIT.failure;
    });
}

/**
 * Writes the page and its figures. Removes the figures of an earlier report that this one does not have.
 * @returns false if lines were left out and `skipBad` is off.
 * @throws UsageError for unusable paths and files; LibraryError `library_missing`; the signal's reason.
 */
async function runReport(
  paths: readonly string[],
  { output, bracket, skipBad }: ReportOptions,
  signal: AbortSignal,
): Promise<boolean> {
  await checkPictures();
  checkPaths(paths, output);
  checkBracket(bracket);
  const anchors = await readBracket(bracket, signal);
  const { gatherer, skipped } = await gatherResults(paths, signal);
  checkBracketGrader(bracket, anchors, gatherer.graders);
  const files = await filesOf(gatherer.data(anchors), signal);
  checkReplaceable(
    '--output',
    output,
    files.map(({ path }) => path),
  );
  const earlier = earlierFiles(output);
  signal.throwIfAborted();
  makeDirectory(output);
  await writeFilesAtomically(files.map(({ path, data }) => ({ path: join(output, path), data })));
  const stale = earlier.filter((name) => files.every(({ path }) => path !== name));
  for (const name of stale) await rm(join(output, name), { force: true });
  process.stdout.write(`${join(output, PAGE)}: ${countsText(files)}.\n`);
  return skipBad || skipped === 0;
}

function checkPaths(paths: readonly string[], output: string): void {
  for (const [k, path] of paths.entries()) {
    checkInput('RESULTS', path);
    checkKind('RESULTS', path, RESULT_FILES);
    if (path === '-' && paths.indexOf(path) !== k) {
      throw new UsageError('Expected the standard input once among RESULTS, got it twice. Pass - once.');
    }
    for (const other of paths.slice(0, k)) checkDifferentFile('RESULTS', path, 'RESULTS', other);
  }
  checkReportDirectory('--output', output);
}

/**
 * Returns the figures, then the page, which is written last so that it exists only with all its figures. Paths are relative
 * to the output directory.
 */
async function filesOf(data: ReportData, signal: AbortSignal): Promise<OutputFile[]> {
  const sections = sectionsOf(data);
  const figures = await drawFigures(sections, signal);
  const files = figures.flatMap(outputsOf);
  const svgs = new Map(figures.map(({ name, svg }) => [name, svg]));
  const metadata = { files: files.map(({ path }) => path), version: packageVersion() };
  return [...files, { path: PAGE, data: pageOf(data, sections, svgs, metadata) }];
}

async function drawFigures(sections: readonly Section[], signal: AbortSignal): Promise<PictureFiles[]> {
  const figures = sections.flatMap(({ parts }) => parts.filter(isFigure));
  using progress = createProgress('figures');
  return await drawAll(figures, { signal, onProgress: progress.update });
}

const countsText = (files: readonly OutputFile[]): string => {
  // Each figure has two files, and the page is one more.
  const figures = (files.length - 1) / 2;
  return `one page, and ${counted(figures, 'figure')} as SVG and PNG beside it`;
};

/** The file name of the page. */
export const PAGE = 'report.html';

/**
 * Returns the names of files in `directory` that reports wrote: the page and its figures, and the figures of a run that was
 * killed before its page was complete. The temporary file of that page lists them.
 */
export function earlierFiles(directory: string): string[] {
  const page = join(directory, PAGE);
  const figures = figuresIn(page);
  const unfinished = temporaryFilesOf(page).flatMap((path) => figuresIn(path) ?? []);
  return [...new Set([...(figures === null ? [] : [PAGE, ...figures]), ...unfinished])];
}

/** Returns the figures that a page lists; null if the file is missing or is not a report's page. */
function figuresIn(page: string): string[] | null {
  if (!stat(page)?.isFile()) return null;
  const [, names] =
    new RegExp(`<meta name="${FILES_META}" content="([\\w. -]*)"`).exec(readFileSync(page, 'utf8')) ?? [];
  return names?.split(' ').filter((name) => /^[\w-]+\.(svg|png)$/.test(name)) ?? null;
}

/** Checks before any work is done that a report can be written to a directory. @throws UsageError. */
export function checkReportDirectory(option: string, directory: string): void {
  checkDirectory(option, directory);
  checkReplaceable(option, directory, [PAGE]);
}

/** Refuses to replace files that no report wrote. @throws UsageError. */
export function checkReplaceable(option: string, directory: string, names: readonly string[]): void {
  const own = earlierFiles(directory);
  const other = names.find((name) => stat(join(directory, name)) !== null && !own.includes(name));
  if (other === undefined) return;
  throw new UsageError(
    `Expected ${option} ${directory} to have no file that the report would overwrite, except files of an earlier report; ` +
      `got ${other}. Name another directory, or remove that file.`,
  );
}

/** The maximum number of characters of a file that is read as one value. Chosen by hand: it limits the memory. */
const MAX_VALUE = 64 * 2 ** 20;

/** The kinds of files that a report reads. */
const RESULT_FILES: readonly FileKind[] = [
  KINDS.evaluation,
  KINDS.reevaluation,
  KINDS.audit,
  KINDS.training,
  KINDS.trajectories,
];

/** Reads all files. @returns the results, and the number of lines left out. */
async function gatherResults(
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
