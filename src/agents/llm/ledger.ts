/** Counts requests, tokens and their cost, and reserves the maximum cost of pending requests within the budget. */

import type { Usage } from '../../rollouts/trajectories/trajectory-episode.js';
import { RhythmError } from '../../shared/errors.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { Tokens } from './reply.js';

/** Thrown if the next request or episode may exceed the budget. */
export class BudgetError extends RhythmError {
  constructor(message: string) {
    super('over_budget', message);
  }
}

/** Dollars per million tokens. */
export interface Prices {
  readonly prompt: number;
  readonly completion: number;
  /** The price of prompt tokens from the endpoint's cache. */
  readonly cached: number;
}

/** Prices are per this many tokens. */
const PRICED_TOKENS = 1e6;

/** Returns the cost of a request in dollars. */
export const costOf = (prices: Prices, { prompt, cached, completion }: Tokens): number =>
  ((prompt - cached) * prices.prompt + cached * prices.cached + completion * prices.completion) /
  PRICED_TOKENS;

/** Returns the maximum cost of these numbers of tokens: prompt tokens may be cached or not. */
export const maxCostOf = (prices: Prices, prompt: number, completion: number): number =>
  (prompt * Math.max(prices.prompt, prices.cached) + completion * prices.completion) / PRICED_TOKENS;

/** Options of a `Ledger`. */
export interface LedgerOptions {
  /** Null if prices are unknown. Then every cost counts as 0. */
  readonly prices: Prices | null;
  /** Dollars; null for no limit. A budget needs prices. */
  readonly budget: number | null;
  /** Dollars that earlier commands spent. */
  readonly spent?: number;
  /** The number of episodes that earlier commands finished, and their cost. */
  readonly finished?: { readonly episodes: number; readonly cost: number };
  /** Called before and after each request, with the sum spent if every pending request has its maximum cost. */
  readonly onSpend?: (maxSpent: number) => void;
}

/** The reserved cost of a pending request. */
export interface Reservation {
  /** Replaces the reservation with the actual cost. */
  settle(cost: number): void;
}

/** The account of an unfinished episode. */
export interface EpisodeAccount {
  /** Adds the cost of an answer. */
  addCost(cost: number): void;
  /** Ends the episode. If it is finished, its cost counts in the mean. */
  end(finished: boolean): void;
}

/** Counts the cost of requests against a budget: `Ledger` within a process, `SharedLedger` of the queue for all workers. */
export interface CostLedger {
  /** Null if prices are unknown. */
  readonly prices: Prices | null;
  /** Dollars; null for no limit. */
  readonly budget: number | null;
  /** Dollars spent, including the maximum cost of failed requests that may have been charged. */
  readonly spent: number;
  /** Reserves the maximum cost of a request. @throws BudgetError; the signal's reason. */
  reserve(maxCost: number, signal: AbortSignal): Promise<Reservation>;
  /** Begins an episode if the budget is expected to suffice for it. @throws BudgetError; the signal's reason. */
  beginEpisode(maxRequestCost: number, signal: AbortSignal): Promise<EpisodeAccount>;
}

/** Counts the cost of the requests of one process against a budget. */
export class Ledger implements CostLedger {
  readonly prices: Prices | null;
  readonly budget: number | null;
  readonly #onSpend: (maxSpent: number) => void;
  /** The unfinished episodes, with the dollars spent on each. */
  readonly #playing = new Set<{ paid: number }>();
  /** Functions that wake the calls which wait for a change of the ledger. */
  readonly #waiting = new Set<() => void>();
  #spent: number;
  /** Dollars reserved for pending requests, and the number of these requests. */
  #reserved = 0;
  #pending = 0;
  readonly #finished: { episodes: number; cost: number };
  /** The largest of the maximum costs that were reserved or given to `beginEpisode` so far. */
  #maxRequestCost = 0;
  /** The error of the last refused request or episode. Once it is set, no episode begins. */
  #refusal: BudgetError | null = null;

  constructor({ prices, budget, spent = 0, finished, onSpend = () => {} }: LedgerOptions) {
    this.prices = prices;
    this.budget = budget;
    this.#spent = spent;
    this.#finished = { episodes: 0, cost: 0, ...finished };
    this.#onSpend = onSpend;
  }

  /** Dollars spent, including the maximum cost of failed requests that may have been charged. */
  get spent(): number {
    return this.#spent;
  }

