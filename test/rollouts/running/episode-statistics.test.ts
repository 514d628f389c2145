/** Statistics of the last episodes, on numbers worked by hand and on environments. */
import { describe, expect, it } from 'vitest';
import { createVecEnv, EpisodeStatistics } from '../../../src/index.js';
import { expectRefusal } from '../../support/refusals.js';

const ENV = { numEnvs: 2, metadata: { autoresetMode: 'same-step' } } as const;

/** A clock that the test sets, in milliseconds. */
function clock() {
  const time = { ms: 0, now: () => time.ms };
  return time;
}

describe('EpisodeStatistics', () => {
  it('sums rewards, counts steps and takes the time of each episode', () => {
    const time = clock();
    const statistics = new EpisodeStatistics(ENV, { now: time.now });
    time.ms = 500;
    expect(statistics.add({ rewards: [1, 2], terminated: [0, 0] })).toEqual([]);
    time.ms = 2000;
    expect(statistics.add({ rewards: [0.5, 4], terminated: [0, 1] })).toEqual([
      { env: 1, return: 6, length: 2, seconds: 2 },
    ]);
    time.ms = 2500;
    const ended = statistics.add({ rewards: [-1, 8], terminated: [1, 1] });
    expect(ended).toEqual([
      { env: 0, return: 0.5, length: 3, seconds: 2.5 },
      { env: 1, return: 8, length: 1, seconds: 0.5 },
    ]);
    expect([...statistics.returns]).toEqual([6, 0.5, 8]);
    expect([...statistics.lengths]).toEqual([2, 3, 1]);
    expect([...statistics.seconds]).toEqual([2, 2.5, 0.5]);
    expect(statistics.count).toBe(3);
  });

  it('keeps the last episodes', () => {
    const statistics = new EpisodeStatistics(ENV, { last: 3, now: () => 0 });
    for (let k = 0; k < 10; k++) statistics.add({ rewards: [k, 100 + k], terminated: [1, 0] });
    expect([...statistics.returns]).toEqual([7, 8, 9]);
    expect(statistics.count).toBe(10);
  });

  it('begins again at 0 on reset, and leaves out environments outside the mask', () => {
    const statistics = new EpisodeStatistics(ENV, { now: () => 0 });
    statistics.add({ rewards: [5, 5], terminated: [0, 0] });
    statistics.reset([true, false]);
    statistics.add({ rewards: [1, 1], terminated: [0, 1] }, [1, 0]);
    const ended = statistics.add({ rewards: [1, 1], terminated: [1, 1] });
    expect(ended.map((episode) => [episode.return, episode.length])).toEqual([
      [2, 2],
      [6, 2],
    ]);
    statistics.add({ rewards: [9, 9], terminated: [0, 0] });
    statistics.reset();
    expect(statistics.add({ rewards: [1, 2], terminated: [1, 1] }).map((episode) => episode.return)).toEqual([
      1, 2,
    ]);
  });

  it.each(['disabled', 'same-step', 'next-step'] as const)(
    'sums the rewards of an environment with autoreset %s',
    (autoreset) => {
      using env = createVecEnv({ numEnvs: 3, autoreset });
      env.reset({ seed: 9 });
      const statistics = new EpisodeStatistics(env);
      const sums = [0, 0, 0];
      for (let t = 0; t < 28; t++) {
        const result = env.step(env.actionSpace.sample(t, 3));
        statistics.add(result);
        for (let i = 0; i < 3; i++) sums[i] += result.rewards[i];
      }
      expect([...statistics.returns]).toEqual(sums);
      expect([...statistics.lengths]).toEqual([28, 28, 28]);
      if (autoreset === 'disabled') return;
      // 29 steps: with next-step, the first only resets, and the other 28 are an episode.
      for (let t = 0; t < 29; t++) statistics.add(env.step(env.actionSpace.sample(t, 3)));
      expect([...statistics.lengths]).toEqual([28, 28, 28, 28, 28, 28]);
    },
  );

  it('refuses invalid arguments', () => {
    expectRefusal(() => new EpisodeStatistics(ENV, { last: 0 }), 'out_of_range', 'last');
    expectRefusal(() => new EpisodeStatistics(ENV, { now: 5 as never }), 'wrong_type', 'now');
    expectRefusal(() => new EpisodeStatistics({} as never), 'wrong_type', 'numEnvs');
    const statistics = new EpisodeStatistics(ENV);
    expectRefusal(() => statistics.add({ rewards: [1], terminated: [0, 0] }), 'wrong_length', 'rewards');
  });
});
