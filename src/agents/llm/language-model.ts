/** The interface of a language model. */
import type { Prompt } from '../../rollouts/text/prompt.js';
import type { Sampling, Usage } from '../../rollouts/trajectories/trajectory-episode.js';
import type { CostLedger } from './ledger.js';

/** A model's answer. */
export interface Answer {
  /** The answer's text; '' if it has none. */
  readonly completion: string;
  /** The reasoning, if the endpoint returns it separately. */
  readonly reasoning?: string;
  /** Why the answer ended, in the endpoint's words: "stop", "length" if it was cut off, "content_filter", ... */
  readonly finish: string;
  /** Whether the model or a content filter refused to answer. */
  readonly refused: boolean;
  /** The usage of all requests for the answer. */
  readonly usage: Usage;
}

/** Answers prompts. The policy "llm:NAME" calls it before every step. */
export interface LanguageModel {
  /** The name in files. */
  readonly name: string;
  /** The sampling parameters, which files record. */
  readonly sampling?: Sampling;
  /** The ledger, which decides whether the budget allows another episode. */
  readonly ledger?: CostLedger;
  /** Answers a prompt. @throws EndpointError; BudgetError if the budget does not suffice; the signal's reason. */
  complete(prompt: Prompt, signal: AbortSignal): Promise<Answer>;
}
