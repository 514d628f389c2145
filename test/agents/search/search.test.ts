/** The results of searches for action sequences, their arguments, progress and cancellation. */
import { describe, expect, it } from 'vitest';
import {
  type ActionSequenceSearchOptions,
  type ErrorCode,
  RHYTHM,
  searchActionSequence,
  searchActionSequences,
  type WorldSpec,
} from '../../../src/index.js';
import { spreadSeeds } from '../../../src/world/conditions.js';
import { ACTION_NAMES, NUM_STEPS } from '../../../src/world/fields.js';
import { playProblem, profileOf } from '../../support/action-sequences.js';
import { ENGINES, type Engine, reportAbsentEngines, TWO_ENGINES } from '../../support/engines.js';
import { expectRejection } from '../../support/refusals.js';

reportAbsentEngines();

/** The seeds of small searches: each action sequence plays eight episodes. */
const seeds = spreadSeeds(8);
/** Returns the options of small searches on an engine. */
const on = ({ backend, kernel }: Engine): ActionSequenceSearchOptions => ({
  backend,
  kernel,
  evaluations: 1000,
});

/** Returns a world with a known best sequence: in each slot, one action of PLANTED raises progress most. */
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
/** The neutral traits, with equal reward weights. */
const NEUTRAL = [...RHYTHM.traits.map(({ neutral }) => neutral), ...RHYTHM.meters.map(() => 0.2)];

describe.each(TWO_ENGINES)('a search on $name', (engine) => {
  it('finds the best action sequence of a world whose best sequence is known', async () => {
    // The grader weighs only progress.
    const options = { ...on(engine), evaluations: 12_000, grader: [0, 1, 0, 0, 0, 0, 0, 0] };
    const found = await searchActionSequence(
      { seeds: [0], profile: NEUTRAL },
      { ...options, world: plantedWorld() },
    );
    const names = Array.from(found.actions, (action) => ACTION_NAMES[action]);
    expect(names).toEqual(Array.from({ length: NUM_STEPS }, (_, t) => PLANTED[t % PLANTED.length]));
    expect(found.score).toBeCloseTo(0.7 + NUM_STEPS * 0.01, 5);
  });
});

// The stored sequences, one digit for each action, change only with the search.
it('a search finds the stored sequences, on the reference and on the fastest kernel', async () => {
  const problems = [{ seeds }, { seeds, profile: profileOf(20_000) }];
  const options = { minFirstHalfMean: 0, imagination: true };
  const [expected, ...others] = await Promise.all(
    TWO_ENGINES.map((engine) => searchActionSequences(problems, { ...options, ...on(engine) })),
  );
  expect(expected.map(({ actions }) => actions.join(''))).toEqual([
    '8033408431580365626643667063',
    '2340345801447735766533660060',
  ]);
  for (const found of others) expect(found).toEqual(expected);
});

/** Options of small searches on the fastest available engine. */
const small = on(ENGINES[1] ?? ENGINES[0]);

it('the result of a search depends on its seed', async () => {
  const found = await searchActionSequence({ seeds }, { ...small, seed: 1 });
  expect(await searchActionSequence({ seeds }, { ...small, seed: 1 })).toEqual(found);
  expect((await searchActionSequence({ seeds }, { ...small, seed: 2 })).actions).not.toEqual(found.actions);
});

// WebAssembly has one thread.
it.skipIf(small.backend === 'wasm')(
  'the result of a search does not depend on the number of threads of the addon',
  async () => {
    const problems = [1, 2, 3].map((seed) => ({ seeds: spreadSeeds(64), profile: profileOf(seed) }));
    const options = { ...small, evaluations: 4000 };
    const found = await searchActionSequences(problems, { ...options, threads: 1 });
    for (const threads of [2, 3, 8]) {
      expect(await searchActionSequences(problems, { ...options, threads })).toEqual(found);
    }
  },
);

it('a search returns the training score and the shortfall of each action sequence', async () => {
  const problems = [{ seeds }, { seeds, profile: 'discrete' }, { seeds, profile: profileOf(7) }];
  const found = await searchActionSequences(problems, { ...small, grader: 'v1', minFirstHalfMean: 0.1 });
  found.forEach(({ actions, score, shortfall, evaluations }, k) => {
    const played = playProblem(actions, problems[k], { grader: 'v1' });
    expect([score, shortfall]).toEqual([played.score, Math.max(0, 0.1 - played.firstHalfMean)]);
    expect(evaluations).toBeGreaterThanOrEqual(1000);
  });
});

it('a lower bound of the first-half mean is met, at the cost of a lower score', async () => {
  const options = { ...small, evaluations: 8000 };
  const { firstHalfMean: minFirstHalfMean, score } = playProblem('heuristic', { seeds });
  const found = await searchActionSequence({ seeds }, { ...options, minFirstHalfMean });
  expect(found.shortfall).toBe(0);
  expect(playProblem(found.actions, { seeds }).firstHalfMean).toBeGreaterThanOrEqual(minFirstHalfMean);
  expect(found.score).toBeGreaterThan(score);
  const free = await searchActionSequence({ seeds }, options);
  expect(playProblem(free.actions, { seeds }).firstHalfMean).toBeLessThan(minFirstHalfMean);
  expect(found.score).toBeLessThan(free.score);
});

it('a search finds a sequence at least as good as the initial sequences', async () => {
  const { actions, score } = await searchActionSequence({ seeds }, { ...small, evaluations: 30_000 });
  expect((await searchActionSequence({ seeds }, small)).score).toBeLessThan(score);
  const initialSequences = [...new Uint8Array(NUM_STEPS), ...actions];
  expect(
    (await searchActionSequence({ seeds }, { ...small, initialSequences })).score,
  ).toBeGreaterThanOrEqual(score);
});

