/** What a search is made of: random numbers, children, populations, plans, and the playing of tapes. */
import { describe, expect, it } from 'vitest';
import { threefry } from '../src/reference/threefry.js';
import { breedTape, drawTape, fingerprint } from '../src/search/breed.js';
import { Draws } from '../src/search/draws.js';
import { isBetter } from '../src/search/objective.js';
import { evaluationsOf, planOf } from '../src/search/plan.js';
import { Population } from '../src/search/population.js';
import { toSearchRequest } from '../src/search/request.js';
import { Scorer, trialOf } from '../src/search/scorer.js';
import { spreadSeeds, TRAINING_SEEDS } from '../src/search/seeds.js';
import { NUM_ACTIONS, NUM_STEPS } from '../src/world/fields.js';
import { ENGINES } from './support/engines.js';
import { forAll, type Random } from './support/random.js';
import { personOf, playProblem } from './support/tapes.js';

const anyTapes = (random: Random, count: number) => random.bytes(count * NUM_STEPS, 0, NUM_ACTIONS - 1);
const rowOf = (rows: Uint8Array, i: number) => rows.slice(i * NUM_STEPS, (i + 1) * NUM_STEPS);

describe('random numbers', () => {
  it('are the words of the generator, in halves', () => {
    const draws = new Draws(5);
    const got = Array.from({ length: 6 }, () => draws.below(2 ** 16));
    const [first, second] = [0, 1].map((block) => threefry(5, 0x53454152, block, 0, { x0: 0, x1: 0 }));
    const halves = [first.x0, first.x1, second.x0].flatMap((word) => [word >>> 16, word & 0xffff]);
    expect(got).toEqual(halves);
  });

  it('are all alike', () => {
    const draws = new Draws(6);
    const counts = new Uint32Array(10);
    for (let i = 0; i < 100_000; i++) counts[draws.below(10)]++;
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
    const heads = Array.from({ length: 100_000 }, () => Number(draws.chance(0.3)));
    expect(Math.abs(heads.reduce((sum, head) => sum + head) - 30_000)).toBeLessThan(600);
    expect([draws.chance(0), draws.chance(1)]).toEqual([false, true]);
  });
});

describe('children', () => {
  it('have legal actions, and touch no other row', () => {
    forAll(50, (random) => {
      const draws = new Draws(random.integer(0, 2 ** 31));
      const rows = anyTapes(random, 4);
      const before = rows.slice();
      breedTape(draws, rows, 0, NUM_STEPS, 3 * NUM_STEPS);
      expect(rows.every((code) => code < NUM_ACTIONS)).toBe(true);
      expect(rows.slice(0, 3 * NUM_STEPS)).toEqual(before.slice(0, 3 * NUM_STEPS));
    });
  });

  it('have most actions of their parents', () => {
    const draws = new Draws(1);
    const rows = new Uint8Array(3 * NUM_STEPS).fill(1, NUM_STEPS);
    const sizes = Array.from({ length: 1000 }, () => {
      breedTape(draws, rows, 0, NUM_STEPS, 2 * NUM_STEPS);
      return rowOf(rows, 2).filter((code) => code > 1).length;
    });
    expect(Math.max(...sizes)).toBeLessThan(NUM_STEPS / 2);
    expect(sizes.some((size) => size > 1)).toBe(true);
  });

  it('are told apart', () => {
    const draws = new Draws(2);
    const rows = new Uint8Array(1000 * NUM_STEPS);
    for (let i = 0; i < 1000; i++) drawTape(draws, rows, i * NUM_STEPS);
    expect(new Set(Array.from({ length: 1000 }, (_, i) => fingerprint(rows, i * NUM_STEPS))).size).toBe(1000);
    expect(fingerprint(rowOf(rows, 7), 0)).toBe(fingerprint(rows, 7 * NUM_STEPS));
  });
});

