/** How commands fail: a message for people and an exit code for scripts. */
import { CommanderError } from 'commander';
import { InputError, RhythmError } from '../errors.js';

export const EXIT = { failure: 1, usage: 2, interrupted: 130, terminated: 143 } as const;

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
  if (error instanceof Interruption) return error.exitCode;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  return isUsage(error) ? EXIT.usage : EXIT.failure;
}

export const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || error instanceof InputError;

/** What to print for it; '' where commander has said it. A stack trace only for what nobody foresaw. */
export function messageOf(error: unknown): string {
  if (error instanceof CommanderError) return '';
  if (!(error instanceof Error)) return `error: ${String(error)}`;
  const foreseen = isUsage(error) || error instanceof RhythmError || error instanceof Interruption;
  if (foreseen || 'syscall' in error) return `error: ${error.message}`;
  return `error: ${error.stack ?? error.message}\nThis is a fault of rhythm-vec itself.`;
}
