/** The budget, the rate limit and the pauses that all workers of a language model's job share. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import {
  BudgetError,
  type CostLedger,
  dollars,
  type EpisodeAccount,
  type Prices,
  type Reservation,
} from '../../agents/llm/ledger.js';
import type { Pauses } from '../../agents/llm/request-timing.js';
import { CLOCK } from '../../shared/http/clock.js';
import { NUM_STEPS } from '../../world/fields.js';
import type { Queue } from './job-store.js';
import { type JobKeys, jobKeys, lockKey, type ShardData } from './keys.js';
import {
  BEGIN_EPISODE,
  BEGIN_SHARD,
  END_EPISODE,
  END_SHARD,
  PAUSE,
  RAISE_COST,
  RESERVE,
  SETTLE,
} from './ledger-scripts.js';
import { QueueError } from './queue-error.js';
import { untilAccepted } from './redis-retry.js';

/** An attempt at a shard. It may send requests while it holds the shard's lock, which options and errors call a lease. */
export interface ShardAttempt {
  readonly shard: ShardData;
  /** The value of the lock. */
  readonly token: string;
  /** The longest time of a request in milliseconds. */
  readonly timeoutMs: number;
}

/** Nanodollars of a dollar. Scripts count in whole nanodollars. */
const NANO = 1e9;
const toNano = (amount: number): number => Math.ceil(amount * NANO);

/**
 * The length of an attempt's random name in bytes. The name tells an attempt from other attempts at its shard, even if their
 * locks have equal values. Chosen by hand: equal names are very unlikely.
 */
const NAME_BYTES = 8;

/**
 * A script's reply for a request or an episode: the verdict, the amount spent in nanodollars, and milliseconds to wait. 'wait':
 * run the script again after the wait; 'refused': the budget does not suffice; 'lost': the attempt has ended or no longer has
 * its lock.
 */
type Verdict = ['ok' | 'wait' | 'refused' | 'lost', spent: number, waitMs?: number];

/** The window of the rate limit in milliseconds. */
const WINDOW_MS = 60_000;

/** The ledger of one attempt at a shard. It reserves and spends from the budget that all workers share. */
export class SharedLedger implements CostLedger, AsyncDisposable {
  readonly prices: Prices | null;
  /** Null: the budget is in Redis, where a later submission may raise it. */
  readonly budget = null;
  readonly #redis: Redis;
  readonly #keys: JobKeys;
  readonly #lock: string;
  readonly #name = randomBytes(NAME_BYTES).toString('hex');
  readonly #attempt: ShardAttempt;
  readonly #changes = new Set<Promise<unknown>>();
  #requests = 0;
  #episodes = 0;
  #spent = 0;

  private constructor({ redis, prefix }: Queue, attempt: ShardAttempt, prices: Prices | null) {
    const { shard } = attempt;
    this.prices = prices;
    this.#redis = redis;
    this.#attempt = attempt;
    this.#keys = jobKeys(prefix, shard.job);
    this.#lock = lockKey(prefix, shard);
  }

  /** Opens the ledger for an attempt at a shard. Pending requests of earlier attempts at this shard count as spent. */
  static async open(queue: Queue, attempt: ShardAttempt, prices: Prices | null): Promise<SharedLedger> {
    const ledger = new SharedLedger(queue, attempt, prices);
    await ledger.#untilRun(BEGIN_SHARD, [ledger.#keys.ledger], ledger.#lock, attempt.token);
    return ledger;
  }

  /** Dollars spent by all workers, as of the last `reserve` or `beginEpisode`. */
  get spent(): number {
    return this.#spent;
  }

  async reserve(maxCost: number, signal: AbortSignal): Promise<Reservation> {
    const cost = toNano(maxCost);
    const { ledger, places, pause } = this.#keys;
    const { token, timeoutMs } = this.#attempt;
    const request = this.#requests++;
    await this.#untilGranted(maxCost, signal, () =>
      this.#run(RESERVE, [ledger, this.#lock, places, pause], request, cost, token, timeoutMs),
    );
    return { settle: (actual) => this.#change(SETTLE, [ledger, places], request, toNano(actual)) };
  }

