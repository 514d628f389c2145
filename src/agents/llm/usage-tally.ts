/** Counts the requests, answers and tokens of a run. */
import type { Usage } from '../../rollouts/trajectories/trajectory-episode.js';

export class UsageTally {
  /** The number of requests, including failed requests. */
  requests = 0;
  /** The number of answers, and of their tokens. */
  answers = 0;
  promptTokens = 0;
  completionTokens = 0;
  /** The number of answers that were cut off at the token limit, and of refusals. */
  cutOff = 0;
  refused = 0;

  /** Adds the usage of an answer. */
  addAnswer(usage: Usage): void {
    this.answers++;
    this.promptTokens += usage.prompt_tokens ?? 0;
    this.completionTokens += usage.completion_tokens ?? 0;
    this.cutOff += usage.cut_off ?? 0;
    this.refused += usage.refused ?? 0;
  }

  /** The number of requests without an answer. */
  get unanswered(): number {
    return this.requests - this.answers;
  }
}
