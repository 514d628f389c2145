/** Who works on a file: nobody pays for the same twice because a command was given twice. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { UsageError } from './failure.js';

/**
 * Takes `PATH.lock`, which holds this process's number. One that a killed process has left is taken over.
 * @returns what gives it back; harmless when called again. @throws UsageError if a process that runs has it.
 */
export function lock(path: string): () => void {
  const place = `${path}.lock`;
  const holder = holderOf(place);
  if (holder !== null && isRunning(holder)) {
    throw new UsageError(
      `Expected nobody else to work on ${path}, got process ${holder}. Wait for it; if it has nothing to do with this, ` +
        `remove ${place}.`,
    );
  }
  if (holder !== null) rmSync(place, { force: true });
  try {
    writeFileSync(place, `${process.pid}\n`, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Another was quicker.
    return lock(path);
  }
  let held = true;
  return () => {
    if (held) rmSync(place, { force: true });
    held = false;
  };
}

/** 0, which is no process, for a file that says nothing; null for none. */
function holderOf(place: string): number | null {
  try {
    return Number.parseInt(readFileSync(place, 'utf8'), 10) || 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** A number of this process's own is that of one before it, in a container for instance. */
function isRunning(id: number): boolean {
  if (id === 0 || id === process.pid) return false;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
