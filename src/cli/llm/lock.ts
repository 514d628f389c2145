/** Who works on a file: nobody pays for the same twice because a command was given twice. */
import { closeSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { UsageError } from '../failure.js';

/** Which file says that somebody works on another. */
export const lockOf = (path: string): string => `${path}.lock`;

/**
 * Takes `PATH.lock`, which holds this process's number. One that a killed process has left is taken over, by one of those
 * who find it.
 * @returns what gives it back; harmless when called again. @throws UsageError if a process that runs has it.
 */
export function lock(path: string): () => void {
  const place = lockOf(path);
  while (!create(place)) {
    const text = textOf(place);
    const holder = text === null ? 0 : Number.parseInt(text, 10) || 0;
    if (isRunning(holder)) {
      throw new UsageError(
        `Expected nobody else to work on ${path}, got process ${holder}. Wait for it; if it has nothing to do with this, ` +
          `remove ${place}.`,
      );
    }
    if (text !== null) removeLeft(place, text);
  }
  let held = true;
  return () => {
    if (held) rmSync(place, { force: true });
    held = false;
  };
}

/** With its number in it from the first moment: an empty one would look as if a killed process had left it. @returns whether. */
function create(place: string): boolean {
  const own = `${place}.${process.pid}`;
  try {
    writeFileSync(own, `${process.pid}\n`);
    linkSync(own, place);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    if (!HAVE_NO_LINKS.some((code) => isCode(error, code))) throw error;
    return createWithoutLinks(place);
  } finally {
    rmSync(own, { force: true });
  }
}

/** What file systems say that have none, such as those of memory cards. */
const HAVE_NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

function createWithoutLinks(place: string): boolean {
  try {
    writeFileSync(place, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Removes what a killed process has left, unless another has done so, and taken the place, since `text` was read. */
function removeLeft(place: string, text: string): void {
  const claim = `${place}.claim`;
  try {
    closeSync(openSync(claim, 'wx'));
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    throw new UsageError(
      `Expected nobody else to take over ${place}, got ${claim}. Try again; if it stays, remove it.`,
    );
  }
  try {
    if (textOf(place) === text) rmSync(place, { force: true });
  } finally {
    rmSync(claim, { force: true });
  }
}

/** Null where there is none. */
function textOf(place: string): string | null {
  try {
    return readFileSync(place, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

const isCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code;

/** A number of this process's own is that of one before it, in a container for instance; below 1 there is no process. */
function isRunning(id: number): boolean {
  if (id < 1 || id === process.pid) return false;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}
