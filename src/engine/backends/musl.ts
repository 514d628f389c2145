/** Recognises the C library musl, on which the prebuilds for Linux, built for glibc, must not be loaded. */
import { closeSync, openSync, readSync } from 'node:fs';

/** The first bytes of an executable, which include the path of its dynamic loader. */
const HEAD_BYTES = 4096;

/**
 * Returns whether this process runs on musl. Its executable names the dynamic loader of its C library. If it names none of
 * the two, or may not be read, the process's report decides, which takes milliseconds.
 */
export function runsOnMusl(executable: string = process.execPath): boolean {
  const [, libc] = /\/ld-(musl|linux)/.exec(headOf(executable)) ?? [];
  return libc === undefined ? !reportsGlibc() : libc === 'musl';
}

function headOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    const head = Buffer.alloc(HEAD_BYTES);
    readSync(file, head);
    closeSync(file);
    return head.toString('latin1');
  } catch {
    return '';
  }
}

/** Returns whether the report names a version of glibc, also if there is no report: most systems have glibc. */
function reportsGlibc(): boolean {
  try {
    const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    return header.glibcVersionRuntime !== undefined;
  } catch {
    return true;
  }
}
