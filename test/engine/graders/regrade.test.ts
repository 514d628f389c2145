/** `regrade` gives the final scores that episodes have under a grader, exact to the bit. */
import { describe, expect, it } from 'vitest';
import {
  createVecEnv,
  GRADER_NAMES,
  graderWeights,
  parseGrader,
  regrade,
  type VecEnv,
} from '../../../src/index.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';

const BELIEFS = [0.2, 0.9, 0.5];
const bits = (floats: Float32Array) =>
  new Uint32Array(floats.buffer, floats.byteOffset, floats.length).slice();

/** Returns graders, f32 [8] each: built-in, with one component, with scores outside [0, 1] before clamping, and random. */
function graders(): Float32Array[] {
  const random = new Random('graders');
  const single = Array.from({ length: 8 }, (_, k) =>
    Float32Array.from({ length: 8 }, (_, j) => Number(j === k)),
  );
  const drawn = Array.from({ length: 40 }, (_, k) =>
    graderWeights(k % 2 === 0 ? [...random.weights(6), 0, 0] : random.weights(8)),
  );
  const clamping = [
    [2, -1, 0, 0, 0, 0, 0, 0],
    [-3, 2, 2, 0, 0, 0, 0, 0],
    [0, 0, -1, 1, 1, 0, 0, 0],
    [1024, -1023, 0, 0, 0, 0, 0, 0],
  ];
  return [
    ...GRADER_NAMES.map((name) => graderWeights(name)),
    ...single,
    ...clamping.map(graderWeights),
    ...drawn,
  ];
}

/** Plays episodes of the random policy with a belief, under a grader. */
function play(env: VecEnv, weights: Float32Array) {
  env.reset({ seed: 900, graders: weights });
  return env.run('random', { beliefs: BELIEFS });
}

describe.each(TWO_ENGINES)('on $name', (engine) => {
  it.each(['row-major', 'column-major'] as const)(
    'regrade computes the scores of a run from %s components',
    (layout) => {
      const numEnvs = 77;
      using env = openOn(engine, { numEnvs, layout });
      const { components: view, columnStride } = play(env, graderWeights('v2'));
      const components = view.slice();
      const scores = new Set<number>();
      for (const weights of graders()) {
        const { finalScores } = play(env, weights);
        const regraded = regrade(components, weights, { columnStride, numEnvs });
        expect(bits(regraded)).toEqual(bits(finalScores));
        for (const score of regraded) scores.add(score);
      }
      // Some scores are clamped to 0, some to 1, and others differ.
      expect(scores.has(0) && scores.has(1)).toBe(true);
      expect(scores.size).toBeGreaterThan(1000);
    },
  );
});

it('regrade accepts a name, a grader or weights', () => {
  using env = createVecEnv({ numEnvs: 9 });
  const { components } = play(env, graderWeights('v1'));
  const custom = parseGrader('{"name": "half", "weights": {"progress": 0.5, "connection": 0.5}}');
  expect(regrade(components, custom)).toEqual(regrade(components, [0, 0.5, 0.5, 0, 0, 0, 0, 0]));
  // The episodes have ended under v1, so a further run only returns their scores.
  expect(regrade(components, 'v1')).toEqual(env.run('random').finalScores);
});

it('regrade returns 0 for unfinished episodes, as a run does', () => {
  using env = createVecEnv({ numEnvs: 4 });
  env.reset({ seed: 0 });
  const { components, finalScores } = env.run('heuristic', { stops: [28, 3, 28, 0] });
  expect(regrade(components, 'v2')).toEqual(finalScores);
});

it('regrade does not change the components, and returns an empty array for no episodes', () => {
  const components = Float32Array.from({ length: 16 }, (_, k) => k / 16);
  regrade(components, 'v1').fill(9);
  expect(components).toEqual(Float32Array.from({ length: 16 }, (_, k) => k / 16));
  expect(regrade(new Float32Array(), 'v2')).toEqual(new Float32Array());
});

describe('regrade refuses', () => {
  it.each([
    ['a plain array', [0, 0, 0, 0, 0, 0], 'wrong_type'],
    ['undefined', undefined, 'wrong_type'],
    ['a row and one number', new Float32Array(9), 'wrong_length'],
  ] as const)('%s', (_, components, code) => {
    expectRefusal(() => regrade(components as Float32Array, 'v2'), code, 'components');
  });

  it('rows of another number of episodes', () => {
    const regradeFour = () => regrade(new Float32Array(40), 'v2', { columnStride: 0, numEnvs: 4 });
    expectRefusal(regradeFour, 'wrong_length', '32 floats', 'got 40');
  });

  it.each([-0.1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('a component of %d', (value) => {
    const components = new Float32Array(16).fill(value, 10, 11);
    expectRefusal(() => regrade(components, 'v2'), 'out_of_range', 'connection of episode 1');
  });

  it('invalid columns and graders', () => {
    const columns = new Float32Array(8 * 16);
    const regradeWith = (columnStride: number, numEnvs: number) => () =>
      regrade(columns, 'v2', { columnStride, numEnvs });
    expect([regradeWith(16, 16)().length, regradeWith(16, 3)().length]).toEqual([16, 3]);
    expectRefusal(regradeWith(16, 17), 'out_of_range', 'numEnvs');
    for (const stride of [17, Number.NaN, -16]) {
      expectRefusal(regradeWith(stride, 3), 'out_of_range', 'columnStride');
    }
    expectRefusal(regradeWith(8, 3), 'wrong_length', 'columnStride x 8');
    expectRefusal(() => regrade(new Float32Array(8), 'v9'), 'unknown_name');
    expectRefusal(() => regrade(new Float32Array(8), [1, 1, 0, 0, 0, 0, 0, 0]), 'bad_grader');
  });
});
