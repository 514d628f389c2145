/** The budget, the rate limit, the pauses and the answers of a language model that all workers of a job share. */
import { randomBytes } from 'node:crypto';
import {
  BudgetError,
  type CostLedger,
  dollars,
  type EpisodeAccount,
  type Prices,
  type Reservation,
} from '../../agents/llm/ledger.js';
import type { Pauses } from '../../agents/llm/request-timing.js';
import { StoredAnswers } from '../../agents/llm/stored-answers.js';
import { CLOCK } from '../../shared/http/retry.js';
import { NUM_STEPS } from '../../world/fields.js';
import { QueueError, untilAccepted } from './connection.js';
import {
  answersKey,
  dataKeys,
  lockKey,
  type Queue,
  type ShardData,
  type StoredJob,
  shardOf,
} from './jobs.js';

/** Limits of all workers of a job together. */
export interface ModelLimits {
  /** Dollars; null for no limit. */
  readonly budget: number | null;
  /** The maximum number of requests that an endpoint receives in any 60 seconds; null for no limit. */
  readonly requestsPerMinute: number | null;
}

/** What a job has spent, in dollars. */
export interface Spending {
  /** Includes the maximum cost of pending requests, and of those whose worker was killed. */
  readonly spent: number;
  /** Null for no limit. */
  readonly budget: number | null;
}

/** An attempt at a shard. It may send requests while it holds the shard's lock, which options and errors call a lease. */
export interface ShardAttempt {
  readonly shard: ShardData;
  /** The value of the lock. */
  readonly token: string;
  /** The longest time of a request in milliseconds. */
  readonly timeoutMs: number;
}

/** Nanodollars of a dollar. The ledger counts in whole nanodollars, so that sums are exact. */
const NANO = 1e9;
const toNano = (amount: number): number => Math.ceil(amount * NANO);
/** The window of the rate limit in milliseconds. */
const WINDOW_MS = 60_000;
/**
 * Milliseconds before a worker asks again whether it may send a request. Chosen by hand: a longer time delays workers, a shorter
 * one sends Redis more commands.
 */
const POLL_MS = 100;
/** The length of a request's random name in bytes, chosen by hand: equal names are very unlikely. */
const NAME_BYTES = 8;

/** Sets the limits of a job. A job that stopped because of a smaller budget can then continue. */
export async function setLimits(
  { redis, prefix }: Queue,
  job: StoredJob,
  { budget, requestsPerMinute }: ModelLimits,
): Promise<void> {
  const { ledger } = dataKeys(prefix, shardOf(job));
  const rate = { rate: requestsPerMinute ?? 0, window: WINDOW_MS };
  await redis.hset(ledger, { budget: budget === null ? -1 : toNano(budget), ...rate });
  await redis.hdel(ledger, 'refused');
}

/** Returns what a job has spent; null for jobs without a language model. */
export async function readSpending({ redis, prefix }: Queue, job: StoredJob): Promise<Spending | null> {
  const [budget, spent] = await redis.hmget(dataKeys(prefix, shardOf(job)).ledger, 'budget', 'spent');
  if (budget === null) return null;
  return { spent: Number(spent ?? 0) / NANO, budget: Number(budget) < 0 ? null : Number(budget) / NANO };
}

/** Returns whether a job has stopped because of its budget. */
export const isOverBudget = async ({ redis, prefix }: Queue, job: StoredJob): Promise<boolean> =>
  (await redis.hexists(dataKeys(prefix, shardOf(job)).ledger, 'refused')) === 1;

/** Opens the answers of a shard that earlier attempts have stored. */
export async function openAnswers({ redis, prefix }: Queue, shard: ShardData): Promise<StoredAnswers> {
  const key = answersKey(prefix, shard);
  // A retry after a lost reply may store an answer twice: the first counts.
  const answers = new StoredAnswers(
    '',
    async (line) => void (await untilAccepted(() => redis.rpush(key, line))),
  );
  for (const line of await redis.lrange(key, 0, -1)) answers.read(line);
  return answers;
}

/**
 * Adds the maximum cost of a request to what the job has spent, if it fits. A client whose connection was lost before the reply
 * sends the script again: then it changes nothing. KEYS: ledger, held (the pending requests), lock of the shard. ARGV: request,
 * cost, value of the lock. Returns the verdict, what was spent, the budget and the number of pending requests.
 */
const RESERVE = `
local budget, spent = unpack(redis.call('HMGET', KEYS[1], 'budget', 'spent'))
if not budget or redis.call('GET', KEYS[3]) ~= ARGV[3] then return {'lost'} end
spent = tonumber(spent or '0')
local fits = tonumber(budget) < 0 or spent + ARGV[2] <= tonumber(budget)
if fits and redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) == 1 then
  spent = redis.call('HINCRBY', KEYS[1], 'spent', ARGV[2])
end
local isHeld = redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1
return {isHeld and 'ok' or 'refused', tostring(spent), budget, tostring(redis.call('HLEN', KEYS[2]))}
`;

