/** The number of environments in the submissions of a run. */
import { describe, expect, it } from 'vitest';
import { SubmissionSize } from '../../../../src/engine/backends/webgpu/webgpu-batch.js';

/**
 * Returns the sizes of the submissions of a run of `total` environments. A submission takes `msEach` milliseconds, and
 * `msPerEnv` more for each environment.
 */
function sizes(size: SubmissionSize, total: number, msEach: number, msPerEnv: number): number[] {
  const submissions: number[] = [];
  for (let left = total; left > 0; ) {
    const { envs, measure } = size.next(left);
    if (measure) size.record(envs, msEach + envs * msPerEnv);
    submissions.push(envs);
    left -= envs;
  }
  return submissions;
}

describe('the size of submissions', () => {
  it('grows, but no submission takes more than about half of the maximum time', () => {
    const size = new SubmissionSize(100);
    const all = sizes(size, 2 ** 22, 0.1, 1e-3);
    expect(all[0]).toBeLessThan(all[1]);
    expect(all.slice(1).every((envs) => envs * 1e-3 <= 50)).toBe(true);
    expect(all.length).toBeLessThan(100);
  });

  it('does not fall below 64 environments if the overhead of a submission takes the maximum time', () => {
    const size = new SubmissionSize(1);
    const submissions = [1, 2, 3].map(() => sizes(size, 30_000, 1, 1e-4).length);
    expect(Math.max(...submissions)).toBeLessThanOrEqual(30_000 / 64 + 1);
  });
});
