/**
 * Temporary files of outputs. Each is created beside its target, under a random name that no other file has. Later runs
 * that write the same target remove temporary files that killed runs left.
 *
 * Names: .rhythm-vec-TARGET-HOST-PID-RANDOM.tmp. TARGET is a hash of the target's name. HOST is a hash of the boot
 * and of the process namespace to which PID belongs, or `elsewhere` if the system does not tell them. The length does not
 * depend on the target's name.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  futimesSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Matches a name. Its groups are TARGET, HOST and PID. */
const NAME = /^\.rhythm-vec-([\da-f]{16})-([\da-f]{16}|elsewhere)-(\d+)-[\da-f]{16}\.tmp$/;

/** The interval in milliseconds at which a process updates the modification time of its temporary files. */
export const TOUCH_MS = 3_600_000;
/** A file that was last modified longer ago than this, in milliseconds, counts as left by a killed run. */
export const ABANDONED_MS = 24 * TOUCH_MS;

export interface TemporaryFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Stops updating the file's time. Call it before closing the handle. */
  release(): void;
}

/**
 * Creates an empty temporary file beside `target`, and removes temporary files that killed runs left for the same target.
 * @param target its directory must exist.
 * @param mode of the new file. Default 0o666 minus the umask.
 */
export async function createTemporary(target: string, mode?: number): Promise<TemporaryFile> {
  removeAbandoned(target);
  const path = temporaryPath(target);
  const handle = await open(path, 'wx', mode);
  // `open` subtracts the umask from the mode. If chmod fails, the file keeps these stricter permissions.
  if (mode !== undefined) await handle.chmod(mode & 0o777).catch(() => {});
  const timer = setInterval(() => touch(handle.fd), TOUCH_MS).unref();
  return { path, handle, release: () => clearInterval(timer) };
}

/** Checks that a temporary file can be created: as `createTemporary`, but removes it at once. */
export function tryTemporary(target: string): void {
  removeAbandoned(target);
  const path = temporaryPath(target);
  closeSync(openSync(path, 'wx'));
  rmSync(path);
}

/** Returns a new name for a temporary file of `target`. */
export function temporaryPath(target: string): string {
  const parts = [targetId(target), HOST ?? 'elsewhere', process.pid, randomBytes(8).toString('hex')];
  return join(dirname(target), `.rhythm-vec-${parts.join('-')}.tmp`);
}

/** Returns the paths of the temporary files of `target`, of running and of killed processes. */
export const temporaryFilesOf = (target: string): string[] => {
  const own = targetId(target);
  return namesIn(dirname(target))
    .filter((name) => NAME.exec(name)?.[1] === own)
    .map((name) => join(dirname(target), name));
};

/** Removes the temporary files of killed runs for `target`. */
function removeAbandoned(target: string): void {
  for (const path of temporaryFilesOf(target)) {
    const [, , host, pid] = NAME.exec(basename(path))!;
    if ((host === HOST && !isRunning(Number(pid))) || isUntouched(path)) rmSync(path, { force: true });
  }
}

/** Returns the names in a directory; [] if it cannot be read. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const isUntouched = (path: string): boolean =>
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN) > ABANDONED_MS;

function touch(fd: number): void {
  const now = new Date();
  try {
    futimesSync(fd, now, now);
  } catch {
    // Some file systems store no times. If the file itself is lost, the next write fails.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
const targetId = (target: string): string => hash(foldedName(basename(target)));

/** Returns the same text for names that differ only in case or Unicode normalisation: some file systems treat them as one. */
export const foldedName = (name: string): string => name.normalize('NFC').toLowerCase();

/**
 * The hash of this boot and process namespace. Null if the system has no such identifiers; then only files that were last
 * modified longer ago than ABANDONED_MS are removed.
 */
const HOST = hostId();

function hostId(): string | null {
  try {
    return hash(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8') + readlinkSync('/proc/self/ns/pid'));
  } catch {
    return null;
  }
}
