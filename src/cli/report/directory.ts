/** The directory of a report: what of it may be replaced, and what an earlier report left there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILES_META } from '../../report/page.js';
import { UsageError } from '../failure.js';
import { checkDirectory, stat } from '../files/output-file.js';

export const PAGE = 'report.html';

/** The names that the report there has made, its page included; none where there is no report. */
export function earlierFiles(directory: string): string[] {
  const page = join(directory, PAGE);
  if (!stat(page)?.isFile()) return [];
  const [, names] =
    new RegExp(`<meta name="${FILES_META}" content="([\\w. -]*)"`).exec(readFileSync(page, 'utf8')) ?? [];
  return names === undefined
    ? []
    : [PAGE, ...names.split(' ').filter((name) => /^[\w-]+\.(svg|png)$/.test(name))];
}

/** Refuses, before any work is done, a directory where no report can be written. @throws UsageError. */
export function checkReportDirectory(option: string, directory: string): void {
  checkDirectory(option, directory);
  checkReplaceable(option, directory, [PAGE]);
}

/** Refuses files that another has made. @throws UsageError. */
export function checkReplaceable(option: string, directory: string, names: readonly string[]): void {
  const own = earlierFiles(directory);
  const foreign = names.find((name) => stat(join(directory, name)) !== null && !own.includes(name));
  if (foreign === undefined) return;
  throw new UsageError(
    `Expected ${option} ${directory} to hold nothing of a report's names but a report, got ${foreign}, which no report there ` +
      'has made. Name another directory, or remove it.',
  );
}
