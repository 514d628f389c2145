/** Locks an output file, so that two commands do not pay for the same work. */
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { LibraryError } from '../../shared/errors.js';
import { load, PACKAGES } from '../../shared/optional-packages.js';
import { UsageError } from '../command-errors.js';
import { stat } from '../files/paths.js';

/** Returns the path of the lock file of an output. */
export const lockOf = (path: string): string => `${path}.lock`;

/**
 * Locks `PATH.lock`, and writes the id of this process into it. The operating system releases the lock when the process
 * ends, even if it is killed.
 * @returns a function that releases the lock; calling it again does nothing.
 * @throws UsageError if another process holds the lock, or if the file system or the platform has no locks; LibraryError
 *   without the package fs-native-extensions.
 */
export async function lock(path: string): Promise<() => void> {
  const lockPath = lockOf(path);
  for (;;) {
    const fd = openSync(lockPath, 'a+');
    const granted = await tryLock(fd, lockPath).catch((error: unknown) => {
      closeSync(fd);
      throw error;
    });
    // The previous holder may have removed the file after this process opened it.
    if (granted && fstatSync(fd).ino === stat(lockPath)?.ino) return hold(fd, lockPath);
    closeSync(fd);
    if (!granted) {
      throw new UsageError(
        `Expected no other command to work on ${path}, got ${holderOf(lockPath)}. Wait until it ends, or end it.`,
      );
    }
  }
}

async function tryLock(fd: number, lockPath: string): Promise<boolean> {
  try {
    // Imported on use, because some platforms have no binary of the package. Commands without a lock work there.
    const locks = await load('locks of files', PACKAGES.models, () => import('fs-native-extensions'));
    return locks.tryLock(fd);
  } catch (error) {
    if (isMissing(error)) throw error;
    throw new UsageError(
      `Expected ${lockPath} to be locked, got: ${messageOf(error)}. ` +
        'Choose an output on a disk of this machine; use Linux with glibc, macOS or Windows.',
    );
  }
}

const messageOf = (error: unknown): string =>
  ((error instanceof LibraryError ? error.cause : error) as Error).message;

/** Returns whether the package is not installed; false if it is installed without a binary for this platform. */
const isMissing = (error: unknown): boolean =>
  error instanceof LibraryError && (error.cause as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';

function hold(fd: number, lockPath: string): () => void {
  ftruncateSync(fd);
  writeSync(fd, `process ${process.pid} on ${hostname()}\n`);
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    rmSync(lockPath, { force: true });
    closeSync(fd);
  };
}

function holderOf(lockPath: string): string {
  try {
    return readFileSync(lockPath, 'utf8').trim() || 'another command';
  } catch {
    return 'another command';
  }
}
