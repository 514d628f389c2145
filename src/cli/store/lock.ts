/** Locks an output file, so that two commands do not pay for the same work. */
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { LibraryError } from '../../shared/errors.js';
import { isNotInstalled, load, PACKAGES } from '../../shared/optional-packages.js';
import { UsageError } from '../command-errors.js';
import { lockOf, stat } from '../files/paths.js';

/**
 * Locks `PATH.lock`, and writes the id of this process into it. The operating system releases the lock when the process
 * ends, even if it is killed; a stopped process keeps it.
 * @returns a function that releases the lock; calling it again does nothing.
 * @throws UsageError if another process holds the lock, or if the file system or the platform has no locks; LibraryError
 *   without the package fs-native-extensions.
 */
export async function lock(path: string): Promise<() => void> {
  const lockPath = lockOf(path);
  for (;;) {
    const fd = openSync(lockPath, 'a+');
    let [granted, held] = [false, false];
    try {
      granted = await tryLock(fd, lockPath);
      // The previous holder may have removed the file after this process opened it.
      held = granted && fstatSync(fd).ino === stat(lockPath)?.ino;
      if (held) return hold(fd, lockPath);
    } finally {
      if (!held) closeSync(fd);
    }
    if (granted) continue;
    throw new UsageError(
      `Expected no other command to work on ${path}, got ${holderOf(lockPath)}. Wait until it ends, or end it.`,
    );
  }
}

async function tryLock(fd: number, lockPath: string): Promise<boolean> {
  try {
    // Imported on use, because some platforms have no binary of the package. Commands without a lock work there.
    const locks = await load('locks of files', PACKAGES.models, () => import('fs-native-extensions'));
    return locks.tryLock(fd);
  } catch (error) {
    const cause = (error instanceof LibraryError ? error.cause : error) as NodeJS.ErrnoException;
    // The package is not installed. If it is installed without a binary for this platform, the code is another.
    if (error instanceof LibraryError && isNotInstalled(cause)) throw error;
    throw new UsageError(
      `Expected ${lockPath} to be locked, got: ${cause.message}. ` +
        'Choose an output on a disk of this machine; use Linux with glibc, macOS or Windows.',
    );
  }
}

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
