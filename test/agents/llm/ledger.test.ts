/** The ledger: the budget is never exceeded, and an episode after the first begins only if its expected cost fits. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { costOf, dollars, Ledger, type LedgerOptions, maxCostOf } from '../../../src/agents/llm/ledger.js';
import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { NEVER, PRICES } from '../../support/llm.js';

const ledgerOf = (options: Partial<LedgerOptions> = {}) =>
  new Ledger({ prices: PRICES, budget: 10, ...options });

/** Returns whether a promise is fulfilled. A rejected promise throws its reason. */
const isFulfilled = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), yieldTurn().then(() => false)]);

it('costOf and maxCostOf compute costs from prices, and dollars formats them', () => {
  expect(costOf(PRICES, { prompt: 1_000_000, cached: 200_000, completion: 50_000 })).toBe(2 + 0.25 + 0.5);
  expect(maxCostOf(PRICES, 1000, 100)).toBe((2500 + 1000) / 1e6);
  expect(maxCostOf({ ...PRICES, cached: 5 }, 1000, 0)).toBe(5000 / 1e6);
  expect([0, 0.00123, 0.5, 1, 1.005, 12.3].map(dollars)).toEqual([
    '$0.00',
    '$0.0012',
    '$0.50',
    '$1.00',
    '$1.00',
    '$12.30',
  ]);
});

describe('a request', () => {
  it('may reserve the whole remaining budget, and otherwise waits while others are pending', async () => {
    const ledger = ledgerOf({ spent: 4 });
    const first = await ledger.reserve(2, NEVER);
    expect(await isFulfilled(ledger.reserve(4, NEVER))).toBe(true);
    const waiting = ledger.reserve(0.5, NEVER);
    expect(await isFulfilled(waiting)).toBe(false);
    first.settle(1);
    (await waiting).settle(0.25);
    expect(ledger.spent).toBe(5.25);
  });

  it('is refused if it does not fit and nothing is pending', async () => {
    const ledger = ledgerOf({ spent: 5 });
    await expect(ledger.reserve(6, NEVER)).rejects.toMatchObject({
      code: 'over_budget',
      message:
        'Expected the next request to fit into the budget of $10.00, got $5.00 spent and $6.00 needed for it. Raise the budget (--budget) to go on.',
    });
    const first = await ledger.reserve(4, NEVER);
    const second = ledger.reserve(4, NEVER);
    first.settle(4);
    await expect(second).rejects.toMatchObject({ code: 'over_budget' });
  });

  it('that waits is rejected with the reason of its signal', async () => {
    const ledger = ledgerOf();
    await ledger.reserve(6, NEVER);
    const stop = new AbortController();
    const second = ledger.reserve(6, stop.signal);
    stop.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
  });

  it('is reported at its maximum cost before it is sent, and at its actual cost after its answer, despite rounding', async () => {
    const reported: number[] = [];
    const ledger = ledgerOf({ spent: 1, onSpend: (maxSpent) => reported.push(maxSpent) });
    const [first, second] = [await ledger.reserve(2, NEVER), await ledger.reserve(3, NEVER)];
    first.settle(0.5);
    second.settle(3);
    expect(reported).toEqual([3, 6, 4.5, 4.5]);
    const reservations = [];
    for (const cost of [0.1, 0.2, 0.3]) reservations.push(await ledger.reserve(cost, NEVER));
    for (const reservation of reservations) reservation.settle(0);
    expect(reported.at(-1)).toBe(4.5);
  });

  it('always fits without a budget', async () => {
    const ledger = ledgerOf({ budget: null });
    for (let k = 0; k < 5; k++) await ledger.reserve(1e9, NEVER);
    expect(await isFulfilled(ledger.beginEpisode(1, NEVER))).toBe(true);
  });
});

