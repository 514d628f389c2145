/** Reports the progress of all parts of an audit together: its searches and planners. */
import type { ActionSequenceSearchOptions } from '../../agents/search/search-options.js';
import type { AuditRequest } from './audit-options.js';
import { totalEpisodes } from './search-shares.js';

/** The progress of an audit, in episodes. */
export class SearchProgress {
  readonly #request: AuditRequest;
  readonly #total: number;
  /** The number of episodes of the parts that have begun. */
  #episodes = 0;

  constructor(request: AuditRequest) {
    this.#request = request;
    this.#total = totalEpisodes(request);
  }

  /** Returns the callback of the next part. @param episodes the number of episodes that it plays. */
  next(episodes: number): (done: number, total: number) => void {
    const before = this.#episodes;
    this.#episodes += episodes;
    return (done, total) =>
      this.#request.onProgress(before + Math.round((episodes * done) / total), this.#total);
  }

  /** Returns the options that all sequence searches share, with the progress callback of the next search. */
  nextSearch(episodes: number): ActionSequenceSearchOptions {
    const { engine, seed, signal } = this.#request;
    return { ...engine, seed, signal, onProgress: this.next(episodes) };
  }
}
