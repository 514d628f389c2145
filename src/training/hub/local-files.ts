/** Resolves paths to the files to upload, their targets, and the entries that are left out. */
import { lstatSync, openAsBlob, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { InputError } from '../../shared/errors.js';
import { toPrintable } from '../../shared/names.js';

export interface LocalFile {
  /** The path on this machine. */
  readonly source: string;
  /** The path in the repository, with slashes. */
  readonly target: string;
  /** The content, which is not read yet. Reading fails if the file changes. */
  readonly blob: Blob;
}

/** A directory's entry that is not uploaded. */
interface LeftOut {
  readonly path: string;
  readonly reason: string;
}

export interface LocalFiles {
  readonly files: readonly LocalFile[];
  readonly leftOut: readonly LeftOut[];
}

/** The file name of a card. */
export const CARD = 'README.md';

/**
 * Collects the files of paths.
 * @param paths files keep their names; contents of directories keep their relative paths.
 * @param prefix a directory of the repository for all files but the card; '' is the root.
 * @throws InputError for an invalid prefix, a path that is missing or neither file nor directory, a file that cannot be opened,
 *   no files, and targets that are invalid or clash.
 */
export async function collectFiles(paths: readonly string[], prefix = ''): Promise<LocalFiles> {
  const directory = checkPrefix(prefix);
  const leftOut: LeftOut[] = [];
  const found = paths.flatMap((path) => (isDirectory(path) ? filesWithin(path, leftOut) : [fileAt(path)]));
  const targets = withoutRepeats(
    found.map(({ source, target }) => ({ source, target: targetIn(directory, target) })),
  );
  checkTargets(targets);
  if (targets.length === 0) {
    const reason = leftOut.length === 0 ? 'there are none' : `all were left out: ${leftOutText(leftOut[0])}`;
    throw new InputError(
      'wrong_length',
      `Expected files to upload, but ${reason}. Pass a file, or a directory with files.`,
    );
  }
  const files: LocalFile[] = [];
  for (const each of targets) files.push({ ...each, blob: await openFile(each.source) });
  return { files, leftOut };
}

/** Formats an entry that was left out: the path and the reason. */
export const leftOutText = ({ path, reason }: LeftOut): string => `${toPrintable(path)} (${reason})`;

async function openFile(path: string): Promise<Blob> {
  try {
    return await openAsBlob(path);
  } catch {
    throw new InputError(
      'wrong_type',
      `Expected readable files, got ${quoted(path)}, which cannot be opened. Check its permissions.`,
    );
  }
}

/** A file that is not opened yet. */
type FilePaths = Omit<LocalFile, 'blob'>;

/** Adds the directory to a target. The card stays at the root: the Hub reads it only there. */
const targetIn = (directory: string, target: string): string =>
  directory === '' || target === CARD ? target : `${directory}/${target}`;

const fileAt = (path: string): FilePaths => ({ source: path, target: basename(resolve(path)) });

function isDirectory(path: string): boolean {
  const stats = statOf(path);
  if (stats === null) {
    throw new InputError(
      'unknown_name',
      `Expected a file or a directory to upload, got ${quoted(path)}, which does not exist. Check the path.`,
    );
  }
  if (stats.isDirectory() || stats.isFile()) return stats.isDirectory();
  throw new InputError(
    'wrong_type',
    `Expected a file or a directory to upload, got ${quoted(path)}, which is neither. Write its contents to a file.`,
  );
}

const quoted = (path: string): string => JSON.stringify(toPrintable(path));

function statOf(path: string): Stats | null {
  try {
    return path === '' ? null : (statSync(path, { throwIfNoEntry: false }) ?? null);
  } catch (error) {
    if (['ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return null;
    throw error;
  }
}

/** Returns all files within a directory. Adds hidden and unfinished entries, links and devices to `leftOut` instead. */
function filesWithin(root: string, leftOut: LeftOut[]): FilePaths[] {
  const files: FilePaths[] = [];
  const walk = (directory: string) => {
    const names = readdirSync(directory).sort();
    for (const name of names) {
      const source = join(directory, name);
      const stats = lstatSync(source);
      const reason = reasonToLeaveOut(name, stats);
      if (reason !== null) leftOut.push({ path: source, reason });
      else if (stats.isDirectory()) walk(source);
      else files.push({ source, target: relative(root, source).split(sep).join('/') });
    }
  };
  walk(root);
  return files;
}

function reasonToLeaveOut(name: string, stats: Stats): string | null {
  if (name.startsWith('.')) return 'its name begins with a dot';
  // Commands write these files beside an output that is not complete, and editors write those that end with ~.
  if (/\.(partial(\.footer)?|tmp|(jsonl|parquet)\.lock)$|~$/.test(name)) return 'unfinished';
  if (stats.isSymbolicLink()) return 'a link';
  return stats.isDirectory() || stats.isFile() ? null : 'not a file';
}

function checkPrefix(prefix: string): string {
  const directory = prefix.replace(/^\.?\/+|\/+$/g, '').replace(/^\.$/, '');
  if (directory !== '') checkTarget(directory, '--path-in-repo');
  return directory;
}

/** Refuses an invalid target. The limit of 1000 bytes is chosen by hand. */
function checkTarget(target: string, what: string): void {
  const parts = target.split('/');
  const bad = parts.some((part) => ['', '.', '..', '.git'].includes(part)) || target.includes('\\');
  if (!bad && target === toPrintable(target) && Buffer.byteLength(target) <= 1000) return;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be a path of a repository: printable, at most 1000 bytes, names separated by /, none of them empty, ` +
      `., .. or .git; got ${quoted(target.slice(0, 200))}. Rename it.`,
  );
}

/** Removes files that were passed twice with the same target, such as by name and with their directory. */
function withoutRepeats(files: readonly FilePaths[]): FilePaths[] {
  const unique = new Map(files.map((file) => [`${resolve(file.source)}\0${file.target}`, file]));
  return [...unique.values()];
}

/** Refuses an invalid target, two files with the same target, and a file whose target is a directory of another. */
function checkTargets(files: readonly FilePaths[]): void {
  const byTarget = new Map<string, FilePaths>();
  for (const file of files) {
    checkTarget(file.target, quoted(file.source));
    const other = byTarget.get(file.target);
    if (other !== undefined) refuseClash(other, file, file.target);
    byTarget.set(file.target, file);
  }
  for (const file of files) {
    for (let at = file.target.lastIndexOf('/'); at > 0; at = file.target.lastIndexOf('/', at - 1)) {
      const other = byTarget.get(file.target.slice(0, at));
      if (other !== undefined) refuseClash(other, file, other.target);
    }
  }
}

function refuseClash(one: FilePaths, other: FilePaths, target: string): never {
  throw new InputError(
    'not_alike',
    `Expected each file to have a target of its own, but ${quoted(one.source)} and ${quoted(other.source)} clash at ${quoted(target)}. ` +
      'Upload one of them with --path-in-repo, or to a repository of its own.',
  );
}