describe('an episode', () => {
  it('begins if it is the first, or if its maximum cost fits', async () => {
    // 28 requests of a dollar each; the first episode begins whatever the budget.
    const enough = ledgerOf({ budget: 56 });
    for (const fits of [true, true, false])
      expect(await isFulfilled(enough.beginEpisode(1, NEVER))).toBe(fits);
    const small = ledgerOf();
    for (const fits of [true, false]) expect(await isFulfilled(small.beginEpisode(1, NEVER))).toBe(fits);
  });

  it('begins if the remaining budget is expected to suffice for it and for the unfinished episodes', async () => {
    const ledger = ledgerOf({ budget: 11, spent: 4, finished: { episodes: 2, cost: 4 } });
    const [first] = [await ledger.beginEpisode(1, NEVER), await ledger.beginEpisode(1, NEVER)];
    await ledger.beginEpisode(1, NEVER);
    // 4 spent, three unfinished episodes of 2 each, and 1 for the last request: a fourth episode does not fit.
    const fourth = ledger.beginEpisode(1, NEVER);
    expect(await isFulfilled(fourth)).toBe(false);
    const request = await ledger.reserve(1, NEVER);
    request.settle(0.4);
    first.addCost(0.4);
    // The first was cheaper: the mean is now 1.47.
    first.end(true);
    expect(await isFulfilled(fourth)).toBe(true);
  });

  it('begins only if its last request can be reserved', async () => {
    const finished = { episodes: 2, cost: 4 };
    // 3 spent, 2 for this episode and 1 for its last request.
    const enough = ledgerOf({ budget: 6, spent: 3, finished });
    expect(await isFulfilled(enough.beginEpisode(1, NEVER))).toBe(true);
    await expect(
      ledgerOf({ budget: 5.999, spent: 3, finished }).beginEpisode(1, NEVER),
    ).rejects.toMatchObject({
      code: 'over_budget',
    });
  });

  it.each([
    [9, true],
    [8.999, false],
  ])('that has cost more than expected is expected to cost nothing more: budget %d', async (budget, fits) => {
    const ledger = ledgerOf({ budget, finished: { episodes: 1, cost: 2 } });
    const episode = await ledger.beginEpisode(1, NEVER);
    (await ledger.reserve(1, NEVER)).settle(6);
    episode.addCost(6);
    // 6 spent, 2 for another and 1 for its last request. The excess of the first is not subtracted.
    expect(await isFulfilled(ledger.beginEpisode(1, NEVER))).toBe(fits);
  });

  it('is expected to cost 28 times the largest maximum cost of a request while no episode is finished', async () => {
    const ledger = ledgerOf({ budget: 28 * 6 - 1 });
    const episode = await ledger.beginEpisode(1, NEVER);
    const expensive = await ledger.reserve(3, NEVER);
    const cheap = await ledger.reserve(1, NEVER);
    expensive.settle(0);
    cheap.settle(0);
    // Both episodes are expected to cost 28 times 3.
    const second = ledger.beginEpisode(2, NEVER);
    expect(await isFulfilled(second)).toBe(false);
    // The first is expected to cost nothing more, so the second begins before the first ends.
    episode.addCost(28 * 3);
    expect(await isFulfilled(second)).toBe(true);
  });

  it('that was not finished does not change the mean cost', async () => {
    const ledger = ledgerOf({ budget: 28 });
    const episode = await ledger.beginEpisode(1, NEVER);
    episode.addCost(0.01);
    episode.end(false);
    await ledger.beginEpisode(1, NEVER);
    expect(await isFulfilled(ledger.beginEpisode(1, NEVER))).toBe(false);
  });

  it('that waits listens to its signal once, and stops listening when it begins', async () => {
    const ledger = ledgerOf({ budget: 1 });
    const episode = await ledger.beginEpisode(1, NEVER);
    const { signal } = new AbortController();
    const waiting = ledger.beginEpisode(1, signal);
    const listeners = getEventListeners(signal, 'abort').length;
    for (let k = 0; k < 9; k++) {
      episode.addCost(0);
      await yieldTurn();
    }
    expect([listeners, getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
    episode.end(false);
    await waiting;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('is refused if it does not fit and none is being played, and all waiting episodes with it', async () => {
    // The mean cost of an episode is 2. The last request of the next one reserves 1 more.
    const ledger = ledgerOf({ budget: 6.5, spent: 4, finished: { episodes: 2, cost: 4 } });
    await expect(ledger.beginEpisode(1, NEVER)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^Expected the next episode to fit into the budget of \$6\.50, got \$4\.00 spent and \$3\.00 needed for it\./,
      ),
    });
    const small = ledgerOf({ budget: 3 });
    const first = await small.beginEpisode(1, NEVER);
    const others = [small.beginEpisode(1, NEVER), small.beginEpisode(1, NEVER)];
    (await small.reserve(2, NEVER)).settle(2);
    first.addCost(2);
    first.end(true);
    for (const other of others) await expect(other).rejects.toMatchObject({ code: 'over_budget' });
  });

  it('does not begin after a refused request', async () => {
    const ledger = ledgerOf({ budget: 3 });
    const episode = await ledger.beginEpisode(1, NEVER);
    await expect(ledger.reserve(4, NEVER)).rejects.toMatchObject({ code: 'over_budget' });
    episode.end(false);
    await expect(ledger.beginEpisode(1, NEVER)).rejects.toMatchObject({ code: 'over_budget' });
  });
});
