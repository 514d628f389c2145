/** AsyncPlanner: the decisions of Planner, on batches whose calls return promises. */
import { describe, expect, it } from 'vitest';
import { openAsyncPlanner } from '../../../src/agents/planner/async-planner.js';
import { AsyncPlanner, createAsyncPlanner, createVecEnv, Planner } from '../../../src/index.js';
import { expectSamePlans, TINY } from '../../support/async-planner.js';
import { openStandIn } from '../../support/stand-in-batch.js';

const first = (): Float32Array => {
  using env = createVecEnv({ numEnvs: 1 });
  return env.reset({ seed: 5 }).observations.slice();
};

describe('a planner on batches whose calls return promises', () => {
  it.each([{}, { objective: 'wellbeing', grader: 'v3', rounds: 2 }] as const)(
    'decides and explains as on the reference: %j',
    (options) => expectSamePlans(openStandIn, options, [0, 13, 27]),
  );

  it('makes its calls in order, with copies of their arguments', async () => {
    using expected = new Planner({ numEnvs: 1, ...TINY });
    const observations = first();
    const { actions } = expected.decide(observations);
    await using planner = await openAsyncPlanner({ numEnvs: 1, ...TINY }, openStandIn);
    const calls = [planner.decide(observations), planner.report(0), planner.reasons(0)] as const;
    observations.fill(Number.NaN);
    expect((await calls[0]).actions).toEqual(actions);
    expect(await calls[1]).toEqual(expected.report(0));
    expect(await calls[2]).toBe(expected.reasons(0));
  });

  it('has the properties of Planner, and rejects with its errors', async () => {
    const planner = await createAsyncPlanner({ numEnvs: 1, ...TINY });
    expect(planner).toBeInstanceOf(AsyncPlanner);
    expect(planner).toMatchObject({ numEnvs: 1, objective: 'score', isOracle: false });
    await expect(planner.reasons(0)).rejects.toMatchObject({ code: 'not_reset' });
    await expect(planner.decide(new Float32Array(3))).rejects.toMatchObject({ code: 'wrong_length' });
    await planner.close();
    await planner.close();
    await expect(planner.decide(first())).rejects.toMatchObject({ code: 'closed' });
    await expect(createAsyncPlanner({ numEnvs: 0 })).rejects.toMatchObject({ code: 'out_of_range' });
  });
});