  /**
   * Reserves the maximum cost of a request. Waits while the cost does not fit and pending requests may turn out cheaper.
   * @throws BudgetError; the signal's reason.
   */
  async reserve(maxCost: number, signal: AbortSignal): Promise<Reservation> {
    this.#maxRequestCost = Math.max(this.#maxRequestCost, maxCost);
    while (!this.#fits(maxCost)) {
      if (this.#pending === 0) throw this.#refuse('the next request', maxCost);
      await this.#nextChange(signal);
    }
    this.#reserved += maxCost;
    this.#pending++;
    this.#onSpend(this.#spent + this.#reserved);
    return { settle: (cost) => this.#settle(maxCost, cost) };
  }

  /**
   * Begins an episode if the budget is expected to suffice for it and for the unfinished episodes. The expected cost is
   * the mean of the finished episodes, or the maximum cost while none is finished. While none is finished or being played,
   * an episode always begins, unless a request was refused.
   * Waits while the episode does not fit and unfinished episodes may turn out cheaper.
   * @param maxRequestCost the maximum cost of a request, used until a larger cost is reserved.
   * @throws BudgetError; the signal's reason.
   */
  async beginEpisode(maxRequestCost: number, signal: AbortSignal): Promise<EpisodeAccount> {
    this.#maxRequestCost = Math.max(this.#maxRequestCost, maxRequestCost);
    while (!this.#mayBegin()) {
      if (this.#refusal !== null) throw this.#refusal;
      if (this.#playing.size === 0) throw this.#refuse('the next episode', this.#needed());
      await this.#nextChange(signal);
    }
    const episode = { paid: 0 };
    this.#playing.add(episode);
    return {
      addCost: (cost) => {
        episode.paid += cost;
        this.#wakeWaiting();
      },
      end: (finished) => {
        this.#playing.delete(episode);
        if (finished) this.#finish(episode.paid);
        this.#wakeWaiting();
      },
    };
  }

  #finish(cost: number): void {
    this.#finished.episodes++;
    this.#finished.cost += cost;
  }

  #fits(cost: number): boolean {
    return this.budget === null || this.#spent + this.#reserved + cost <= this.budget;
  }

  #mayBegin(): boolean {
    if (this.budget === null) return true;
    if (this.#refusal !== null) return false;
    if (this.#playing.size === 0 && this.#finished.episodes === 0) return true;
    const expected = this.#expected();
    let future = this.#needed();
    for (const { paid } of this.#playing) future += Math.max(0, expected - paid);
    return this.#spent + future <= this.budget;
  }

  /**
   * Returns the dollars that the next episode needs: its expected cost, and room to reserve the maximum of its last request.
   */
  #needed(): number {
    return this.#expected() + (this.#finished.episodes > 0 ? this.#maxRequestCost : 0);
  }

  /** Returns the expected cost of an episode in dollars. */
  #expected(): number {
    const { episodes, cost } = this.#finished;
    return episodes > 0 ? cost / episodes : NUM_STEPS * this.#maxRequestCost;
  }

  #settle(reserved: number, cost: number): void {
    this.#spent += cost;
    this.#pending--;
    // Sums of floats do not cancel exactly. Without pending requests nothing is reserved.
    this.#reserved = this.#pending === 0 ? 0 : this.#reserved - reserved;
    this.#onSpend(this.#spent + this.#reserved);
    this.#wakeWaiting();
  }

  #refuse(what: string, needed: number): BudgetError {
    this.#refusal = new BudgetError(
      `Expected ${what} to fit into the budget of ${dollars(this.budget!)}, got ${dollars(this.#spent)} spent and ` +
        `${dollars(needed)} needed for it. Raise the budget (--budget) to go on.`,
    );
    this.#wakeWaiting();
    return this.#refusal;
  }

  /** Waits for the next change of the ledger. @throws the signal's reason. */
  #nextChange(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const finish = (act: () => void) => {
        this.#waiting.delete(onChange);
        signal.removeEventListener('abort', onAbort);
        act();
      };
      const onChange = () => finish(resolve);
      const onAbort = () => finish(() => reject(signal.reason));
      this.#waiting.add(onChange);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #wakeWaiting(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

/** Formats dollars with two decimals, and positive amounts below a dollar with two significant digits. */
export const dollars = (amount: number): string =>
  `$${amount >= 1 || amount === 0 ? amount.toFixed(2) : amount.toPrecision(2)}`;

/** Counts the requests, answers and tokens of a model. */
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
