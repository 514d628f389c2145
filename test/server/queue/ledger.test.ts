/** The ledger of a language model's job: the budget, the rate limit and the pauses that all its workers share. */
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Queue } from '../../../src/server/queue/job-store.js';
import { lockKey } from '../../../src/server/queue/keys.js';
import { SharedLedger, SharedPauses, setLimits } from '../../../src/server/queue/shared-ledger.js';
import { NEVER, PRICES } from '../../support/llm.js';
import { LossyProxy } from '../../support/lossy-proxy.js';
import { describeWithRedis, until } from '../../support/redis.js';

const PREFIX = 'unit';
/** The ledger counts in billionths of a dollar. */
const DOLLAR = 1e9;
const shardOf = (index: number) => ({ job: 'j', submission: 's', index });

describeWithRedis('the ledger', (server) => {
  let queue: Queue;
  beforeAll(() => {
    queue = { redis: server.client(), prefix: PREFIX };
  });
  beforeEach(() => queue.redis.flushall());
  afterAll(() => queue.redis.disconnect());

  /** Gives the lease of a shard, a lock in Redis, to an attempt at the shard. Opens the ledger for the attempt. */
  async function open(index: number, token: string, redis = queue.redis): Promise<SharedLedger> {
    const shard = shardOf(index);
    await queue.redis.set(lockKey(PREFIX, shard), token);
    return SharedLedger.open({ redis, prefix: PREFIX }, { shard, token, timeoutMs: 1000 }, PRICES);
  }
  const endLease = (index: number) => queue.redis.del(lockKey(PREFIX, shardOf(index)));
  const limit = (budget: number | null, requestsPerMinute: number | null = null) =>
    setLimits(queue, 'j', { budget, requestsPerMinute });
  const fields = async () => await queue.redis.hgetall(`${PREFIX}:ledger:j`);
  /** Expects that a promise is still pending when a later command of the same connection has its reply. */
  async function expectPending(promise: Promise<unknown>): Promise<void> {
    promise.catch(() => {});
    await queue.redis.ping();
    await expect(Promise.race([promise, queue.redis.ping().then(() => 'pending')])).resolves.toBe('pending');
  }

  it("counts pending requests of a shard's earlier attempt as spent, and refuses further requests of that attempt", async () => {
    await limit(1);
    const first = await open(0, 'a');
    const reservation = await first.reserve(0.25, NEVER);
    await (await first.reserve(0.5, NEVER)).settle(0.125);
    const second = await open(0, 'b');
    reservation.settle(0);
    await expect(first.reserve(0.1, NEVER)).rejects.toMatchObject({ code: 'queue_failed' });
    await second.reserve(0.5, NEVER);
    expect(second.spent).toBe(0.375);
    const waits = second.reserve(0.25, NEVER);
    await expectPending(waits);
    await queue.redis.hset('unit:ledger:j', 'budget', 2 * DOLLAR);
    await waits;
  });

  it('counts pending requests of a killed worker as spent when its lease ends, so that no other worker waits for them', async () => {
    await limit(1);
    const [killed, other] = [await open(0, 'a'), await open(1, 'b')];
    await killed.reserve(0.5, NEVER);
    const waits = other.reserve(0.75, NEVER);
    await expectPending(waits);
    await endLease(0);
    await expect(waits).rejects.toMatchObject({ code: 'over_budget' });
    expect(await fields()).toMatchObject({ spent: String(0.5 * DOLLAR), reserved: '0', pending: '0' });
    await limit(2);
    await other.reserve(0.75, NEVER);
    await expect(killed.beginEpisode(0.001, NEVER)).rejects.toMatchObject({ code: 'queue_failed' });
  });

  it("stops reserving money for a killed worker's unfinished episodes when its lease ends", async () => {
    await limit(1);
    const [killed, other] = [await open(0, 'a'), await open(1, 'b')];
    const finished = await other.beginEpisode(0.01, NEVER);
    finished.addCost(0.4);
    finished.end(true);
    await killed.beginEpisode(0.01, NEVER);
    await queue.redis.hset('unit:ledger:j', 'spent', 0.4 * DOLLAR);
    const waits = other.beginEpisode(0.01, NEVER);
    await expectPending(waits);
    await endLease(0);
    await waits;
    // A field play:... is an unfinished episode. Only the last one of `other` is left.
    expect(Object.keys(await fields()).filter((field) => field.startsWith('play:'))).toHaveLength(1);
  });

  it('counts each change once if its reply was lost and it is sent again', async () => {
    const proxy = new LossyProxy(server.port);
    const redis = await proxy.client();
    await limit(10, 100);
    /** Sends the commands of one attempt. @param before called before each command. @param after called after it. */
    async function act(before: () => void, after: () => Promise<void>): Promise<Record<string, string>> {
      const step = async <Answer>(command: () => Answer): Promise<Awaited<Answer>> => {
        before();
        const answer = await command();
        await after();
        await redis.ping();
        return answer;
      };
      await using ledger = await step(() => open(0, 'a', redis));
      const episode = await step(() => ledger.beginEpisode(0.5, NEVER));
      const reservation = await step(() => ledger.reserve(0.5, NEVER));
      await step(() => reservation.settle(0.25));
      await step(() => episode.addCost(0.25));
      await step(() => episode.addCost(0.125));
      await step(() => ledger.reserve(0.0625, NEVER));
      await step(() => episode.end(true));
      return await fields();
    }
    const withoutIds = (ledger: Record<string, string>) =>
      Object.fromEntries(Object.entries(ledger).map(([key, value]) => [key.replace(/:\w{16}/, ''), value]));
    const nothing = () => {};
    const undisturbed = withoutIds(await act(nothing, async () => {}));
    const spent = { spent: String(0.25 * DOLLAR), reserved: String(0.0625 * DOLLAR), episodes: '1' };
    expect(undisturbed).toMatchObject(spent);
    await queue.redis.flushall();
    await limit(10, 100);
    const cut = vi.spyOn(proxy, 'cut');
    expect(withoutIds(await act(() => proxy.cut(), proxy.whenCut))).toEqual(undisturbed);
    expect(cut).toHaveBeenCalledTimes(8);
  });

  it('tells every attempt what the episode needs that did not fit into the budget', async () => {
    await limit(6.5);
    const ledger = await open(0, 'a');
    for (let k = 0; k < 2; k++) {
      const episode = await ledger.beginEpisode(1, NEVER);
      await (await ledger.reserve(1, NEVER)).settle(1);
      await (await ledger.reserve(1, NEVER)).settle(1);
      episode.addCost(2);
      episode.end(true);
    }
    // The mean cost of an episode is 2. The last request of the next one reserves 1 more.
    const message = expect.stringContaining(
      'Expected the next episode to fit into the budget of $6.50 of all workers, got $4.00 spent and $3.00 needed for it.',
    );
    await expect(ledger.beginEpisode(1, NEVER)).rejects.toMatchObject({ code: 'over_budget', message });
    await expect((await open(1, 'b')).beginEpisode(0.5, NEVER)).rejects.toMatchObject({
      code: 'over_budget',
      message,
    });
  });

  it('counts the requests of every attempt, even if all attempts hold the same lock', async () => {
    await limit(null, 3);
    for (let attempt = 0; attempt < 3; attempt++) {
      await using ledger = await open(0, 'a');
      (await ledger.reserve(0, NEVER)).settle(0);
    }
    expect(await queue.redis.zcard('unit:rate:j')).toBe(3);
    await using ledger = await open(0, 'a');
    await expectPending(ledger.reserve(0, AbortSignal.timeout(5000)));
  });

  it('pauses all workers for the longest pause that one of them requests', async () => {
    const [one, other] = [server.client(), server.client()];
    const pausesOf = (redis: typeof one) => new SharedPauses({ redis, prefix: PREFIX }, 'j');
    pausesOf(one).pause(300);
    pausesOf(one).pause(1);
    await until(async () => (await other.pttl('unit:pause:j')) > 0);
    await pausesOf(other).wait(NEVER);
    expect(await other.pttl('unit:pause:j')).toBeLessThanOrEqual(0);
    one.disconnect();
    other.disconnect();
  });
});
