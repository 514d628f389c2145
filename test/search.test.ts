/** The search for tapes: what it finds, and that nothing but its problems and options decides that. */
import { describe, expect, it } from 'vitest';
import {
  type FoundTape,
  RHYTHM,
  searchTape,
  searchTapes,
  type TapeSearchOptions,
  type WorldSpec,
} from '../src/index.js';
import { spreadSeeds } from '../src/search/seeds.js';
import { ACTION_NAMES, NUM_STEPS } from '../src/world/fields.js';
import { ENGINES, type Engine, nameAbsent } from './support/engines.js';
import { personOf, playProblem } from './support/tapes.js';

nameAbsent();

/** A thousand tapes of eight weeks: the reference plays them within a tenth of a second. */
const seeds = spreadSeeds(8);
const on = ({ backend, kernel }: Engine): TapeSearchOptions => ({ backend, kernel, evaluations: 1000 });

/** A world in which in each slot one action moves progress more than all others, and nothing else happens. */
function plantedWorld(): WorldSpec {
  const world = structuredClone(RHYTHM) as WorldSpec;
  const chosen = PLANTED.map((name) => world.actions.find((action) => action.name === name)!);
  const none = world.meters.map(() => 0);
  for (const action of world.actions) action.effect = chosen.includes(action) ? [0, 0, 0.01, 0, 0] : none;
  world.timeOfDay = chosen.map(({ category }) =>
    world.categories.map((each) => (each === category ? 1 : 0.5)),
  );
  world.decay = none;
  world.stress = none;
  world.noise.meters = none;
  world.constants.eventThreshold = 0;
  return world;
}
const PLANTED = ['meditate', 'learn', 'family_time', 'binge_watch'];
/** Whom everything moves as it moves anybody. */
const NEUTRAL = [...RHYTHM.traits.map(({ neutral }) => neutral), ...RHYTHM.meters.map(() => 0.2)];

describe.each(ENGINES)('$name', (engine) => {
  it('finds the only best tape of a world where that is known', async () => {
    const options = { ...on(engine), evaluations: 20_000, grader: [0, 1, 0, 0, 0, 0] };
    const found = await searchTape({ seeds: [0], profile: NEUTRAL }, { ...options, world: plantedWorld() });
    const names = Array.from(found.tape, (action) => ACTION_NAMES[action]);
    expect(names).toEqual(Array.from({ length: NUM_STEPS }, (_, t) => PLANTED[t % PLANTED.length]));
    expect(found.score).toBeCloseTo(0.7 + NUM_STEPS * 0.01, 5);
  });

  it('finds what the reference finds', async () => {
    const problems = [{ seeds }, { seeds, profile: personOf(20_000) }];
    const options = { leastEarlyMean: 0, imagination: true };
    const found = await searchTapes(problems, { ...options, ...on(engine) });
    expect(found).toEqual(await searchTapes(problems, { ...options, ...on(ENGINES[0]) }));
  });
});

/** On the fastest that there is. */
const small = on(ENGINES[1] ?? ENGINES[0]);

it('is a function of its seed', async () => {
  const found = await searchTape({ seeds }, { ...small, seed: 1 });
  expect(await searchTape({ seeds }, { ...small, seed: 1 })).toEqual(found);
  expect((await searchTape({ seeds }, { ...small, seed: 2 })).tape).not.toEqual(found.tape);
});

it('does not depend on threads', async () => {
  const problems = [1, 2, 3].map((seed) => ({ seeds: spreadSeeds(64), profile: personOf(seed) }));
  const options = { ...small, evaluations: 4000 };
  const found = await searchTapes(problems, { ...options, threads: 1 });
  for (const threads of [2, 3, 8]) {
    expect(await searchTapes(problems, { ...options, threads })).toEqual(found);
  }
});

it('says what its tapes come to in training', async () => {
  const problems = [{ seeds }, { seeds, profile: 'discrete' }, { seeds, profile: personOf(7) }];
  const found = await searchTapes(problems, { ...small, grader: 'v1', leastEarlyMean: 0.1 });
  found.forEach(({ tape, score, shortfall, evaluations }, k) => {
    const played = playProblem(tape, problems[k], { grader: 'v1' });
    expect([score, shortfall]).toEqual([played.score, Math.max(0, 0.1 - played.earlyMean)]);
    expect(evaluations).toBeGreaterThanOrEqual(1000);
  });
});

describe('a mean of early means that is asked for', () => {
  const options = { ...small, evaluations: 8000 };

  it('is reached, at its price', async () => {
    const { earlyMean: leastEarlyMean, score } = playProblem('heuristic', { seeds });
    const found = await searchTape({ seeds }, { ...options, leastEarlyMean });
    expect(found.shortfall).toBe(0);
    expect(playProblem(found.tape, { seeds }).earlyMean).toBeGreaterThanOrEqual(leastEarlyMean);
    expect(found.score).toBeGreaterThan(score);
    const free = await searchTape({ seeds }, options);
    expect(playProblem(free.tape, { seeds }).earlyMean).toBeLessThan(leastEarlyMean);
    expect(found.score).toBeLessThan(free.score);
  });

  it('is come near to where no tape reaches it', async () => {
    const found = await searchTape({ seeds }, { ...options, leastEarlyMean: 5 });
    const { earlyMean } = playProblem(found.tape, { seeds });
    expect(found.shortfall).toBe(5 - earlyMean);
    expect(earlyMean).toBeGreaterThan(playProblem('heuristic', { seeds }).earlyMean);
  });
});

it('finds nothing worse than the tapes that it is given', async () => {
  const { tape, score } = await searchTape({ seeds }, { ...small, evaluations: 30_000 });
  expect((await searchTape({ seeds }, small)).score).toBeLessThan(score);
  const initialTapes = [...new Uint8Array(NUM_STEPS), ...tape];
  expect((await searchTape({ seeds }, { ...small, initialTapes })).score).toBeGreaterThanOrEqual(score);
});

it('learns from one problem for another', async () => {
  const problems = Array.from({ length: 24 }, (_, k) => ({ seeds, profile: personOf(20_000 + k) }));
  const alone = await Promise.all(problems.map((problem) => searchTape(problem, small)));
  const together = await searchTapes(problems, small);
  const total = (found: readonly FoundTape[]) => found.reduce((sum, { score }) => sum + score, 0);
  expect(total(together)).toBeGreaterThan(total(alone));
});

it('suits the person: in other weeks too, a tape for one is better than a tape for all', async () => {
  const profile = personOf(20_003);
  const options = { ...small, evaluations: 8000 };
  const one = await searchTape({ seeds: spreadSeeds(16), profile }, options);
  const all = await searchTape({ seeds: spreadSeeds(64) }, options);
  const fresh = { seeds: Array.from({ length: 200 }, (_, k) => 30_000 + k), profile };
  expect(playProblem(one.tape, fresh).score).toBeGreaterThan(playProblem(all.tape, fresh).score);
});

it('shows what a grader that pays for a change alone pays for: neglect first', async () => {
  const grader = [0, 0, 0, 1, 0, 0];
  const found = await searchTape({ seeds }, { ...small, evaluations: 8000, grader });
  const heuristic = playProblem('heuristic', { seeds }, { grader });
  expect(found.score).toBeGreaterThan(heuristic.score + 0.4);
  expect(playProblem(found.tape, { seeds }).earlyMean).toBeLessThan(heuristic.earlyMean - 0.2);
});