/** Replaces the maximum cost of a pending request by its cost, once. KEYS: ledger, held. ARGV: request, cost. */
const SETTLE = `
local most = redis.call('HGET', KEYS[2], ARGV[1])
if most then
  redis.call('HINCRBY', KEYS[1], 'spent', ARGV[2] - most)
  redis.call('HDEL', KEYS[2], ARGV[1])
end
`;

/**
 * The ledger of one attempt at a shard. Before a request its maximum cost is added to what all workers have spent; afterwards the
 * actual cost replaces it. If the worker is killed in between, the maximum cost stays: the job then spends less than its budget.
 */
export class SharedLedger implements CostLedger {
  readonly prices: Prices | null;
  /** Null: the budget is in Redis, where a later submission may raise it. */
  readonly budget = null;
  readonly #queue: Queue;
  readonly #attempt: ShardAttempt;
  readonly #keys: ReturnType<typeof dataKeys>;
  readonly #changes = new Set<Promise<unknown>>();
  /** The unfinished episodes of this attempt, with the dollars spent on each. */
  readonly #playing = new Set<{ paid: number }>();
  #spent = 0;

  constructor(queue: Queue, attempt: ShardAttempt, prices: Prices | null) {
    this.prices = prices;
    this.#queue = queue;
    this.#attempt = attempt;
    this.#keys = dataKeys(queue.prefix, attempt.shard);
  }

  /** Dollars spent by all workers, as of the last `reserve` or `beginEpisode`. */
  get spent(): number {
    return this.#spent;
  }

  async reserve(maxCost: number, signal: AbortSignal): Promise<Reservation> {
    const request = randomBytes(NAME_BYTES).toString('hex');
    await this.#untilPlaced(request, signal);
    await this.#until(signal, async () => {
      const reply = await this.#run(RESERVE, request, toNano(maxCost), this.#attempt.token);
      const [verdict, spent, budget, pending] = reply;
      if (verdict === 'lost') throw lostLease(this.#attempt);
      this.#spent = Number(spent) / NANO;
      if (verdict === 'ok') return null;
      // A pending request may turn out cheaper.
      const mayChange = Number(pending) > 0;
      return { mayChange, what: 'the next request', needed: maxCost, budget: Number(budget) };
    });
    return { settle: (actual) => this.#inBackground(() => this.#settle(request, toNano(actual))) };
  }

