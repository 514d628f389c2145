/** How commands fail: a message for people and an exit code for scripts. */

import { CommanderError } from 'commander';
import { InputError, RhythmError } from '../errors.js';
import { shortened } from '../validate/names.js';

export const EXIT = {
  failure: 1,
  usage: 2,
  budget: 3,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** Arguments that cannot be what was meant. */
export class UsageError extends Error {}

/** The reason of an aborted signal: someone asked the process to stop. */
export class Interruption extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super('Interrupted. No output file was changed.');
    this.exitCode = exitCode;
  }
}

/** The exit code for what a command threw; 0 for a request for help or the version, which commander throws too. */
export function exitCodeOf(error: unknown): number {
  if (isClosedPipe(error)) return 0;
  if (error instanceof Interruption) return error.exitCode;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  // Of its own, so that scripts can tell what more money would mend.
  if (error instanceof RhythmError && error.code === 'over_budget') return EXIT.budget;
  return isUsage(error) ? EXIT.usage : EXIT.failure;
}

/** A reader that has seen enough, such as head. */
const isClosedPipe = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE';

export const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || error instanceof InputError;

const MAX_TEXT = 400;

/** By what the system was asked, where that was no file. */
const REMEDIES: Readonly<Record<string, string>> = {
  listen: 'Pass another --port, or --host.',
  getaddrinfo: 'Pass another --host.',
};

/** By what the system said, where that says more. */
const REMEDIES_BY_CODE: Readonly<Record<string, string>> = {
  ENOSPC: 'Make room there, or choose another place.',
  EDQUOT: 'Make room there, or choose another place.',
  EFBIG: 'Raise the limit of a file (ulimit -f), or choose another place.',
};

/** What to print for it; '' where commander has said it. A stack trace only for what nobody foresaw. */
export function messageOf(error: unknown): string {
  if (error instanceof CommanderError || isClosedPipe(error)) return '';
  if (!(error instanceof Error)) return `error: ${String(error)}`;
  const foreseen = isUsage(error) || error instanceof RhythmError || error instanceof Interruption;
  if (foreseen) return `error: ${error.message}`;
  if ('syscall' in error) {
    const code = 'code' in error ? String(error.code) : '';
    const remedy = REMEDIES_BY_CODE[code] ?? REMEDIES[String(error.syscall)] ?? 'Check the path.';
    return `error: Expected the system to ${error.syscall} it, got ${shortened(error.message, MAX_TEXT)}. ${remedy}`;
  }
  return `error: ${error.stack ?? error.message}\nThis is a fault of rhythm-vec itself.`;
}
