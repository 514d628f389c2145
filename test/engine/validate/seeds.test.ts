/** toSeeds draws missing seeds, one for each environment, from the range. */
import { afterEach, expect, it, vi } from 'vitest';
import { isWithin, toSeeds } from '../../../src/engine/validate/seeds.js';

afterEach(() => void vi.restoreAllMocks());

/** Makes the system's random generator return this number. @returns the number of draws of each call. */
function mockDraws(draw: number): number[] {
  const lengths: number[] = [];
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    const seeds = array as unknown as Uint32Array;
    lengths.push(seeds.length);
    seeds.fill(draw);
    return array;
  });
  return lengths;
}

it('all seeds are drawn, in calls of at most 16,384 seeds', () => {
  // getRandomValues fills at most 65,536 bytes.
  const lengths = mockDraws(7);
  const numEnvs = 2 * 16_384 + 5;
  expect(toSeeds(undefined, numEnvs)).toEqual(new Uint32Array(numEnvs).fill(7));
  expect(lengths).toEqual([16_384, 16_384, 5]);
});

it.each([
  [0, 100],
  [2 ** 31, 105],
  [2 ** 32 - 1, 109],
])('the draw %i becomes the seed %i in the range 100 to 109', (draw, seed) => {
  mockDraws(draw);
  const span = { low: 100, size: 10 };
  expect([...toSeeds(undefined, 1, 'seed', span)]).toEqual([seed]);
  expect([isWithin(seed, span), isWithin(99, span), isWithin(110, span)]).toEqual([true, false, false]);
});

it('without a range the draws are the seeds', () => {
  mockDraws(2 ** 32 - 1);
  expect([...toSeeds(undefined, 2)]).toEqual([2 ** 32 - 1, 2 ** 32 - 1]);
});
