/** The directory of a report: finds the files of an earlier report, which may be replaced. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILES_META } from '../../report/page.js';
import { UsageError } from '../command-errors.js';
import { checkDirectory } from '../files/check-outputs.js';
import { temporaryFilesOf } from '../files/output-file.js';
import { stat } from '../files/paths.js';

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
