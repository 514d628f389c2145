/** Resolves paths to files to upload: each file's target, and what is left out. */
import { lstatSync, openAsBlob, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { InputError } from '../../shared/errors.js';
import { madePrintable } from '../../shared/printable-names.js';

export interface LocalFile {
  readonly source: string;
  /** In the repository, with slashes. */
  readonly target: string;
  /** Lazy. Reading it fails once the file has changed. */
  readonly blob: Blob;
}

export interface LeftOut {
  readonly path: string;
  readonly why: string;
}

export interface LocalFiles {
  readonly files: readonly LocalFile[];
  readonly leftOut: readonly LeftOut[];
}

/** The Hub shows it on the repository's page, and only from there. */
export const CARD = 'README.md';

/**
 * @param paths of files, which keep their names, and of directories, whose contents keep their relative paths.
 * @param prefix a directory of the repository that all go to, but for cards; '' is its root.
 * @throws InputError for what is not there, for no files at all, and for two that go to the same place.
 */
export async function collectFiles(paths: readonly string[], prefix = ''): Promise<LocalFiles> {
  const directory = checkPrefix(prefix);
  const leftOut: LeftOut[] = [];
  const found = paths.flatMap((path) => (isDirectory(path) ? within(path, leftOut) : [named(path)]));
  const targets = withoutRepeats(
    found.map(({ source, target }) => ({ source, target: placeOf(target, directory) })),
  );
  checkTargets(targets);
  if (targets.length === 0) {
    const why = leftOut.length === 0 ? 'there are none' : `all were left out: ${leftOutText(leftOut[0])}`;
    throw new InputError(
      'wrong_length',
      `Expected files to upload, but ${why}. Name a file, or a directory that has some.`,
    );
  }
  const files: LocalFile[] = [];
  for (const each of targets) files.push({ ...each, blob: await opened(each.source) });
  return { files, leftOut };
}

/** One that was left out, as people read it. */
export const leftOutText = ({ path, why }: LeftOut): string => `${madePrintable(path)} (${why})`;

async function opened(path: string): Promise<Blob> {
  try {
    return await openAsBlob(path);
  } catch {
    throw new InputError(
      'wrong_type',
      `Expected files that may be read, got ${say(path)}, which may not be, or is gone. Check its permissions.`,
    );
  }
}

type Place = Omit<LocalFile, 'blob'>;

/** A card is only read at the root; what is deeper than an uploaded directory's top is no card of the repository. */
const placeOf = (target: string, directory: string): string =>
  directory === '' || target === CARD ? target : `${directory}/${target}`;

const named = (path: string): Place => ({ source: path, target: basename(resolve(path)) });

function isDirectory(path: string): boolean {
  const there = statOf(path);
  if (there === null) {
    throw new InputError(
      'unknown_name',
      `Expected a file or a directory to upload, got ${say(path)}; there is none. Check the path.`,
    );
  }
  if (there.isDirectory() || there.isFile()) return there.isDirectory();
  throw new InputError(
    'wrong_type',
    `Expected a file or a directory to upload, got ${say(path)}, which is neither. Write it to a file.`,
  );
}

const say = (path: string): string => JSON.stringify(madePrintable(path));

function statOf(path: string): Stats | null {
  try {
    return path === '' ? null : (statSync(path, { throwIfNoEntry: false }) ?? null);
  } catch (error) {
    if (['ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return null;
    throw error;
  }
}

/** All files of a directory, in the order of their names, but for those that nobody means to publish. */
function within(root: string, leftOut: LeftOut[]): Place[] {
  const places: Place[] = [];
  const walk = (directory: string) => {
    const names = readdirSync(directory).sort();
    for (const name of names) {
      const source = join(directory, name);
      const there = lstatSync(source);
      const why = whyNot(name, there);
      if (why !== null) leftOut.push({ path: source, why });
      else if (there.isDirectory()) walk(source);
      else places.push({ source, target: relative(root, source).split(sep).join('/') });
    }
  };
  walk(root);
  return places;
}

function whyNot(name: string, there: Stats): string | null {
  if (name.startsWith('.')) return 'hidden by its dot';
  // What stands beside the output of a teacher who is paid, too.
  if (/\.(partial|spent|tmp|jsonl\.lock)$|~$/.test(name)) return 'unfinished';
  if (there.isSymbolicLink()) return 'a link';
  return there.isDirectory() || there.isFile() ? null : 'no file';
}

function checkPrefix(prefix: string): string {
  const directory = prefix.replace(/^\.?\/+|\/+$/g, '').replace(/^\.$/, '');
  if (directory !== '') checkTarget(directory, '--path-in-repo');
  return directory;
}

function checkTarget(target: string, what: string): void {
  const parts = target.split('/');
  const bad = parts.some((part) => ['', '.', '..', '.git'].includes(part)) || target.includes('\\');
  if (!bad && target === madePrintable(target) && Buffer.byteLength(target) <= 1000) return;
  throw new InputError(
    'out_of_range',
    `Expected ${what} to be a path that a repository can hold: printable, with / between names, none of them empty, . .. or ` +
      `.git; got ${say(target.slice(0, 200))}. Rename it.`,
  );
}

/** A file that is named twice, such as beside its directory, is no clash. */
function withoutRepeats(places: readonly Place[]): Place[] {
  const known = new Map(places.map((place) => [`${resolve(place.source)}\0${place.target}`, place]));
  return [...known.values()];
}

function checkTargets(places: readonly Place[]): void {
  const bySpot = new Map<string, Place>();
  for (const place of places) {
    checkTarget(place.target, say(place.source));
    const other = bySpot.get(place.target);
    if (other !== undefined) refuseClash(other, place, place.target);
    bySpot.set(place.target, place);
  }
  for (const place of places) {
    for (let at = place.target.lastIndexOf('/'); at > 0; at = place.target.lastIndexOf('/', at - 1)) {
      const file = bySpot.get(place.target.slice(0, at));
      if (file !== undefined) refuseClash(file, place, file.target);
    }
  }
}

function refuseClash(one: Place, other: Place, target: string): never {
  throw new InputError(
    'not_alike',
    `Expected each file to go to a place of its own, but ${say(one.source)} and ${say(other.source)} both go to ${say(target)}. ` +
      'Upload one of them with --path-in-repo, or to a repository of its own.',
  );
}
