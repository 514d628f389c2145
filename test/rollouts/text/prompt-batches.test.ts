/** Prompts in batches: the prompts of `prompts`, each batch made when it is requested. */
import { describe, expect, it } from 'vitest';
import { createVecEnv, promptBatches, prompts } from '../../../src/index.js';
import { ROW_SIZE } from '../../../src/rollouts/text/observation-row.js';
import { expectRefusal } from '../../support/refusals.js';

const N = 10;

function rowsOf(history: boolean) {
  const env = createVecEnv({ numEnvs: N, observation: { history } });
  env.reset({ seed: 300 });
  const { observations } = env.run('heuristic', { stops: Array.from({ length: N }, (_, i) => i) });
  return {
    observations: observations.slice(),
    histories: Array.from({ length: N }, (_, i) => env.history(i)),
  };
}

const raw = rowsOf(false);
const { observations: rows } = rowsOf(true);
const any = (value: unknown) => value as never;

describe('promptBatches', () => {
  it.each([
    [1, Array(N).fill(1)],
    [4, [4, 4, 2]],
    [5, [5, 5]],
    [N, [N]],
    [undefined, [N]],
  ])('makes the prompts of `prompts` in batches of %s', (size, lengths) => {
    for (const grader of ['v2', 'v3']) {
      const withHistory = [...promptBatches(rows, undefined, { size, grader })];
      expect(withHistory.map((batch) => batch.length)).toEqual(lengths);
      expect(withHistory.flat()).toEqual(prompts(rows, undefined, { grader }));
      const withPast = [...promptBatches(raw.observations, raw.histories, { size, grader })];
      expect(withPast).toEqual(withHistory);
    }
  });

  it('makes a batch when it is requested', () => {
    const changing = rows.slice();
    const batches = promptBatches(changing, undefined, { size: 5 });
    const first = batches.next().value;
    changing.copyWithin(5 * ROW_SIZE, 0, ROW_SIZE);
    expect(batches.next().value?.[0]).toEqual(first?.[0]);
    expect(batches.next().done).toBe(true);
  });

  it('makes no batch if there are no rows', () => {
    expect([...promptBatches([])]).toEqual([]);
  });

  it('refuses an invalid row when its batch is requested, and names it', () => {
    const bad = rows.slice();
    bad[7 * ROW_SIZE] = 29;
    const batches = promptBatches(bad, undefined, { size: 5 });
    expect(batches.next().value).toHaveLength(5);
    expectRefusal(() => batches.next(), 'out_of_range', `observations[${7 * ROW_SIZE}], row 7`);
  });

  it('refuses invalid arguments at once', () => {
    for (const size of [0, 1.5, Number.NaN]) {
      expectRefusal(() => promptBatches(rows, undefined, { size }), 'out_of_range', 'size', String(size));
    }
    expectRefusal(() => promptBatches(rows, undefined, any({ size: '2' })), 'wrong_type', 'size');
    expectRefusal(() => promptBatches(rows, undefined, any({ sizes: 2 })), 'unknown_option', 'size');
    expectRefusal(() => promptBatches(rows.subarray(1)), 'wrong_length', 'observations');
    expectRefusal(() => promptBatches(raw.observations, any(3)), 'wrong_type', 'histories');
    expectRefusal(() => promptBatches(rows, undefined, { grader: 'v9' }), 'unknown_name', 'v9');
  });
});
