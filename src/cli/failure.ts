/** How commands fail: a message for people and an exit code for scripts. */
import { CommanderError } from 'commander';
import { InputError, RhythmError } from '../errors.js';

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
const clip = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text);

/** By what the system was asked, where that was no file. */
const REMEDIES: Readonly<Record<string, string>> = {
  listen: 'Pass another --port, or --host.',
  getaddrinfo: 'Pass another --host.',
};

/** What to print for it; '' where commander has said it. A stack trace only for what nobody foresaw. */
export function messageOf(error: unknown): string {
  if (error instanceof CommanderError || isClosedPipe(error)) return '';
  if (!(error instanceof Error)) return `error: ${String(error)}`;
  const foreseen = isUsage(error) || error instanceof RhythmError || error instanceof Interruption;
  if (foreseen) return `error: ${error.message}`;
  if ('syscall' in error) {
    const remedy = REMEDIES[String(error.syscall)] ?? 'Check the path.';
    return `error: Expected the system to ${error.syscall} it, got ${clip(error.message)}. ${remedy}`;
  }
  return `error: ${error.stack ?? error.message}\nThis is a fault of rhythm-vec itself.`;
}