describe('a population', () => {
  /** Tapes of one action each. */
  const plain = (...actions: number[]) => actions.map((action) => new Uint8Array(NUM_STEPS).fill(action));
  const select = (population: Population, scores: number[], shortfalls = scores.map(() => 0)) =>
    population.select(Float64Array.from(scores), Float64Array.from(shortfalls));
  const firsts = (population: Population, count: number) =>
    Array.from({ length: count }, (_, i) => population.first(count)[i * NUM_STEPS]);

  it('keeps the best, each once, and of equals the older', () => {
    const population = new Population(new Draws(0), 3, 5);
    population.offer(plain(1, 2, 3, 2, 4));
    select(population, [0.5, 0.7, 0.1, 0.7, 0.6]);
    expect(firsts(population, 3)).toEqual([2, 4, 1]);
    population.offer(plain(5, 6));
    select(population, [0.7, 0.2]);
    expect(firsts(population, 4)).toEqual([2, 5, 4, 2]);
    expect(population.best).toEqual({ score: 0.7, shortfall: 0, tape: plain(2)[0] });
  });

  it('ranks a shortfall at its price, but calls none the best that falls short', () => {
    const population = new Population(new Draws(0), 3, 3);
    population.offer(plain(1, 2, 3));
    select(population, [0.2, 0.9, 0.9], [0, 0.1, 1]);
    expect(firsts(population, 3)).toEqual([2, 1, 3]);
    expect(population.best).toMatchObject({ score: 0.2, shortfall: 0 });
  });

  it('raises the price while too many fall short, and lowers it while too few do', () => {
    for (const [shortfall, falls] of [
      [0.1, false],
      [0, true],
    ] as const) {
      const population = new Population(new Draws(0), 4, 4);
      const prices = Array.from({ length: 300 }, () => {
        population.breed(4);
        select(population, [1, 2, 3, 4], Array(4).fill(shortfall));
        return population.price;
      });
      const steps = prices.slice(1).map((price, k) => Math.sign(price - prices[k]));
      expect(steps[0]).toBe(falls ? -1 : 1);
      expect(prices.at(-1)).toBe(falls ? 2 ** -10 : 2 ** 10);
    }
  });

  it('breeds tapes that it has not got', () => {
    const population = new Population(new Draws(3), 16, 32);
    for (let generation = 0; generation < 20; generation++) {
      const kept = generation === 0 ? new Uint8Array() : population.first(16);
      population.breed(32);
      const rows = [...kept, ...population.candidates];
      const texts = Array.from({ length: rows.length / NUM_STEPS }, (_, i) =>
        rows.slice(i * NUM_STEPS, (i + 1) * NUM_STEPS).join(),
      );
      expect(new Set(texts).size).toBe(texts.length);
      select(
        population,
        Array.from({ length: 32 }, (_, i) => population.candidates[i * NUM_STEPS]),
      );
    }
  });
});

it('a tape that falls less short is better, then one that scores more', () => {
  const tapes = [
    { score: 0.1, shortfall: 0 },
    { score: 0.2, shortfall: 0 },
    { score: 0.9, shortfall: 0.1 },
    { score: 0.3, shortfall: 0.05 },
  ];
  const ranked = [...tapes].sort((a, b) => Number(isBetter(b, a)) - Number(isBetter(a, b)));
  expect(ranked.map(({ score }) => score)).toEqual([0.2, 0.1, 0.3, 0.9]);
});

describe('a plan', () => {
  it('spends what is asked for, and little more', () => {
    forAll(200, (random) => {
      const evaluations = Math.floor(10 ** random.real(3, 7));
      const starts = random.pick([1, 8, 31, 32, 1000]);
      const problems = Array(random.pick([1, 2, 100])).fill({ seeds: spreadSeeds(starts) });
      const plan = planOf(toSearchRequest(problems, { evaluations }));
      const spent = evaluationsOf(plan);
      expect(spent).toBeGreaterThanOrEqual(evaluations);
      expect(spent).toBeLessThan(1.1 * evaluations + 300);
      expect(plan.offspring % 16).toBe(0);
      expect(Math.ceil(starts / plan.stride)).toBeGreaterThanOrEqual(Math.min(starts, 8));
    });
  });
});

describe('tapes are played', () => {
  /** Scores of tapes, and those that single runs of them come to. */
  function scores(random: Random, problems: number, starts: number, tapes: number, stride: number) {
    const seeds = () => random.seeds(starts);
    const asked = Array.from({ length: problems }, () => ({
      seeds: seeds(),
      profile: personOf(random.integer(0, 99)),
    }));
    const request = toSearchRequest(asked, { leastEarlyMean: 0.2 });
    using scorer = new Scorer(request, tapes);
    const trials = asked.map((_, problem) => trialOf(problem, anyTapes(random, tapes)));
    const played = Array.from(scorer.score(trials, stride)).reduce((sum, count) => sum + count);
    expect(played).toBe(problems * tapes);
    const some = asked.map(({ seeds, profile }) => ({
      seeds: seeds.filter((_, i) => i % stride === 0),
      profile,
    }));
    return { trials, some };
  }

  const wide = ENGINES.length > 1 ? [20, 40, 100, 1] : [2, 4, 10, 1];
  const long = ENGINES.length > 1 ? [2, 4500, 21, 1] : [2, 45, 21, 1];
  it.each([[1, 1, 1, 1], [3, 10, 5, 3], [2, 8, 32, 1], wide, long])(
    'of %i problems with %i starts, %i tapes on every %i-th start',
    (problems, starts, tapes, stride) => {
      forAll(1, (random) => {
        const { trials, some } = scores(random, problems, starts, tapes, stride);
        for (const k of [0, problems - 1]) {
          for (const i of new Set([0, tapes >> 1, tapes - 1])) {
            const { score, earlyMean } = playProblem(rowOf(trials[k].tapes, i), some[k]);
            expect(trials[k].scores[i]).toBe(score);
            expect(trials[k].shortfalls[i]).toBe(Math.max(0, 0.2 - earlyMean));
          }
        }
      });
    },
  );
});

it('training seeds are spread over those that are left for training', () => {
  const { first, last } = TRAINING_SEEDS;
  expect([first, last]).toEqual([100, 9999]);
  expect(Array.from(spreadSeeds(3))).toEqual([100, 3400, 6700]);
  expect(Array.from(spreadSeeds(4, { first: 7, last: 8 }))).toEqual([7, 7, 8, 8]);
  expect(new Set(spreadSeeds(last - first + 1)).size).toBe(last - first + 1);
});
