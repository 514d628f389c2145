/** The parts of a search: random numbers, children (sequences bred from two parents), populations, search plans and scorers. */
import { describe, expect, it } from 'vitest';
import { breedSequence, SearchDraws, sharedDraws } from '../../../src/agents/search/breeding.js';
import { evaluationsOf, searchPlanOf } from '../../../src/agents/search/find-sequences.js';
import { isBetter, Population } from '../../../src/agents/search/population.js';
import { Scorer, spacedStarts, trialOf } from '../../../src/agents/search/scorer.js';
import { toSearchRequest } from '../../../src/agents/search/search-options.js';
import { openSyncBatch } from '../../../src/engine/backends/open-batch.js';
import { runSync } from '../../../src/engine/engine-calls.js';
import { threefry } from '../../../src/engine/reference/threefry.js';
import { spreadSeeds, TRAINING_SEEDS } from '../../../src/world/conditions.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { playProblem, profileOf } from '../../support/action-sequences.js';
import { expectSameScores } from '../../support/async-scores.js';
import { ENGINES } from '../../support/engines.js';
import { forAll, type Random } from '../../support/random.js';
import { openStandIn } from '../../support/stand-in-batch.js';

/** The stream of Threefry that draws the random numbers of a search: "SEAR" in ASCII. */
const SEARCH_STREAM = 0x53454152;

const anySequences = (random: Random, count: number) => random.bytes(count * NUM_STEPS, 0, NUM_ACTIONS - 1);
const rowOf = (rows: Uint8Array, i: number) => rows.slice(i * NUM_STEPS, (i + 1) * NUM_STEPS);

describe('random numbers', () => {
  it('are the half-words of the generator, in order', () => {
    const draws = new SearchDraws(5);
    const drawn = Array.from({ length: 6 }, () => draws.below(2 ** 16));
    const [first, second] = [0, 1].map((block) => threefry(5, SEARCH_STREAM, block, 0, { x0: 0, x1: 0 }));
    const halves = [first.x0, first.x1, second.x0].flatMap((word) => [word >>> 16, word & 0xffff]);
    expect(drawn).toEqual(halves);
  });

  it('are the same from all SearchDraws that `sharedDraws` creates with one seed', () => {
    const newDraws = sharedDraws(5);
    const [first, second] = [newDraws(), newDraws()];
    const [got, expected] = [[], []] as [number[], number[]];
    const alone = new SearchDraws(5);
    for (let i = 0; i < 1000; i++) {
      expected.push(alone.below(2 ** 16));
      got.push(first.below(2 ** 16));
    }
    expect(got).toEqual(expected);
    expect(expected.map(() => second.below(2 ** 16))).toEqual(expected);
    expect(new Set(expected).size).toBeGreaterThan(900);
  });
});

/** The arguments of `breedSequence` after the rows are the offsets of the first parent, the second parent and the child. */
describe('action sequences', () => {
  it('that are children have legal actions, and breeding changes no other row', () => {
    forAll(50, (random) => {
      const draws = new SearchDraws(random.integer(0, 2 ** 31));
      const rows = anySequences(random, 4);
      const before = rows.slice();
      breedSequence(draws, rows, 0, NUM_STEPS, 3 * NUM_STEPS);
      expect(rows.every((code) => code < NUM_ACTIONS)).toBe(true);
      expect(rows.slice(0, 3 * NUM_STEPS)).toEqual(before.slice(0, 3 * NUM_STEPS));
    });
  });

  it('that are children differ from their first parent only from step `begin` on', () => {
    const draws = new SearchDraws(4);
    const rows = new Uint8Array(3 * NUM_STEPS).fill(1, NUM_STEPS);
    const differing = () => {
      breedSequence(draws, rows, 0, NUM_STEPS, 2 * NUM_STEPS, 25);
      return Array.from(rowOf(rows, 2).keys()).filter((t) => rowOf(rows, 2)[t] !== 0);
    };
    const steps = new Set(Array.from({ length: 200 }, differing).flat());
    expect([...steps].sort()).toEqual([25, 26, 27]);
  });
});