  async beginEpisode(maxRequestCost: number, signal: AbortSignal): Promise<EpisodeAccount> {
    const { ledger } = this.#keys;
    const episode = this.#episodes++;
    await this.#untilGranted(NUM_STEPS * maxRequestCost, signal, () =>
      this.#run(BEGIN_EPISODE, [ledger], episode, toNano(maxRequestCost), NUM_STEPS),
    );
    let paid = 0;
    return {
      addCost: (cost) => {
        paid += toNano(cost);
        this.#change(RAISE_COST, [ledger], episode, paid);
      },
      end: (finished) => this.#change(END_EPISODE, [ledger], episode, finished ? 1 : 0),
    };
  }

  /** Waits until all costs are in Redis, and ends the attempt. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#changes);
    await this.#untilRun(END_SHARD, [this.#keys.ledger]);
  }

  /** Runs a script. Its first argument is the attempt's name. */
  #run(script: string, keys: readonly string[], ...args: (string | number)[]): Promise<unknown> {
    return this.#redis.eval(script, keys.length, ...keys, this.#name, ...args);
  }

  /** Runs a script as soon as Redis accepts it. */
  #untilRun(script: string, keys: readonly string[], ...args: (string | number)[]): Promise<unknown> {
    return untilAccepted(() => this.#run(script, keys, ...args));
  }

  /**
   * Sends a change without waiting for the reply. Drops an error that is not temporary: a reservation that was not settled
   * counts as spent when the attempt ends.
   */
  #change(script: string, keys: readonly string[], ...args: (string | number)[]): void {
    const change = this.#untilRun(script, keys, ...args).catch(() => {});
    this.#changes.add(change);
    void change.then(() => this.#changes.delete(change));
  }

  /**
   * Repeats a call of a script until its verdict is 'ok'.
   * @throws BudgetError; QueueError for the verdict 'lost'; the signal's reason.
   */
  async #untilGranted(maxCost: number, signal: AbortSignal, request: () => Promise<unknown>): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const [verdict, spent, waitMs] = (await untilAccepted(request, signal)) as Verdict;
      if (verdict === 'ok' || verdict === 'wait') this.#spent = spent / NANO;
      if (verdict === 'ok') return;
      if (verdict === 'lost') throw lostLease(this.#attempt);
      if (verdict === 'refused') throw await this.#refusal(maxCost, spent / NANO);
      await CLOCK.wait(waitMs!, signal);
    }
  }

  async #refusal(maxCost: number, spent: number): Promise<BudgetError> {
    const [what, needed, budget] = await this.#redis.hmget(this.#keys.ledger, 'refusal', 'needed', 'budget');
    return new BudgetError(
      `Expected ${what ?? 'the next episode'} to fit into the budget of ${dollars(Number(budget) / NANO)} of all workers, ` +
        `got ${dollars(spent)} spent and ${dollars(needed === null ? maxCost : Number(needed) / NANO)} needed for it. ` +
        'Submit the job again with a larger --budget to go on.',
    );
  }
}

const lostLease = ({ shard: { job: name, index } }: ShardAttempt): QueueError =>
  new QueueError(
    `Expected to hold the lease of shard ${index} of ${name}, got a lease that ended or that another worker holds. ` +
      'Raise --lease if this worker was not stopped.',
  );

/** Limits of all workers of a language model's job together. */
export interface SharedLimits {
  /** Dollars; null for no limit. */
  readonly budget: number | null;
  /** The maximum number of requests that an endpoint receives in any 60 seconds; null for no limit. */
  readonly requestsPerMinute: number | null;
}

/** Sets the limits of a job. A job that stopped because of a smaller budget can then continue. */
export async function setLimits(
  { redis, prefix }: Queue,
  name: string,
  { budget, requestsPerMinute }: SharedLimits,
): Promise<void> {
  const { ledger } = jobKeys(prefix, name);
  const rate = { rate: requestsPerMinute ?? 0, window: WINDOW_MS };
  await redis.hset(ledger, { budget: budget === null ? -1 : toNano(budget), ...rate });
  await redis.hdel(ledger, 'refusal', 'needed');
}

/** What a job of a language model has spent, in dollars. */
export interface Spending {
  readonly spent: number;
  /** Null for no limit. */
  readonly budget: number | null;
}

/** Returns what a job has spent, including the maximum cost of pending requests; null for jobs without a ledger. */
export async function readSpending({ redis, prefix }: Queue, name: string): Promise<Spending | null> {
  const { ledger } = jobKeys(prefix, name);
  const [budget, spent, reserved] = await redis.hmget(ledger, 'budget', 'spent', 'reserved');
  if (budget === null) return null;
  const total = (Number(spent ?? 0) + Number(reserved ?? 0)) / NANO;
  return { spent: total, budget: Number(budget) < 0 ? null : Number(budget) / NANO };
}

/** Returns whether a job has stopped because of its budget. */
export const isOverBudget = async ({ redis, prefix }: Queue, name: string): Promise<boolean> =>
  (await redis.hexists(jobKeys(prefix, name).ledger, 'refusal')) === 1;

/** The pauses that all workers of a job share: one refused request pauses the requests of all workers. */
export class SharedPauses implements Pauses {
  readonly #redis: Redis;
  readonly #key: string;

  constructor({ redis, prefix }: Queue, name: string) {
    this.#redis = redis;
    this.#key = jobKeys(prefix, name).pause;
  }

  /** Pauses all workers. Drops errors: then no worker pauses. */
  pause(ms: number): void {
    void this.#redis.eval(PAUSE, 1, this.#key, Math.ceil(ms)).catch(() => {});
  }

  async wait(signal: AbortSignal): Promise<void> {
    for (let left = await this.#left(); left > 0; left = await this.#left()) await CLOCK.wait(left, signal);
  }

  #left(): Promise<number> {
    return this.#redis.pttl(this.#key);
  }
}
