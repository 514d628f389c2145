/** How much of a run one submission takes. */
import { describe, expect, it } from 'vitest';
import { Pace } from '../src/backends/webgpu/pace.js';

/** The sizes of a run's submissions on a device that takes so long for each, and for each of its slots. */
function sizes(pace: Pace, run: number, msEach: number, msOfSlot: number): number[] {
  const taken: number[] = [];
  for (let left = run; left > 0; ) {
    const { slots, measure } = pace.next(left);
    if (measure) pace.took(slots, msEach + slots * msOfSlot);
    taken.push(slots);
    left -= slots;
  }
  return taken;
}

describe('pace', () => {
  it('grows until a submission takes half of what it may, and no longer', () => {
    const pace = new Pace(100);
    const all = sizes(pace, 2 ** 22, 0.1, 1e-3);
    expect(all[0]).toBeLessThan(all[1]);
    expect(all.slice(1).every((slots) => slots * 1e-3 <= 50)).toBe(true);
    expect(all.length).toBeLessThan(100);
  });

  it('is not slowed by what a submission takes of itself: another run has as many of them', () => {
    const pace = new Pace(1);
    // As long as it may take: as if the work were twice too much, however little it is.
    const submissions = [1, 2, 3].map(() => sizes(pace, 30_000, 1, 1e-4).length);
    expect(Math.max(...submissions)).toBeLessThanOrEqual(30_000 / 64 + 1);
  });
});