describe('a population', () => {
  /** Action sequences of one action each. */
  const plain = (...actions: number[]) => actions.map((action) => new Uint8Array(NUM_STEPS).fill(action));
  /** @param shortfalls how far each first-half mean lies below its bound (`Outcome` in objective.ts). */
  const select = (population: Population, scores: number[], shortfalls = scores.map(() => 0)) =>
    population.select(Float64Array.from(scores), Float64Array.from(shortfalls));
  const firsts = (population: Population, count: number) =>
    Array.from({ length: count }, (_, i) => population.bestKept(count)[i * NUM_STEPS]);

  it('narrows to the candidates with the highest scores, in unchanged order, and to the first of equal ones', () => {
    const population = new Population(new SearchDraws(0), 2, 6);
    population.setCandidates(plain(0, 1, 2, 3, 4, 5));
    expect([...population.narrow(Float64Array.of(3, 9, 3, 1, 9, 3), 3)]).toEqual([0, 1, 4]);
    expect(population.candidates).toEqual(Uint8Array.from([0, 1, 4].flatMap((code) => Array(28).fill(code))));
    expect([...population.narrow(Float64Array.of(1, 2, 3), 5)]).toEqual([0, 1, 2]);
    select(population, [1, 3, 2]);
    expect(firsts(population, 2)).toEqual([1, 4]);
  });

  // The penalty rises or falls by a factor of 1.03 if too few or too many sequences have no shortfall (population.ts).
  it.each([
    [1, 1.03],
    [2, 1],
    [3, 1],
    [4, 1 / 1.03],
  ])('with %i of 5 sequences without a shortfall has the penalty %f', (feasible, penalty) => {
    const population = new Population(new SearchDraws(0), 5, 5);
    population.setCandidates(plain(0, 1, 2, 3, 4));
    select(
      population,
      [5, 4, 3, 2, 1],
      Array.from({ length: 5 }, (_, i) => Number(i >= feasible)),
    );
    expect(population.penalty).toBe(penalty);
  });

  it('keeps the best sequences without duplicates, and ranks the older of two equally good sequences first', () => {
    const population = new Population(new SearchDraws(0), 3, 5);
    population.setCandidates(plain(1, 2, 3, 2, 4));
    select(population, [0.5, 0.7, 0.1, 0.7, 0.6]);
    expect(firsts(population, 3)).toEqual([2, 4, 1]);
    population.setCandidates(plain(5, 6));
    select(population, [0.7, 0.2]);
    // Three sequences are kept, so the fourth is the first again.
    expect(firsts(population, 4)).toEqual([2, 5, 4, 2]);
    expect(population.best).toEqual({ score: 0.7, shortfall: 0, actions: plain(2)[0] });
  });

  it('ranks by score minus penalty times shortfall, but the best sequence has the smallest shortfall', () => {
    const population = new Population(new SearchDraws(0), 3, 3);
    population.setCandidates(plain(1, 2, 3));
    select(population, [0.2, 0.9, 0.9], [0, 0.1, 1]);
    expect(firsts(population, 3)).toEqual([2, 1, 3]);
    expect(population.best).toMatchObject({ score: 0.2, shortfall: 0 });
  });

  it.each([
    [0.1, 2 ** 10],
    [0, 2 ** -10],
  ])('with the shortfall %f in all sequences has the penalty %f in the end', (shortfall, expected) => {
    const population = new Population(new SearchDraws(0), 4, 4);
    for (let k = 0; k < 300; k++) {
      population.breed(4);
      select(population, [1, 2, 3, 4], Array(4).fill(shortfall));
    }
    expect(population.penalty).toBe(expected);
  });
});

it('a smaller shortfall is better, then a higher score', () => {
  const sequences = [
    { score: 0.1, shortfall: 0 },
    { score: 0.2, shortfall: 0 },
    { score: 0.9, shortfall: 0.1 },
    { score: 0.3, shortfall: 0.05 },
  ];
  const ranked = [...sequences].sort((a, b) => Number(isBetter(b, a)) - Number(isBetter(a, b)));
  expect(ranked.map(({ score }) => score)).toEqual([0.2, 0.1, 0.3, 0.9]);
});

