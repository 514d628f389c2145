/** Money: what is spent is never more than there is, and no week is begun that is not expected to be finished. */
import { describe, expect, it } from 'vitest';
import { costOf, dollars, Ledger, type LedgerOptions, mostFor } from '../src/llm/ledger.js';
import { othersTurn } from '../src/vec-env/turns.js';
import { NEVER, PRICES } from './support/llm.js';

const ledgerOf = (options: Partial<LedgerOptions> = {}) =>
  new Ledger({ prices: PRICES, budget: 10, ...options });

/** Whether a promise has settled by now. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(
    () => {
      done = true;
    },
    () => {
      done = true;
    },
  );
  await othersTurn();
  return done;
}

it('costs by price', () => {
  expect(costOf(PRICES, { prompt: 1_000_000, cached: 200_000, completion: 50_000 })).toBe(2 + 0.25 + 0.5);
  expect(mostFor(PRICES, 1000, 100)).toBe((2500 + 1000) / 1e6);
  expect(mostFor({ ...PRICES, cached: 5 }, 1000, 0)).toBe(5000 / 1e6);
  expect([0, 0.00123, 0.5, 1.005, 12.3].map(dollars)).toEqual([
    '$0.00',
    '$0.0012',
    '$0.50',
    '$1.00',
    '$12.30',
  ]);
});

describe('a request', () => {
  it('waits while it does not fit and others may turn out cheaper', async () => {
    const ledger = ledgerOf();
    const first = await ledger.reserve(6, NEVER);
    const second = ledger.reserve(6, NEVER);
    expect(await settled(second)).toBe(false);
    first.settle(1);
    (await second).settle(2);
    expect(ledger.spent).toBe(3);
  });

  it('is refused where nothing under way could make room', async () => {
    const ledger = ledgerOf({ spent: 5 });
    await expect(ledger.reserve(6, NEVER)).rejects.toMatchObject({
      code: 'over_budget',
      message:
        'Expected the next request to fit into the budget of $10.00, got $5.00 spent and up to $6.00 for it. Raise --budget to go on.',
    });
    const first = await ledger.reserve(4, NEVER);
    const second = ledger.reserve(4, NEVER);
    first.settle(4);
    await expect(second).rejects.toMatchObject({ code: 'over_budget' });
  });

  it('that waits ends with its signal', async () => {
    const ledger = ledgerOf();
    await ledger.reserve(6, NEVER);
    const stop = new AbortController();
    const second = ledger.reserve(6, stop.signal);
    stop.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
  });

  it('is noted before it is sent, at the most that it can cost, and after it as it was', async () => {
    const noted: number[] = [];
    const ledger = ledgerOf({ spent: 1, onSpend: (most) => noted.push(most) });
    const [first, second] = [await ledger.reserve(2, NEVER), await ledger.reserve(3, NEVER)];
    first.settle(0.5);
    second.settle(3);
    expect(noted).toEqual([3, 6, 4.5, 4.5]);
  });

  it('has no end of money without a budget', async () => {
    const ledger = ledgerOf({ budget: null });
    for (let k = 0; k < 5; k++) await ledger.reserve(1e9, NEVER);
    expect(await settled(ledger.beginWeek(1, NEVER))).toBe(true);
  });
});

describe('a week', () => {
  it('is begun, the first without any knowledge, others by the most that they can cost', async () => {
    const ledger = ledgerOf();
    await ledger.beginWeek(1, NEVER);
    // 28 requests of a dollar each are more than there is.
    const second = ledger.beginWeek(1, NEVER);
    expect(await settled(second)).toBe(false);
    const rich = ledgerOf({ budget: 56 });
    await rich.beginWeek(1, NEVER);
    expect(await settled(rich.beginWeek(1, NEVER))).toBe(true);
    expect(await settled(rich.beginWeek(1, NEVER))).toBe(false);
  });

  it('is begun where what is left is expected to be enough for it and for those under way', async () => {
    const ledger = ledgerOf({ budget: 11, spent: 4, finished: { weeks: 2, cost: 4 } });
    const [first] = [await ledger.beginWeek(1, NEVER), await ledger.beginWeek(1, NEVER)];
    await ledger.beginWeek(1, NEVER);
    // Four spent, three weeks of two under way, and one for the last request: a fourth does not fit.
    const fourth = ledger.beginWeek(1, NEVER);
    expect(await settled(fourth)).toBe(false);
    const request = await ledger.reserve(1, NEVER);
    request.settle(0.4);
    first.paid(0.4);
    // The first turned out cheaper: a mean of 1.47 for what is to come.
    first.end(true);
    expect(await settled(fourth)).toBe(true);
  });

  it('is refused, and all that wait, where none is under way that could make room', async () => {
    const ledger = ledgerOf({ budget: 5, spent: 4, finished: { weeks: 2, cost: 4 } });
    await expect(ledger.beginWeek(1, NEVER)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^Expected the next episode to fit into the budget of \$5\.00, got \$4\.00 spent/,
      ),
    });
    const one = ledgerOf({ budget: 3 });
    const first = await one.beginWeek(1, NEVER);
    const others = [one.beginWeek(1, NEVER), one.beginWeek(1, NEVER)];
    (await one.reserve(2, NEVER)).settle(2);
    first.paid(2);
    first.end(true);
    for (const other of others) await expect(other).rejects.toMatchObject({ code: 'over_budget' });
  });

  it('is begun by nobody once a request had to be left out', async () => {
    const ledger = ledgerOf({ budget: 3 });
    const week = await ledger.beginWeek(1, NEVER);
    await expect(ledger.reserve(4, NEVER)).rejects.toMatchObject({ code: 'over_budget' });
    week.end(false);
    await expect(ledger.beginWeek(1, NEVER)).rejects.toMatchObject({ code: 'over_budget' });
  });
});
