/** The number of environments that one submission of a run takes. */
import { describe, expect, it } from 'vitest';
import { SubmissionSize } from '../../../../src/engine/backends/webgpu/submission-size.js';

/** The sizes of a run's submissions on a device that takes so long for each, and for each of its environments. */
function sizes(pace: SubmissionSize, run: number, msEach: number, msOfEnv: number): number[] {
  const taken: number[] = [];
  for (let left = run; left > 0; ) {
    const { envs, measure } = pace.next(left);
    if (measure) pace.record(envs, msEach + envs * msOfEnv);
    taken.push(envs);
    left -= envs;
  }
  return taken;
}

describe('pace', () => {
  it('grows until a submission takes half of what it may, and no longer', () => {
    const pace = new SubmissionSize(100);
    const all = sizes(pace, 2 ** 22, 0.1, 1e-3);
    expect(all[0]).toBeLessThan(all[1]);
    expect(all.slice(1).every((envs) => envs * 1e-3 <= 50)).toBe(true);
    expect(all.length).toBeLessThan(100);
  });

  it('is not slowed by what a submission takes of itself: another run has as many of them', () => {
    const pace = new SubmissionSize(1);
    // As long as it may take: as if the work were twice too much, however little it is.
    const submissions = [1, 2, 3].map(() => sizes(pace, 30_000, 1, 1e-4).length);
    expect(Math.max(...submissions)).toBeLessThanOrEqual(30_000 / 64 + 1);
  });
});
