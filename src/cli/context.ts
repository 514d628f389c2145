/** What the commands are, and what each gets besides its options. */
import type { Command } from 'commander';
import type { CostLedger, Prices } from '../agents/llm/ledger.js';
import type { Pauses } from '../agents/llm/request-timing.js';
import type { StoredAnswers } from '../agents/llm/stored-answers.js';

export interface Context {
  /** Aborted with an `Interruption` when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** What the language models of all workers of a job share. Default: a command keeps its own. */
  readonly model?: SharedModel;
}

/** What the language models of several processes share. */
export interface SharedModel {
  readonly rateLimiter: Pauses;
  /** Opens the ledger. @param timeoutMs the longest time of a request. */
  ledger(prices: Prices | null, timeoutMs: number): CostLedger;
  /** Opens the answers of unfinished episodes. */
  answers(): Promise<StoredAnswers>;
}

/** Commands by name. */
export type CommandTable = Readonly<Record<string, CommandEntry>>;

/** A command, or a group of commands. */
export interface CommandEntry {
  /** The first sentence of its help, which the list of commands shows too. */
  readonly description: string;
  /** The help of a group after its commands. */
  readonly help?: string;
  /** Loads the function that adds arguments, options, help and action to the command. */
  readonly load?: () => Promise<(command: Command, context: Context) => void>;
  /** The commands of a group. */
  readonly commands?: CommandTable;
}