describe('a search plan', () => {
  it('scores at least the requested number of sequences, and few more', () => {
    forAll(200, (random) => {
      const evaluations = Math.floor(10 ** random.real(3, 7));
      const starts = random.pick([1, 8, 31, 32, 1000]);
      const problems = Array(random.pick([1, 2, 100])).fill({ seeds: spreadSeeds(starts) });
      const plan = searchPlanOf(toSearchRequest(problems, { evaluations }));
      const spent = evaluationsOf(plan);
      expect(spent).toBeGreaterThanOrEqual(evaluations);
      // The bound is chosen by hand. The plan (search-budget.ts) rounds the number of generations of each phase up.
      expect(spent).toBeLessThan(1.1 * evaluations + 300);
      // Groups of 16 episodes (scorer.ts), and MIN_STARTS starting states of an island (search-budget.ts).
      expect(plan.offspring % 16).toBe(0);
      expect(Math.ceil(starts / plan.stride)).toBeGreaterThanOrEqual(Math.min(starts, 8));
    });
  });
});

describe('a scorer gives the score and shortfall of each action sequence played alone', () => {
  /** Scores random action sequences. Returns the trials, and the problems with only the starts that were played. */
  function scoreRandomly(
    random: Random,
    problems: number,
    starts: number,
    sequences: number,
    stride: number,
  ) {
    const seeds = () => random.seeds(starts);
    const chosen = Array.from({ length: problems }, () => ({
      seeds: seeds(),
      profile: profileOf(random.integer(0, 99)),
    }));
    const request = toSearchRequest(chosen, { minFirstHalfMean: 0.2 });
    using scorer = runSync(Scorer.open(request, openSyncBatch, { maxSequences: sequences }));
    const trials = chosen.map((_, problem) => trialOf(problem, anySequences(random, sequences)));
    let played = 0;
    runSync(
      scorer.score(trials, spacedStarts(starts, stride), {
        onPlayed: (count) => {
          played += count;
        },
      }),
    );
    expect(played).toBe(problems * sequences);
    const playedProblems = chosen.map(({ seeds, profile }) => ({
      seeds: seeds.filter((_, i) => i % stride === 0),
      profile,
    }));
    return { trials, playedProblems };
  }

  // `wide` and `long` have more episodes than a call may have. In `long` a call has 16 episodes for each start, more than
  // MAX_EPISODES (scorer.ts). Without the addon only the reference runs, which is slow, so the cases are small.
  const wide = ENGINES.length > 1 ? [20, 40, 100, 1] : [2, 4, 10, 1];
  const long = ENGINES.length > 1 ? [2, 4500, 21, 1] : [2, 45, 21, 1];
  it.each([[1, 1, 1, 1], [3, 10, 5, 3], [2, 8, 32, 1], wide, long])(
    'for %i problems with %i starts, %i action sequences on every %i-th start',
    (problems, starts, sequences, stride) => {
      forAll(1, (random) => {
        const { trials, playedProblems } = scoreRandomly(random, problems, starts, sequences, stride);
        for (const k of [0, problems - 1]) {
          for (const i of new Set([0, Math.floor(sequences / 2), sequences - 1])) {
            const { score, firstHalfMean } = playProblem(rowOf(trials[k].sequences, i), playedProblems[k]);
            expect(trials[k].scores[i]).toBe(score);
            expect(trials[k].shortfalls[i]).toBe(Math.max(0, 0.2 - firstHalfMean));
          }
        }
      });
    },
  );
});

it('a scorer on batches whose calls return promises has the scores of the reference', () =>
  expectSameScores(openStandIn));

it('training seeds are spread over the training range', () => {
  const { first, last } = TRAINING_SEEDS;
  expect([first, last]).toEqual([100, 9999]);
  expect(Array.from(spreadSeeds(3))).toEqual([100, 3400, 6700]);
  expect(Array.from(spreadSeeds(4, { first: 7, last: 8 }))).toEqual([7, 7, 8, 8]);
  expect(new Set(spreadSeeds(last - first + 1)).size).toBe(last - first + 1);
});
