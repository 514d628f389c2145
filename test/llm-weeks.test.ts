/** Weeks that a language model plays: many at once, each at its own pace, and as recorded. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toGrader } from '../src/graders/grader.js';
import { type AskOptions, askWeeks } from '../src/llm/weeks.js';
import { TrajectoryReplayer } from '../src/reeval/replayer.js';
import type { TrajectoryEpisode } from '../src/trajectory/episode.js';
import { episodeLine } from '../src/trajectory/line.js';
import { parseEpisode } from '../src/trajectory/read.js';
import { othersTurn } from '../src/vec-env/turns.js';
import type { FakeOpenAi, FakeOptions } from './fakes/openai.js';
import { type Exchange, TROUBLES } from './fakes/openai-troubles.js';
import {
  billedFor,
  type ModelOptions,
  modelOf,
  PLAYER,
  PRICES,
  startModel,
  weeksFrom,
} from './support/llm.js';

/** Answers are held back until so many have been asked for. */
function together(count: number): FakeOptions {
  let release = () => {};
  const all = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hold = async ({ response, good }: Exchange) => {
    await all;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(good));
  };
  return {
    misbehave: ({ index }) => {
      if (index === count - 1) release();
      return index < count ? hold : null;
    },
  };
}

async function ask(
  fake: FakeOpenAi,
  count: number,
  options: Partial<AskOptions> = {},
  of: ModelOptions = {},
) {
  const asked = await modelOf(fake, of);
  const episodes: TrajectoryEpisode[] = [];
  const all = { model: asked.model, grader: toGrader('v2'), concurrency: 3, player: PLAYER, ...options };
  let error: unknown = null;
  try {
    for await (const episode of askWeeks(weeksFrom(100, count), all)) episodes.push(episode);
  } catch (thrown) {
    error = thrown;
  }
  return { ...asked, episodes, error };
}

/** What an endpoint may do now and then, without being lost for it. */
const BENIGN = [
  null,
  '429',
  'cut-off',
  null,
  '500',
  'refusal',
  'malformed',
  'content-filter',
  null,
  'null-content',
];
/** Those that end a run at once. */
const LASTING = ['400', '401', '403', '404', '429-no-money', 'redirect'];

/** What the lines of episodes say otherwise than their replay. */
function mismatchesIn(episodes: readonly TrajectoryEpisode[]): unknown[] {
  if (episodes.length === 0) return [];
  using replayer = new TrajectoryReplayer({});
  return replayer.replay(episodes.map((each) => parseEpisode(episodeLine(each)))).mismatches.flat();
}

describe('weeks', () => {
  it('are all played, at most so many at once, one request under way for each', async () => {
    const fake = await startModel(together(3));
    let steps = 0;
    const { episodes, error } = await ask(fake, 7, { onStep: () => steps++ });
    expect(error).toBeNull();
    expect(episodes.map(({ seed }) => seed).sort()).toEqual([100, 101, 102, 103, 104, 105, 106]);
    expect([fake.requests.length, fake.most, steps]).toEqual([196, 3, 196]);
    for (const episode of episodes) {
      expect(parseEpisode(episodeLine(episode).trimEnd())).toEqual(episode);
      expect(episode.steps.every(({ parsed, reasoning }) => parsed && reasoning !== null)).toBe(true);
      expect([episode.usage!.requests, episode.sampling]).toEqual([28, { max_tokens: 64 }]);
    }
  });

  it('are as recorded, whatever the endpoint does meanwhile', async () => {
    const fake = await startModel({ misbehave: ({ index }) => BENIGN[index % BENIGN.length] });
    const { episodes, error } = await ask(fake, 4, {}, { retries: 3 });
    expect(error).toBeNull();
    expect(episodes.length).toBe(4);
    expect(mismatchesIn(episodes)).toEqual([]);
    const steps = episodes.flatMap((episode) => episode.steps);
    expect(steps.some(({ parsed, action }) => !parsed && action === 'sleep')).toBe(true);
    const counts = episodes.map(({ usage }) => [
      usage!.cut_off! > 0,
      usage!.refused! > 0,
      usage!.requests! > 28,
    ]);
    expect(counts.flat()).not.toContain(false);
  });

  it('are the same, whoever ends first', async () => {
    const slow = await startModel(together(3));
    const quick = await startModel();
    const bySeed = (episodes: TrajectoryEpisode[]) =>
      [...episodes].sort((a, b) => a.seed - b.seed).map(episodeLine);
    const [a, b] = [await ask(slow, 5), await ask(quick, 5, { concurrency: 1 })];
    expect(bySeed(a.episodes)).toEqual(bySeed(b.episodes));
    expect(b.episodes.map(({ seed }) => seed)).toEqual([100, 101, 102, 103, 104]);
  });

  it('begin in the place of one that ends, at once', async () => {
    // The first week's first answer never comes: the other place plays all others.
    const fake = await startModel({ misbehave: ({ index }) => (index === 0 ? 'silence' : null) });
    const stop = new AbortController();
    const seen: number[] = [];
    const asked = await modelOf(fake);
    const all = {
      model: asked.model,
      grader: toGrader('v2'),
      concurrency: 2,
      player: PLAYER,
      signal: stop.signal,
    };
    const playing = async () => {
      for await (const { seed } of askWeeks(weeksFrom(100, 4), all)) {
        seen.push(seed);
        if (seen.length === 3) stop.abort(new Error('enough'));
      }
    };
    await expect(playing()).rejects.toThrow('enough');
    expect([seen.length, fake.requests.length]).toEqual([3, 85]);
  });
});

