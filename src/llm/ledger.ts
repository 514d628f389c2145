/** What requests cost, and whether there is money for another: a budget is never passed, whatever an answer turns out to cost. */
import { NUM_STEPS } from '../world/fields.js';
import { BudgetError } from './errors.js';
import type { Tokens } from './reply.js';

/** Dollars per million tokens. */
export interface Prices {
  readonly prompt: number;
  readonly completion: number;
  /** Of prompt tokens that the endpoint had in its cache. */
  readonly cached: number;
}

const PER = 1e6;

export const costOf = (prices: Prices, { prompt, cached, completion }: Tokens): number =>
  ((prompt - cached) * prices.prompt + cached * prices.cached + completion * prices.completion) / PER;

/** The most that so many tokens can cost, cached or not. */
export const mostFor = (prices: Prices, prompt: number, completion: number): number =>
  (prompt * Math.max(prices.prompt, prices.cached) + completion * prices.completion) / PER;

export interface LedgerOptions {
  /** Null: nothing is known to cost anything. */
  readonly prices: Prices | null;
  /** Dollars; null for no end of them. It needs prices. */
  readonly budget: number | null;
  /** Dollars that earlier runs have spent. */
  readonly spent?: number;
  /** Weeks that earlier runs have finished, and what these cost. */
  readonly finished?: { readonly weeks: number; readonly cost: number };
  /** Called, before a request is sent, with what will have been spent if everything under way costs the most. */
  readonly onSpend?: (most: number) => void;
}

/** A request under way, with the most that it can cost set aside. */
export interface Reservation {
  /** What it did cost. */
  settle(cost: number): void;
}

/** A week under way. */
export interface WeekAccount {
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
  #underWay = 0;
  readonly #finished: { weeks: number; cost: number };
  /** The most that a request has had set aside: before a week has been finished, what its requests may cost. */
  #mostForRequest = 0;
  /** Once a request had to be left out no week is begun. */
  #over: BudgetError | null = null;

  constructor({ prices, budget, spent = 0, finished, onSpend = () => {} }: LedgerOptions) {
    this.prices = prices;
    this.budget = budget;
    this.#spent = spent;
    this.#finished = { weeks: 0, cost: 0, ...finished };
    this.#onSpend = onSpend;
  }

  /** Dollars, with what lost requests may have cost. */
  get spent(): number {
    return this.#spent;
  }

  /**
   * Sets aside the most that a request can cost. It waits while that does not fit and requests under way may turn out
   * cheaper. @throws BudgetError; the signal's reason.
   */
  async reserve(most: number, signal: AbortSignal): Promise<Reservation> {
    this.#mostForRequest = Math.max(this.#mostForRequest, most);
    while (!this.#fits(most)) {
      if (this.#underWay === 0) throw this.#refuse('the next request', most);
      await this.#change(signal);
    }
    this.#reserved += most;
    this.#underWay++;
    this.#onSpend(this.#spent + this.#reserved);
    return { settle: (cost) => this.#settle(most, cost) };
  }

  /**
   * Begins a week that is expected to be finished, by what the finished ones have cost on average; before there is one,
   * by the most that it can cost, but for the first. It waits while that does not fit and weeks under way may turn out
   * cheaper. @param mostForRequest counts until a dearer one was made. @throws BudgetError; the signal's reason.
   */
  async beginWeek(mostForRequest: number, signal: AbortSignal): Promise<WeekAccount> {
    this.#mostForRequest = Math.max(this.#mostForRequest, mostForRequest);
    while (!this.#mayBegin()) {
      if (this.#over !== null) throw this.#over;
      if (this.#playing.size === 0) throw this.#refuse('the next episode', this.#expected());
      await this.#change(signal);
    }
    const week = { paid: 0 };
    this.#playing.add(week);
    return {
      paid: (cost) => {
        week.paid += cost;
        this.#changed();
      },
      end: (finished) => {
        this.#playing.delete(week);
        if (finished) this.#finish(week.paid);
        this.#changed();
      },
    };
  }

  #finish(cost: number): void {
    this.#finished.weeks++;
    this.#finished.cost += cost;
  }

  #fits(most: number): boolean {
    return this.budget === null || this.#spent + this.#reserved + most <= this.budget;
  }

  #mayBegin(): boolean {
    if (this.budget === null) return true;
    if (this.#over !== null) return false;
    if (this.#playing.size === 0 && this.#finished.weeks === 0) return true;
    const expected = this.#expected();
    // The last request, too, must have the most that it can cost set aside.
    let toCome = expected + (this.#finished.weeks > 0 ? this.#mostForRequest : 0);
    for (const { paid } of this.#playing) toCome += Math.max(0, expected - paid);
    return this.#spent + toCome <= this.budget;
  }

  /** Of a week, in dollars. */
  #expected(): number {
    const { weeks, cost } = this.#finished;
    return weeks > 0 ? cost / weeks : NUM_STEPS * this.#mostForRequest;
  }

  #settle(most: number, cost: number): void {
    this.#spent += cost;
    this.#underWay--;
    // Sums of floats do not cancel; nothing under way is nothing set aside.
    this.#reserved = this.#underWay === 0 ? 0 : this.#reserved - most;
    this.#onSpend(this.#spent + this.#reserved);
    this.#changed();
  }

  #refuse(what: string, most: number): BudgetError {
    this.#over = new BudgetError(
      `Expected ${what} to fit into the budget of ${dollars(this.budget!)}, got ${dollars(this.#spent)} spent and up to ` +
        `${dollars(most)} for it. Raise --budget to go on.`,
    );
    this.#changed();
    return this.#over;
  }

  /** @throws the signal's reason. */
  #change(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        this.#waiting.delete(onChange);
        signal.removeEventListener('abort', onAbort);
        act();
      };
      const onChange = () => settle(resolve);
      const onAbort = () => settle(() => reject(signal.reason));
      this.#waiting.add(onChange);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #changed(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

/** As people read money: cents, or as many digits as say anything of less. */
export const dollars = (amount: number): string =>
  `$${amount >= 1 || amount === 0 ? amount.toFixed(2) : amount.toPrecision(2)}`;
