/** What a command gets besides its options. */
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