describe('when the endpoint fails', () => {
  it('for good, nobody asks any more', async () => {
    const fake = await startModel({ misbehave: ({ index }) => (index >= 40 ? '401' : null) });
    const { episodes, error } = await ask(fake, 9);
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: true });
    expect(episodes.length).toBe(0);
    expect(fake.requests.length).toBeLessThan(40 + 4);
  });

  it('for one week, the others under way are finished, and no other is begun', async () => {
    const fake = await startModel({ misbehave: ({ index }) => (index === 50 ? '500' : null) });
    const { episodes, error } = await ask(fake, 9);
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: false });
    expect(episodes.length).toBe(2);
    expect(fake.requests.length).toBeLessThan(3 * 28);
  });

  it('the caller may leave: nothing is asked after that', async () => {
    const fake = await startModel();
    const { model } = await modelOf(fake);
    const all = { model, grader: toGrader('v2'), concurrency: 3, player: PLAYER };
    for await (const _ of askWeeks(weeksFrom(100, 9), all)) break;
    const asked = fake.requests.length;
    await othersTurn();
    expect(fake.requests.length).toBe(asked);
    expect(asked).toBeLessThanOrEqual(4 * 28);
  });
});

describe('a budget', () => {
  it('ends before it is passed, with whole weeks, and goes on where more is given', async () => {
    const fake = await startModel();
    const first = await ask(fake, 9, {}, { ledger: { prices: PRICES, budget: 0.15 } });
    expect(first.error).toMatchObject({ code: 'over_budget' });
    const costs = first.episodes.map(({ usage }) => usage!.cost_usd!);
    const cost = costs.reduce((sum, each) => sum + each, 0);
    // Nothing was spent on weeks that were not finished.
    expect(first.ledger.spent).toBeCloseTo(cost, 12);
    expect(first.episodes.length).toBe(Math.floor(0.15 / (cost / costs.length)));
    const finished = { weeks: costs.length, cost };
    const second = await ask(
      fake,
      9,
      {},
      { ledger: { prices: PRICES, budget: 0.15, spent: cost, finished } },
    );
    expect([second.episodes.length, second.ledger.spent]).toEqual([0, cost]);
  });

  it('is never passed, whatever the endpoint does', async () => {
    const names = Object.keys(TROUBLES).filter((name) => !LASTING.includes(name));
    const trouble = fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, fc.constantFrom(...names));
    const runs = fc.record({
      troubles: fc.array(trouble, { minLength: 1, maxLength: 40 }),
      budget: fc.double({ min: 0.005, max: 0.12, noNaN: true }),
      concurrency: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(runs, async ({ troubles, budget, concurrency }) => {
        const fake = await startModel({ misbehave: ({ index }) => troubles[index % troubles.length] });
        const settings = { retries: 1, timeoutMs: 40, ledger: { prices: PRICES, budget } };
        const { ledger, episodes } = await ask(fake, 4, { concurrency }, settings);
        await fake.close();
        expect(billedFor(fake)).toBeLessThanOrEqual(budget + 1e-9);
        expect(ledger.spent).toBeLessThanOrEqual(budget + 1e-9);
        expect(billedFor(fake)).toBeLessThanOrEqual(ledger.spent + 1e-9);
        expect(mismatchesIn(episodes)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