const sequence = new Uint8Array(28);
// biome-ignore lint/suspicious/noExplicitAny: cases pass values of any type
type Any = any;

it.each<[problems: unknown, code: ErrorCode, ...mentions: string[]]>([
  [{ seeds }, 'wrong_type', 'problems'],
  [[], 'wrong_length', 'at least one problem'],
  [[[1, 2, 3]], 'wrong_type', 'problems[0]'],
  [[null], 'wrong_type', 'problems[0]'],
  [[{ seeds, profiles: 'sampled' }], 'unknown_option', 'problems[0]', '"profile"'],
  [[{}], 'wrong_type', 'problems[0].seeds'],
  [[{ seeds: 3 }], 'wrong_type', 'problems[0].seeds'],
  [[{ seeds: [] }], 'out_of_range', 'seeds of all problems'],
  [[{ seeds: [1, -1] }], 'bad_seed', 'problems[0].seeds[1]'],
  [[{ seeds }, { seeds: [1] }], 'wrong_length', '8 seeds in problems[1]'],
  [[{ seeds, profile: 'nobody' }], 'unknown_name', 'profile'],
  [[{ seeds }, { seeds, profile: [1, 2] }], 'bad_profile', '16 floats'],
  [[{ seeds, profile: 5 }], 'wrong_type', 'problems[0].profile'],
])('searchActionSequences refuses the problems %j', async (problems, code, ...mentions) => {
  await expectRejection(searchActionSequences(problems as Any), code, ...mentions);
});

it.each<[options: unknown, code: ErrorCode, ...mentions: string[]]>([
  [null, 'wrong_type', 'search options'],
  [{ graders: 'v1' }, 'unknown_option', '"grader"'],
  [{ grader: 'v4' }, 'unknown_name', 'grader'],
  [{ minFirstHalfMean: '0' }, 'wrong_type', 'minFirstHalfMean'],
  [{ minFirstHalfMean: Number.NaN }, 'out_of_range', 'minFirstHalfMean'],
  [{ evaluations: 999 }, 'out_of_range', 'evaluations', '1000'],
  [{ initialSequences: [1, 2, 3] }, 'wrong_length', '28 actions'],
  [{ initialSequences: sequence.map((_, t) => (t === 3 ? 10 : 0)) }, 'illegal_action', 'initialSequences[3]'],
  [{ initialSequences: 'sleep' }, 'wrong_type', 'initialSequences'],
  [{ seed: 2 ** 32 }, 'out_of_range', 'seed'],
  [{ imagination: 1 }, 'wrong_type', 'imagination'],
  [{ world: { ...RHYTHM, decay: 1 } }, 'bad_world', 'decay'],
  [{ backend: 'gpu' }, 'unknown_name', 'backend'],
  [{ backend: 'reference', kernel: 'avx2' }, 'unknown_name', 'kernel'],
  [{ threads: 0 }, 'out_of_range', 'threads'],
  [{ onProgress: 1 }, 'wrong_type', 'onProgress'],
  [{ signal: {} }, 'wrong_type', 'signal'],
])('searchActionSequence refuses the options %j', async (options, code, ...mentions) => {
  await expectRejection(searchActionSequence({ seeds }, options as Any), code, ...mentions);
});

describe('a search', () => {
  it('reports progress up to the total', async () => {
    const calls: [number, number][] = [];
    const onProgress = (done: number, total: number) => calls.push([done, total]);
    const [{ evaluations }] = await searchActionSequences([{ seeds }, { seeds }], {
      evaluations: 1000,
      onProgress,
    });
    const done = calls.map(([count]) => count);
    expect(done).toEqual([...new Set(done)].sort((a, b) => a - b));
    expect(done.length).toBeGreaterThan(10);
    expect(new Set(calls.map(([, total]) => total))).toEqual(new Set([2 * evaluations]));
    expect(done.at(-1)).toBe(2 * evaluations);
  });

  it('rejects with the reason of its signal', async () => {
    const reason = new Error('enough');
    const before = AbortSignal.abort(reason);
    await expect(searchActionSequence({ seeds }, { signal: before })).rejects.toBe(reason);
    const abort = new AbortController();
    const onProgress = (done: number) => done > 100 && abort.abort(reason);
    await expect(searchActionSequence({ seeds }, { signal: abort.signal, onProgress })).rejects.toBe(reason);
    const timer = new AbortController();
    setTimeout(() => timer.abort(reason), 0);
    await expect(searchActionSequence({ seeds }, { signal: timer.signal })).rejects.toBe(reason);
  });

  it('rejects with the error that onProgress throws', async () => {
    const reason = new Error('no');
    const onProgress = () => {
      throw reason;
    };
    await expect(searchActionSequence({ seeds }, { onProgress })).rejects.toBe(reason);
  });

  it('ignores later changes of its arguments', async () => {
    const problem = { seeds: Uint32Array.from(seeds), profile: new Float32Array(16).fill(0.5) };
    const initialSequences = sequence.slice();
    const result = searchActionSequence(problem, { evaluations: 1000, initialSequences });
    problem.seeds.fill(0);
    problem.profile.fill(9);
    initialSequences.fill(9);
    const profile = new Float32Array(16).fill(0.5);
    expect(await result).toEqual(
      await searchActionSequence({ seeds, profile }, { evaluations: 1000, initialSequences: sequence }),
    );
  });
});
