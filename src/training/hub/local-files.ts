/** Resolves paths to the files to upload, their targets, and the entries that are left out. */
import { existsSync, lstatSync, openAsBlob, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { type ErrorCode, InputError } from '../../shared/errors.js';
import { toPrintable } from '../../shared/names.js';

export interface LocalFile {
  /** The path on this machine. */
  readonly source: string;
  /** The path in the repository, with slashes. */
  readonly target: string;
  /** The content, which is not read yet. Reading fails if the file changes. */
  readonly blob: Blob;
}

export interface LocalFiles {
  readonly files: readonly LocalFile[];
  /** The entries of directories that are not uploaded: path and reason. */
  readonly leftOut: readonly string[];
}

/** The file name of a card. */
export const CARD = 'README.md';

/** A file that is not opened yet. */
type FilePaths = Omit<LocalFile, 'blob'>;

/**
 * Collects the files of paths.
 * @param paths files keep their names; contents of directories keep their relative paths.
 * @param prefix a directory of the repository for all files but the card, which the Hub reads only at the root; '' is the root.
 * @throws InputError for an invalid prefix, a path that is missing or neither file nor directory, a file that cannot be opened,
 *   no files, and targets that are invalid or clash.
 */
export async function collectFiles(paths: readonly string[], prefix = ''): Promise<LocalFiles> {
  const directory = prefix.replace(/^\.?\/+|\/+$/g, '').replace(/^\.$/, '');
  if (directory !== '') checkTarget(directory, '--path-in-repo');
  const leftOut: string[] = [];
  const found = paths
    .flatMap((path) => (isDirectory(path) ? filesWithin(path, leftOut) : [fileAt(path)]))
    .map(({ source, target }) => ({
      source,
      target: directory === '' || target === CARD ? target : `${directory}/${target}`,
    }));
  // A file may be passed twice, such as by name and with its directory.
  const unique = [
    ...new Map(found.map((file) => [`${resolve(file.source)}\0${file.target}`, file])).values(),
  ];
  checkTargets(unique);
  if (unique.length === 0) {
    const reason = leftOut.length === 0 ? 'there are none' : `all were left out: ${leftOut[0]}`;
    refuse('wrong_length', `files to upload, but ${reason}. Pass a file, or a directory with files.`);
  }
  const files: LocalFile[] = [];
  for (const each of unique) files.push({ ...each, blob: await openFile(each.source) });
  return { files, leftOut };
}

function refuse(code: ErrorCode, text: string): never {
  throw new InputError(code, `Expected ${text}`);
}

const quoted = (path: string): string => JSON.stringify(toPrintable(path));

const openFile = (path: string): Promise<Blob> =>
  openAsBlob(path).catch(() =>
    refuse(
      'wrong_type',
      `readable files, got ${quoted(path)}, which cannot be opened. Check its permissions.`,
    ),
  );

const fileAt = (path: string): FilePaths => ({ source: path, target: basename(resolve(path)) });

function isDirectory(path: string): boolean {
  const what = `a file or a directory to upload, got ${quoted(path)}, which`;
  if (!existsSync(path)) refuse('unknown_name', `${what} does not exist. Check the path.`);
  const stats = statSync(path);
  if (stats.isDirectory() || stats.isFile()) return stats.isDirectory();
  refuse('wrong_type', `${what} is neither. Write its contents to a file.`);
}

/** Returns all files within a directory. Adds hidden and unfinished entries, links and devices to `leftOut` instead. */
function filesWithin(root: string, leftOut: string[], directory = root): FilePaths[] {
  return readdirSync(directory)
    .sort()
    .flatMap((name): FilePaths[] => {
      const source = join(directory, name);
      const stats = lstatSync(source);
      const reason = reasonToLeaveOut(name, stats);
      if (reason !== null) leftOut.push(`${toPrintable(source)} (${reason})`);
      if (reason !== null) return [];
      if (stats.isDirectory()) return filesWithin(root, leftOut, source);
      return [{ source, target: relative(root, source).split(sep).join('/') }];
    });
}

function reasonToLeaveOut(name: string, stats: Stats): string | null {
  if (name.startsWith('.')) return 'its name begins with a dot';
  // Commands write these files beside an output that is not complete, and editors write those that end with ~.
  if (/\.(partial(\.footer)?|tmp|(jsonl|parquet)\.lock)$|~$/.test(name)) return 'unfinished';
  if (stats.isSymbolicLink()) return 'a link';
  return stats.isDirectory() || stats.isFile() ? null : 'not a file';
}

/** Refuses an invalid target. The limit of 1000 bytes is chosen by hand. */
function checkTarget(target: string, what: string): void {
  const hasBadName = target.split('/').some((name) => ['', '.', '..', '.git'].includes(name));
  const isPath = !hasBadName && !target.includes('\\') && target === toPrintable(target);
  if (isPath && Buffer.byteLength(target) <= 1000) return;
  refuse(
    'out_of_range',
    `${what} to be a path of a repository: printable, at most 1000 bytes, names separated by /, none of them empty, ` +
      `., .. or .git; got ${quoted(target.slice(0, 200))}. Rename it.`,
  );
}

/** Refuses an invalid target, two files with the same target, and a file whose target is a directory of another. */
function checkTargets(files: readonly FilePaths[]): void {
  const byTarget = new Map(files.map((file) => [file.target, file]));
  for (const file of files) {
    checkTarget(file.target, quoted(file.source));
    const names = file.target.split('/');
    for (const k of names.keys()) {
      const other = byTarget.get(names.slice(0, k + 1).join('/'));
      if (other === undefined || other === file) continue;
      refuse(
        'not_alike',
        `each file to have a target of its own, but ${quoted(other.source)} and ${quoted(file.source)} clash at ` +
          `${quoted(other.target)}. Upload one of them with --path-in-repo, or to a repository of its own.`,
      );
    }
  }
}
