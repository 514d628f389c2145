/** The ledger of a language model's job: the budget, the rate limit, the pauses and the answers that all its workers share. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { lockKey, type Queue, type StoredJob } from '../../../src/server/queue/jobs.js';
import {
  openAnswers,
  readSpending,
  SharedLedger,
  SharedPauses,
  setLimits,
} from '../../../src/server/queue/model-limits.js';
import { NEVER, PRICES } from '../../support/llm.js';
import { LossyProxy } from '../../support/lossy-proxy.js';
import { describeWithRedis, until } from '../../support/redis.js';

const PREFIX = 'unit';
const shardOf = (index: number) => ({ job: 'j', submission: 's', index });
const JOB = { name: 'j', submission: 's' } as StoredJob;

describeWithRedis('the ledger', (server) => {
  let queue: Queue;
  beforeAll(() => {
    queue = { redis: server.client(), prefix: PREFIX };
  });
  beforeEach(() => queue.redis.flushall());
  afterAll(() => queue.redis.disconnect());

  /** Gives the lease of a shard, a lock in Redis, to an attempt at the shard. Opens the ledger for the attempt. */
  async function open(
    index: number,
    token: string,
    redis = queue.redis,
    timeoutMs = 60_000,
  ): Promise<SharedLedger> {
    const shard = shardOf(index);
    await queue.redis.set(lockKey(PREFIX, shard), token);
    return new SharedLedger({ redis, prefix: PREFIX }, { shard, token, timeoutMs }, PRICES);
  }
  const limit = (budget: number | null, requestsPerMinute: number | null = null) =>
    setLimits(queue, JOB, { budget, requestsPerMinute });
  const spent = async () => (await readSpending(queue, JOB))!.spent;
  /** Expects that a promise is still pending when a later command of the same connection has its reply. */
  async function expectPending(promise: Promise<unknown>): Promise<void> {
    promise.catch(() => {});
    await queue.redis.ping();
    await expect(Promise.race([promise, queue.redis.ping().then(() => 'pending')])).resolves.toBe('pending');
  }

  it('waits while pending requests of other workers may turn out cheaper, and refuses what does not fit', async () => {
    await limit(1);
    const [one, other] = [await open(0, 'a'), await open(1, 'b')];
    const reservation = await one.reserve(0.75, NEVER);
    const waits = other.reserve(0.5, NEVER);
    await expectPending(waits);
    reservation.settle(0.25);
    (await waits).settle(0.5);
    await Promise.all([one.settled(), other.settled()]);
    expect(await spent()).toBe(0.75);
    await expect(one.reserve(0.5, NEVER)).rejects.toMatchObject({
      code: 'over_budget',
      message: expect.stringMatching(
        /the next request to fit into the budget of \$1\.00 of all workers, got \$0\.75 spent and \$0\.50 needed/,
      ),
    });
    await limit(2);
    await one.reserve(0.5, NEVER);
  });

  it('keeps the reservation of a killed worker, and refuses requests of an attempt without the lease', async () => {
    await limit(1);
    const killed = await open(0, 'a');
    await killed.reserve(0.5, NEVER);
    const next = await open(0, 'b');
    await expect(killed.reserve(0.1, NEVER)).rejects.toMatchObject({ code: 'queue_failed' });
    (await next.reserve(0.25, NEVER)).settle(0.125);
    await next.settled();
    expect(await spent()).toBe(0.625);
    // Nobody settles the reservation, so that the wait for it ends after the longest time of a request.
    const late = await open(1, 'c', queue.redis, 1);
    await expect(late.reserve(0.5, NEVER)).rejects.toMatchObject({ code: 'over_budget' });
  });

  it('counts each change once if its reply was lost and it is sent again', async () => {
    const proxy = new LossyProxy(server.port);
    const redis = await proxy.client();
    await limit(10);
    const ledger = await open(0, 'a', redis);
    proxy.cut();
    const reservation = await ledger.reserve(0.5, NEVER);
    await proxy.whenCut();
    expect(await spent()).toBe(0.5);
    proxy.cut();
    reservation.settle(0.25);
    await proxy.whenCut();
    await ledger.settled();
    expect(await spent()).toBe(0.25);
  });

  it('begins an episode only if its expected cost fits, and says what it needs', async () => {
    await limit(6.5);
    const ledger = await open(0, 'a');
    for (let k = 0; k < 2; k++) {
      const episode = await ledger.beginEpisode(1, NEVER);
      for (let request = 0; request < 2; request++) (await ledger.reserve(1, NEVER)).settle(1);
      episode.addCost(2);
      episode.end(true);
      await ledger.settled();
    }
    // The mean cost of an episode is 2. The last request of the next one reserves 1 more.
    await expect(ledger.beginEpisode(1, NEVER)).rejects.toMatchObject({
      code: 'over_budget',
      message: expect.stringContaining(
        'Expected the next episode to fit into the budget of $6.50 of all workers, got $4.00 spent and $3.00 needed for it.',
      ),
    });
  });

  it('counts the requests of every attempt for the rate limit, until a window after the answer', async () => {
    await limit(null, 3);
    for (let attempt = 0; attempt < 3; attempt++) {
      const ledger = await open(0, 'a');
      (await ledger.reserve(0, NEVER)).settle(0);
      await ledger.settled();
    }
    const ledger = await open(0, 'a');
    const waits = ledger.reserve(0, AbortSignal.timeout(5000));
    await expectPending(waits);
    await queue.redis.hset('unit:ledger:j:s', 'rate', 4);
    await queue.redis.del('unit:rate:j:s');
    await waits;
  });

  it('pauses all workers for the longest pause that one of them requests', async () => {
    const [one, other] = [server.client(), server.client()];
    const pausesOf = (redis: typeof one) => new SharedPauses({ redis, prefix: PREFIX }, shardOf(0));
    pausesOf(one).pause(300);
    await until(async () => (await other.pttl('unit:pause:j:s')) > 0);
    pausesOf(one).pause(1);
    await one.ping();
    expect(await other.pttl('unit:pause:j:s')).toBeGreaterThan(1);
    await pausesOf(other).wait(NEVER);
    expect(await other.pttl('unit:pause:j:s')).toBeLessThanOrEqual(0);
    one.disconnect();
    other.disconnect();
  });

  it('has the answers of earlier attempts at a shard, the first at each step', async () => {
    const answer = (completion: string) => ({
      completion,
      finish: 'stop',
      refused: false,
      usage: { requests: 1 },
    });
    const [one, other] = [await openAnswers(queue, shardOf(0)), await openAnswers(queue, shardOf(0))];
    await one.add('m sampled 1', 0, answer('first'));
    await other.add('m sampled 1', 0, answer('second'));
    const next = await openAnswers(queue, shardOf(0));
    expect(next.get('m sampled 1', 0)).toEqual(answer('first'));
    expect((await openAnswers(queue, shardOf(1))).size).toBe(0);
  });
});
