/** A language model, as whoever plays weeks with one sees it. */
import type { Prompt } from '../text/prompt.js';
import type { Sampling, Usage } from '../trajectory/episode.js';
import type { Ledger } from './ledger.js';

/** What a model answered. */
export interface Answer {
  /** What was said, as it was said; '' where nothing was. */
  readonly completion: string;
  /** What was thought, where the endpoint tells it apart. */
  readonly reasoning?: string;
  /** Why the answer ended, as the endpoint calls it: "stop", "length" for one that was cut off, "content_filter", ... */
  readonly finish: string;
  /** Whether the model, or a filter before or after it, would not answer. */
  readonly refused: boolean;
  /** What the answer took, all requests for it together. */
  readonly usage: Usage;
}

export interface LanguageModel {
  /** As files call it. */
  readonly name: string;
  /** How its words are drawn; files keep it. */
  readonly sampling?: Sampling;
  /** What decides whether there is money for another week. */
  readonly ledger?: Ledger;
  /** @throws EndpointError; BudgetError where there is no money for it; the signal's reason. */
  complete(prompt: Prompt, signal: AbortSignal): Promise<Answer>;
}
