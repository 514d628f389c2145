/** The errors of commands, their messages and exit codes. */

import { CommanderError } from 'commander';
import { InputError, RhythmError } from '../shared/errors.js';
import { shortened, toPrintable } from '../shared/names.js';

/** Exit codes. The code after a signal is 128 plus the number of the signal, as in shells. */
export const EXIT = {
  failure: 1,
  usage: 2,
  budget: 3,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** An error in the command's arguments. */
export class UsageError extends Error {}

/** The reason for aborting a command: the process was asked to stop. */
export class Interruption extends Error {
  readonly exitCode: number;
  /**
   * Milliseconds that the command may take to stop, chosen by hand. Then the process is ended: a blocking system call, such as
   * opening a pipe, may never return.
   */
  graceMs = 2000;
  constructor(exitCode: number) {
    super('Interrupted. No output file was changed.');
    this.exitCode = exitCode;
  }
}

/** Returns the exit code for an error; 0 for a closed pipe, and for help or the version, after which commander also throws. */
export function exitCodeOf(error: unknown): number {
  if (isClosedPipe(error)) return 0;
  if (error instanceof Interruption) return error.exitCode;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  // A separate code, so that scripts can raise the budget.
  if (error instanceof RhythmError && error.code === 'over_budget') return EXIT.budget;
  return isUsage(error) ? EXIT.usage : EXIT.failure;
}

/** Returns whether the error means that the reader closed the pipe early, as `head` does. */
const isClosedPipe = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE';

/** Returns whether the error is caused by the command's arguments. */
export const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || error instanceof InputError;

/** The maximum number of characters of a system error's message, chosen by hand. */
const MAX_TEXT = 400;

/** Remedies by system call. */
const REMEDIES: Readonly<Record<string, string>> = {
  listen: 'Pass another --port, or --host.',
  bind: 'Pass another --port, or --host.',
  getaddrinfo: 'Pass another --host.',
};

/** Remedies by error code. They take precedence over REMEDIES. */
const REMEDIES_BY_CODE: Readonly<Record<string, string>> = {
  ENOSPC: 'Free some space, or choose another place.',
  EDQUOT: 'Free some space, or choose another place.',
  EFBIG: 'Raise the limit of the file size (ulimit -f), or choose another place.',
};

/**
 * Returns the message to print for an error; '' if commander has printed it, or if the reader closed the pipe. Only unexpected
 * errors have a stack trace. Errors quote files and paths, so characters that terminals interpret are replaced.
 */
export const messageOf = (error: unknown): string => textOf(error).split('\n').map(toPrintable).join('\n');

function textOf(error: unknown): string {
  if (error instanceof CommanderError || isClosedPipe(error)) return '';
  if (!(error instanceof Error)) return `error: ${String(error)}`;
  const isExpected = isUsage(error) || error instanceof RhythmError || error instanceof Interruption;
  if (isExpected) return `error: ${error.message}`;
  if ('syscall' in error) {
    const code = 'code' in error ? String(error.code) : '';
    const remedy = REMEDIES_BY_CODE[code] ?? REMEDIES[String(error.syscall)] ?? 'Check the path.';
    return `error: Expected the system call ${error.syscall} to succeed, got ${shortened(error.message, MAX_TEXT)}. ${remedy}`;
  }
  return `error: ${error.stack ?? error.message}\nThis is a bug in rhythm-vec.`;
}
