/** Computations that run synchronously and asynchronously: their results and errors. */
import { describe, expect, it } from 'vitest';
import { type EngineCalls, resultOf, runAsync, runSync } from '../../src/engine/engine-calls.js';

const refuse = (): never => {
  throw new Error('refused');
};

/** Returns the sum of the results of calls. Records the error of a call, and the end, in `notes`. */
function* sumOf(calls: (() => number | Promise<number>)[], notes: string[]): EngineCalls<number> {
  let sum = 0;
  try {
    for (const call of calls) sum += yield* resultOf(call());
    return sum;
  } catch (error) {
    notes.push((error as Error).message);
    throw error;
  } finally {
    notes.push('ended');
  }
}

describe('a computation', () => {
  it('gets the results of its calls from runSync and from runAsync', async () => {
    const notes: string[] = [];
    expect(runSync(sumOf([() => 1, () => 2], notes))).toBe(3);
    expect(await runAsync(sumOf([() => 1, async () => 2], notes))).toBe(3);
    expect(notes).toEqual(['ended', 'ended']);
  });

  it('throws the error of a call at the place of the call', async () => {
    const notes: string[] = [];
    expect(() => runSync(sumOf([() => 1, refuse], notes))).toThrow('refused');
    await expect(runAsync(sumOf([async () => refuse(), () => 1], notes))).rejects.toThrow('refused');
    expect(notes).toEqual(['refused', 'ended', 'refused', 'ended']);
  });

  it('continues after an error that it catches', async () => {
    function* calls(): EngineCalls<string> {
      try {
        return yield* resultOf(Promise.reject(new Error('refused')));
      } catch {
        return yield* resultOf(Promise.resolve('caught'));
      }
    }
    expect(await runAsync(calls())).toBe('caught');
  });
});