  async #settle(request: string, cost: number): Promise<void> {
    const { redis } = this.#queue;
    await this.#run(SETTLE, request, cost);
    const window = Number(await redis.hget(this.#keys.ledger, 'window'));
    await redis.zadd(this.#keys.places, 'XX', (await this.#now()) + window, request);
  }

  #run(script: string, ...args: (string | number)[]): Promise<string[]> {
    const { redis, prefix } = this.#queue;
    const { ledger, held } = this.#keys;
    const keys = [ledger, held, lockKey(prefix, this.#attempt.shard)];
    return redis.eval(script, keys.length, ...keys, ...args) as Promise<string[]>;
  }

  /**
   * Begins an episode if the budget is expected to suffice for it and for this attempt's unfinished episodes. As `Ledger`, but
   * without the unfinished episodes of other workers: their answers stay in Redis if the budget ends in the middle.
   */
  async beginEpisode(maxRequestCost: number, signal: AbortSignal): Promise<EpisodeAccount> {
    await this.#until(signal, async () => {
      const { redis } = this.#queue;
      const values = await redis.hmget(this.#keys.ledger, 'budget', 'spent', 'episodes', 'cost');
      // A job that was cancelled has no ledger.
      if (values[0] === null) throw lostLease(this.#attempt);
      const [budget, spent, episodes, cost] = values.map(Number);
      this.#spent = spent / NANO;
      if (budget < 0 || (episodes === 0 && this.#playing.size === 0)) return null;
      const expected = episodes > 0 ? cost / episodes / NANO : NUM_STEPS * maxRequestCost;
      const needed = expected + (episodes > 0 ? maxRequestCost : 0);
      let future = needed;
      for (const { paid } of this.#playing) future += Math.max(0, expected - paid);
      if (this.#spent + future <= budget / NANO) return null;
      const mayChange = this.#playing.size > 0 || (await redis.hlen(this.#keys.held)) > 0;
      return { mayChange, what: 'the next episode', needed, budget };
    });
    const episode = { paid: 0 };
    this.#playing.add(episode);
    return {
      addCost: (cost) => {
        episode.paid += cost;
      },
      end: (finished) => {
        this.#playing.delete(episode);
        if (!finished) return;
        const { redis } = this.#queue;
        this.#inBackground(() =>
          redis
            .multi()
            .hincrby(this.#keys.ledger, 'episodes', 1)
            .hincrby(this.#keys.ledger, 'cost', toNano(episode.paid))
            .exec(),
        );
      },
    };
  }

  /** Waits until all changes are in Redis. */
  async settled(): Promise<void> {
    await Promise.all(this.#changes);
  }

  /**
   * Repeats a check until it returns null. If nothing can change, or nothing changed for the time of a request, refuses.
   * @throws BudgetError; the errors of the check; the signal's reason.
   */
  async #until(signal: AbortSignal, check: () => Promise<Refusal | null>): Promise<void> {
    const last = performance.now() + this.#attempt.timeoutMs;
    for (;;) {
      signal.throwIfAborted();
      const refusal = await untilAccepted(check, signal);
      if (refusal === null) return;
      if (!refusal.mayChange || performance.now() > last) throw await this.#refuse(refusal);
      await CLOCK.wait(POLL_MS, signal);
    }
  }

  async #refuse({ what, needed, budget }: Refusal): Promise<BudgetError> {
    await this.#queue.redis.hset(this.#keys.ledger, 'refused', what);
    return new BudgetError(
      `Expected ${what} to fit into the budget of ${dollars(budget / NANO)} of all workers, got ${dollars(this.#spent)} spent ` +
        `and ${dollars(needed)} needed for it. Submit the job again with a larger --budget to go on.`,
    );
  }

  /**
   * Waits for a place within the rate limit. It is taken until one window after the answer, so that the endpoint never receives
   * more requests in a window, however slow the network is.
   */
  async #untilPlaced(place: string, signal: AbortSignal): Promise<void> {
    const { redis } = this.#queue;
    const [rate, window] = (await redis.hmget(this.#keys.ledger, 'rate', 'window')).map(Number);
    if (rate === 0) return;
    for (;;) {
      signal.throwIfAborted();
      const now = await this.#now();
      const replies = await redis
        .multi()
        .zremrangebyscore(this.#keys.places, '-inf', now)
        .zadd(this.#keys.places, now + this.#attempt.timeoutMs + window, place)
        .zcard(this.#keys.places)
        .exec();
      // Of several workers that try at once, all may fail and try again at random times.
      if ((replies![2][1] as number) <= rate) return;
      await redis.zrem(this.#keys.places, place);
      await CLOCK.wait((0.5 + Math.random()) * Math.min(POLL_MS, window / 10), signal);
    }
  }

  async #now(): Promise<number> {
    const [seconds, micros] = await this.#queue.redis.time();
    return 1000 * Number(seconds) + Math.floor(Number(micros) / 1000);
  }

  /** Makes a change without waiting for it. Drops an error that is not temporary: the reservation then counts as spent. */
  #inBackground(change: () => Promise<unknown>): void {
    const pending = untilAccepted(change)
      .catch(() => {})
      .finally(() => this.#changes.delete(pending));
    this.#changes.add(pending);
  }
}

/** Why a request or an episode does not fit into the budget, and whether that may change. */
interface Refusal {
  readonly mayChange: boolean;
  readonly what: string;
  /** Dollars. */
  readonly needed: number;
  /** Nanodollars. */
  readonly budget: number;
}

const lostLease = ({ shard: { job: name, index } }: ShardAttempt): QueueError =>
  new QueueError(
    `Expected to hold the lease of shard ${index} of ${name}, got a lease that ended or that another worker holds. ` +
      'Raise --lease if this worker was not stopped.',
  );

/** The pauses that all workers of a job share: one refused request pauses the requests of all workers. */
export class SharedPauses implements Pauses {
  readonly #queue: Queue;
  readonly #key: string;

  constructor(queue: Queue, shard: ShardData) {
    this.#queue = queue;
    this.#key = dataKeys(queue.prefix, shard).pause;
  }

  /** Pauses all workers, unless a longer pause has begun. Drops errors: then no worker pauses. */
  pause(ms: number): void {
    const { redis } = this.#queue;
    const end = async (): Promise<void> => {
      if ((await redis.pttl(this.#key)) < ms) await redis.set(this.#key, '1', 'PX', Math.ceil(ms));
    };
    void end().catch(() => {});
  }

  async wait(signal: AbortSignal): Promise<void> {
    const left = (): Promise<number> => this.#queue.redis.pttl(this.#key);
    for (let ms = await left(); ms > 0; ms = await left()) await CLOCK.wait(ms, signal);
  }
}
