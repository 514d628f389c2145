/** Tests the data that figures compute from trajectories: percentiles, step rewards, most common actions. */
import { describe, expect, it } from 'vitest';
import { Episode } from '../../src/engine/reference/episode.js';
import { bandsOf, commonActionsOf, PERCENTILES, stepRewardsOf } from '../../src/figures/episode-means.js';
import { NUM_METERS, NUM_STEPS } from '../../src/world/fields.js';
import { NUM_ENVS, playedRun } from '../support/pictures.js';

describe('bandsOf', () => {
  const width = NUM_STEPS * NUM_METERS;
  /** Returns the meters of n episodes, in which only the given meter of the given step differs. */
  const metersOf = (values: readonly number[], step: number, meter: number): Float32Array => {
    const meters = new Float32Array(values.length * width);
    values.forEach((value, i) => {
      meters[i * width + step * NUM_METERS + meter] = value;
    });
    return meters;
  };
  const column = (values: Float64Array, step: number, meter: number): number[] =>
    PERCENTILES.map((_, p) => values[(p * NUM_STEPS + step) * NUM_METERS + meter]);

  it('interpolates between the values of episodes, whatever their order', () => {
    const { episodes, values } = bandsOf(metersOf([1, 0.25, 0, 0.75, 0.5], 27, 4));
    expect(episodes).toBe(5);
    const expected = [0.1, 0.25, 0.5, 0.75, 0.9];
    column(values, 27, 4).forEach((value, p) => void expect(value).toBeCloseTo(expected[p], 12));
    expect(column(values, 26, 4)).toEqual([0, 0, 0, 0, 0]);
    expect(column(values, 27, 3)).toEqual([0, 0, 0, 0, 0]);
  });

  it('returns the values of a single episode as every percentile', () => {
    const { values } = bandsOf(metersOf([0.625], 3, 1));
    expect(column(values, 3, 1)).toEqual(PERCENTILES.map(() => 0.625));
  });

  // An episode has 28 x 5 = 140 meters.
  it.each([0, 139, 141])('refuses %i numbers', (length) => {
    expect(() => bandsOf(new Float32Array(length))).toThrow(/meters \(1 x 28 x 5\), got/);
  });
});

describe('stepRewardsOf', () => {
  const run = playedRun('heuristic');

  it("returns the grade's means of the first and the second half", () => {
    const { steps, firstHalf, secondHalf } = stepRewardsOf(run);
    const expected = { early: 0, late: 0 };
    for (let i = 0; i < NUM_ENVS; i++) {
      const episode = new Episode().reset(run.seeds[i]);
      for (let step = 0; step < NUM_STEPS; step++) episode.step(run.actions[i * NUM_STEPS + step]);
      expected.early += episode.early / 14 / NUM_ENVS;
      expected.late += episode.late / 14 / NUM_ENVS;
    }
    expect(firstHalf).toBeCloseTo(expected.early, 5);
    expect(secondHalf).toBeCloseTo(expected.late, 5);
    const sum = Array.from(steps).reduce((total, reward) => total + reward, 0);
    expect(sum).toBeCloseTo(14 * (expected.early + expected.late), 4);
  });

  it('refuses arrays of different numbers of episodes', () => {
    expect(() => stepRewardsOf({ ...run, seeds: [1] })).toThrow(/Expected 28 rewards \(1 x 28\), got 560/);
    expect(() => stepRewardsOf({ ...run, finalScores: new Float32Array(3) })).toThrow(/20 final scores/);
  });
});

describe('commonActionsOf', () => {
  it('returns the most common action of each step, and of equally common actions the lowest code', () => {
    const actions = [1, 7, 7, 2, 2].flatMap((action) => new Array<number>(NUM_STEPS).fill(action));
    expect(commonActionsOf(actions)).toEqual(new Uint8Array(NUM_STEPS).fill(2));
    // Two of the five episodes begin with action 9, and two with action 2.
    actions[0] = 9;
    actions[NUM_STEPS] = 9;
    expect(commonActionsOf(actions)[0]).toBe(2);
    actions[2 * NUM_STEPS] = 9;
    expect(commonActionsOf(actions)[0]).toBe(9);
  });

  it('refuses an incomplete episode', () => {
    expect(() => commonActionsOf(new Uint8Array(42))).toThrow(/Expected 28 actions \(1 x 28\), got 42/);
  });
});
