/** The option --format: the format of an output, by name or by the file's ending. */
import { extname } from 'node:path';
import { Option } from 'commander';
import { FORMATS, type RowFormat } from '../../shared/row-files/file-formats.js';
import { UsageError } from '../command-errors.js';

/** Returns the option. @param what the output that has the format, such as "of --output". */
export const formatOption = (what: string): Option =>
  new Option('--format <name>', `the format ${what} (default: by its ending, else jsonl)`).choices(
    FORMAT_NAMES,
  );

/** The names of all formats. */
export const FORMAT_NAMES: readonly string[] = FORMATS.map(({ name }) => name);

/** The format of JSON lines. */
export const [LINES] = FORMATS;

/**
 * Returns the format of --format, or else of the file's ending; undefined if neither names one. If both do, they must agree,
 * because many programs choose a reader by the ending. @param option the option that names the file.
 * @throws UsageError if they differ.
 */
export function formatOf(option: string, path: string, format: string | undefined): RowFormat | undefined {
  const ending = extname(path).slice(1).toLowerCase();
  const named = FORMATS.find(({ name }) => name === ending);
  const chosen = FORMATS.find(({ name }) => name === format) ?? named;
  if (named === undefined || named === chosen) return chosen;
  throw new UsageError(
    `Expected ${option} to end with .${chosen!.name}, as --format says, got ${path}. Change ${option} or --format.`,
  );
}
