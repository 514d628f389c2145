/** Tests of `actionSpace.sample`. */
import { describe, expect, it } from 'vitest';
import { ACTION_SPACE as actionSpace } from '../../../src/engine/vec-env/properties.js';
import { createVecEnv } from '../../../src/index.js';
import { expectRefusal } from '../../support/refusals.js';

describe('actionSpace.sample', () => {
  it('draws every code about equally often', () => {
    const counts = new Array<number>(actionSpace.n).fill(0);
    for (const code of actionSpace.sample(1, 20_000)) counts[code]++;
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(200);
  });

  it('depends only on the seed and the index', () => {
    expect(actionSpace.sample(5, 100)).toEqual(actionSpace.sample(5, 100));
    expect(actionSpace.sample(5, 10)).toEqual(actionSpace.sample(5, 100).slice(0, 10));
    expect(actionSpace.sample(6, 100)).not.toEqual(actionSpace.sample(5, 100));
    expect(actionSpace.sample(5)).toBe(actionSpace.sample(5, 1)[0]);
  });

  it('differs between seeds at the same index', () => {
    const codes = Array.from({ length: 200 }, (_, seed) => actionSpace.sample(seed));
    expect(new Set(codes).size).toBe(actionSpace.n);
  });

  it('gives actions that an environment accepts', () => {
    using env = createVecEnv({ numEnvs: 3 });
    env.reset({ seed: 1 });
    expect(() => env.step(env.actionSpace.sample(0, env.numEnvs))).not.toThrow();
    expect(actionSpace.sample(0, 0)).toEqual(new Uint8Array(0));
  });

  it.each([-1, 0.5, 2 ** 32])('refuses the seed %d', (seed) => {
    expectRefusal(() => actionSpace.sample(seed), 'out_of_range', 'seed');
  });

  it('refuses a missing seed, and a negative number of actions', () => {
    expectRefusal(() => actionSpace.sample(undefined as never), 'wrong_type', 'seed');
    expectRefusal(() => actionSpace.sample(1, -1), 'out_of_range', 'n to be');
  });
});
