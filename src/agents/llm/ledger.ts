/** Counts the cost of requests and reserves the cost of the next ones. The budget is never exceeded. */
import { NUM_STEPS } from '../../world/fields.js';
import { BudgetError } from './llm-errors.js';
import type { Tokens } from './reply.js';

/** Dollars per million tokens. */
export interface Prices {
  readonly prompt: number;
  readonly completion: number;
  /** For prompt tokens that the endpoint had in its cache. */
  readonly cached: number;
}

const PER = 1e6;

/** Returns the cost of a request in dollars. */
export const costOf = (prices: Prices, { prompt, cached, completion }: Tokens): number =>
  ((prompt - cached) * prices.prompt + cached * prices.cached + completion * prices.completion) / PER;

/** Returns the highest cost of these numbers of tokens, cached or not. */
export const mostFor = (prices: Prices, prompt: number, completion: number): number =>
  (prompt * Math.max(prices.prompt, prices.cached) + completion * prices.completion) / PER;

export interface LedgerOptions {
  /** Null if prices are unknown. Then every cost counts as 0. */
  readonly prices: Prices | null;
  /** Dollars; null for no limit. A budget needs prices. */
  readonly budget: number | null;
  /** Dollars that earlier runs spent. */
  readonly spent?: number;
  /** The number of episodes that earlier runs finished, and their cost. */
  readonly finished?: { readonly episodes: number; readonly cost: number };
  /** Called before a request is sent, with the sum spent if every pending request costs the most that it can. */
  readonly onSpend?: (most: number) => void;
}

/** The reserved cost of a pending request. */
export interface Reservation {
  /** Replaces the reservation with the actual cost. */
  settle(cost: number): void;
}

/** The account of an unfinished episode. */
export interface EpisodeAccount {
  paid(cost: number): void;
  end(finished: boolean): void;
}

export class Ledger {
  readonly prices: Prices | null;
  readonly budget: number | null;
  readonly #onSpend: (most: number) => void;
  readonly #playing = new Set<{ paid: number }>();
  readonly #waiting = new Set<() => void>();
  #spent: number;
  #reserved = 0;
  #pending = 0;
  readonly #finished: { episodes: number; cost: number };
  /** The largest reservation so far. Until an episode is finished, it is the expected cost of a request. */
  #mostForRequest = 0;
  /** Set when a request was refused. Then no episode begins any more. */
  #refusal: BudgetError | null = null;

  constructor({ prices, budget, spent = 0, finished, onSpend = () => {} }: LedgerOptions) {
    this.prices = prices;
    this.budget = budget;
    this.#spent = spent;
    this.#finished = { episodes: 0, cost: 0, ...finished };
    this.#onSpend = onSpend;
  }

  /** Dollars spent, including the highest cost of lost requests. */
  get spent(): number {
    return this.#spent;
  }

  /**
   * Reserves the highest cost of a request. It waits while that does not fit and pending requests may turn out cheaper.
   * @throws BudgetError; the signal's reason.
   */
  async reserve(most: number, signal: AbortSignal): Promise<Reservation> {
    this.#mostForRequest = Math.max(this.#mostForRequest, most);
    while (!this.#fits(most)) {
      if (this.#pending === 0) throw this.#refuse('the next request', most);
      await this.#nextChange(signal);
    }
    this.#reserved += most;
    this.#pending++;
    this.#onSpend(this.#spent + this.#reserved);
    return { settle: (cost) => this.#settle(most, cost) };
  }

  /**
   * Begins an episode if the budget is expected to suffice for it and for the unfinished ones. An episode is expected to
   * cost the mean of the finished ones; without these, the most that it can, except that the first always begins. It waits
   * while it does not fit and unfinished episodes may turn out cheaper.
   * @param mostForRequest counts until a larger reservation. @throws BudgetError; the signal's reason.
   */
  async beginEpisode(mostForRequest: number, signal: AbortSignal): Promise<EpisodeAccount> {
    this.#mostForRequest = Math.max(this.#mostForRequest, mostForRequest);
    while (!this.#mayBegin()) {
      if (this.#refusal !== null) throw this.#refusal;
      if (this.#playing.size === 0) throw this.#refuse('the next episode', this.#expected());
      await this.#nextChange(signal);
    }
    const episode = { paid: 0 };
    this.#playing.add(episode);
    return {
      paid: (cost) => {
        episode.paid += cost;
        this.#changed();
      },
      end: (finished) => {
        this.#playing.delete(episode);
        if (finished) this.#finish(episode.paid);
        this.#changed();
      },
    };
  }

  #finish(cost: number): void {
    this.#finished.episodes++;
    this.#finished.cost += cost;
  }

  #fits(most: number): boolean {
    return this.budget === null || this.#spent + this.#reserved + most <= this.budget;
  }

  #mayBegin(): boolean {
    if (this.budget === null) return true;
    if (this.#refusal !== null) return false;
    if (this.#playing.size === 0 && this.#finished.episodes === 0) return true;
    const expected = this.#expected();
    // The last request needs a reservation of its highest cost.
    let future = expected + (this.#finished.episodes > 0 ? this.#mostForRequest : 0);
    for (const { paid } of this.#playing) future += Math.max(0, expected - paid);
    return this.#spent + future <= this.budget;
  }

  /** Returns the expected cost of an episode in dollars. */
  #expected(): number {
    const { episodes, cost } = this.#finished;
    return episodes > 0 ? cost / episodes : NUM_STEPS * this.#mostForRequest;
  }

  #settle(most: number, cost: number): void {
    this.#spent += cost;
    this.#pending--;
    // Sums of floats do not cancel exactly. Without pending requests nothing is reserved.
    this.#reserved = this.#pending === 0 ? 0 : this.#reserved - most;
    this.#onSpend(this.#spent + this.#reserved);
    this.#changed();
  }

  #refuse(what: string, most: number): BudgetError {
    this.#refusal = new BudgetError(
      `Expected ${what} to fit into the budget of ${dollars(this.budget!)}, got ${dollars(this.#spent)} spent and up to ` +
        `${dollars(most)} for it. Raise --budget to go on.`,
    );
    this.#changed();
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

  #changed(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

/** Formats dollars: in cents, or with two significant digits below a dollar. */
export const dollars = (amount: number): string =>
  `$${amount >= 1 || amount === 0 ? amount.toFixed(2) : amount.toPrecision(2)}`;
