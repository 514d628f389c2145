/** What a run took of an endpoint, counted. */
import type { Usage } from '../trajectory/episode.js';

export class Tally {
  /** With those that failed. */
  requests = 0;
  answers = 0;
  promptTokens = 0;
  completionTokens = 0;
  /** Answers that came to their limit. */
  cutOff = 0;
  refused = 0;

  answered(usage: Usage): void {
    this.answers++;
    this.promptTokens += usage.prompt_tokens ?? 0;
    this.completionTokens += usage.completion_tokens ?? 0;
    this.cutOff += usage.cut_off ?? 0;
    this.refused += usage.refused ?? 0;
  }

  /** Requests that had to be made again. */
  get retries(): number {
    return this.requests - this.answers;
  }
}
