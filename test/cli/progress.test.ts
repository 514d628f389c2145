/** The progress bar of commands. */
import { describe, expect, it } from 'vitest';
import { createProgress } from '../../src/cli/progress.js';

describe('progress', () => {
  /** A fake terminal or file that records what is written. */
  function stream(isTTY: boolean) {
    const written: string[] = [];
    const write = (text: string) => written.push(text);
    return { written, target: { isTTY, write, columns: 80 } as unknown as NodeJS.WriteStream };
  }
  /** Updates a bar at the given times in milliseconds. Returns the output. */
  function renderedAt(isTTY: boolean, times: number[], total: number): string {
    const { written, target } = stream(isTTY);
    const clock = [0, ...times];
    const progress = createProgress('episodes', target, () => clock.shift()!);
    for (const _ of times) progress.update(0, total);
    progress.stop();
    return written.join('');
  }

  it('appears on a terminal if the work is long', () => {
    expect(renderedAt(true, [10], 2e6)).toContain('of 2000000 episodes');
    expect(renderedAt(true, [10, 1001], 500)).toContain('of 500 episodes');
  });

  it('is silent for short work and without a terminal', () => {
    expect(renderedAt(true, [10, 999], 500)).toBe('');
    expect(renderedAt(false, [10, 5000], 2e6)).toBe('');
  });
});
