/** Writes the page of `rhythm-vec report` and its figures into a directory. */

import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { counted } from '../evaluation/format-results.js';
import { FILES_META, pageOf, sectionsOf } from '../report/page.js';
import type { ReportData } from '../report/result-gatherer.js';
import { isFigure, type Section } from '../report/section.js';
import { packageVersion } from '../shared/version.js';
import { UsageError } from './command-errors.js';
import { checkBracketGrader, readBracket } from './eval/bracket.js';
import { checkDirectory } from './files/check-outputs.js';
import { checkKind } from './files/file-kind.js';
import { checkBracket, checkDifferentFile, checkInput } from './files/input-file.js';
import { type OutputFile, temporaryFilesOf, writeFilesAtomically } from './files/output-file.js';
import { makeDirectory, stat } from './files/paths.js';
import { drawAll, outputsOf, type PictureFiles } from './files/picture-files.js';
import { createProgress } from './progress.js';
import { gatherResults, RESULT_FILES } from './report-input.js';

export interface ReportOptions {
  readonly output: string;
  /** The path of an audit's JSON. */
  readonly bracket?: string;
  readonly skipBad: boolean;
}

/**
 * Writes the page and its figures. Removes the figures of an earlier report that this one does not have.
 * @returns false if lines were left out and `skipBad` is off.
 * @throws UsageError for unusable paths and files; LibraryError `library_missing`; the signal's reason.
 */
export async function runReport(
  paths: readonly string[],
  { output, bracket, skipBad }: ReportOptions,
  signal: AbortSignal,
): Promise<boolean> {
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
