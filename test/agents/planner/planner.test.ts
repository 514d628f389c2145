/**
 * The planner: its decisions depend only on observations and options, not on the batch, the process, the kernel or whether
 * calls return promises. Also its reports, its oracle and its refusals.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Imagination } from '../../../src/agents/planner/imagination.js';
import { valuePerBeliefError } from '../../../src/agents/planner/objectives.js';
import { openAsyncPlanner } from '../../../src/agents/planner/planner.js';
import {
  AsyncPlanner,
  createAsyncPlanner,
  createVecEnv,
  createWorld,
  Episode,
  type ErrorCode,
  evaluate,
  graderWeights,
  Inference,
  Planner,
  type PlannerOptions,
  rolloutGroups,
} from '../../../src/index.js';
import { expectSamePlans, TINY } from '../../support/async-planner.js';
import { runChild } from '../../support/child.js';
import { NATIVE } from '../../support/engines.js';
import { playPlannedEpisodes, SMALL, seedsFrom } from '../../support/planned-episodes.js';
import { expectRefusal, expectRejection } from '../../support/refusals.js';
import { openStandIn } from '../../support/stand-in-batch.js';

const seeds = seedsFrom(40000, 5);
const recorded = playPlannedEpisodes(seeds);

describe('decisions are the same', () => {
  it('in a process without an environment, from recorded observations', () => {
    const directory = mkdtempSync(join(tmpdir(), 'rhythm-vec-'));
    try {
      const path = join(directory, 'stream.f32');
      writeFileSync(path, Buffer.concat(recorded.observations.map((rows) => Buffer.from(rows.buffer))));
      const { output, stderr } = runChild(`
        import { readFileSync } from 'node:fs';
        import { Planner } from './dist/agents/planner/planner.js';
        const bytes = readFileSync(${JSON.stringify(path)});
        const stream = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
        const planner = new Planner({ numEnvs: 5, ...${JSON.stringify(SMALL)} });
        // 110 numbers a step: five rows of 22.
        const decisions = Array.from({ length: 28 }, (_, t) => planner.decide(stream.subarray(110 * t, 110 * (t + 1))));
        print(decisions.map(({ actions, beliefs }) => [[...actions], [...beliefs]]));
      `);
      const expected = recorded.actions.map((actions, t) => [[...actions], [...recorded.beliefs[t]]]);
      expect(output, stderr).toEqual(expected);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it.each([
    ['at another index', {}, [4, 3, 3]],
    ...(NATIVE.length > 0
      ? [['on one thread of another kernel', { kernel: 'scalar', threads: 1 }, [3]]]
      : []),
  ] as [string, Partial<PlannerOptions>, number[]][])('%s', (_, options, indices) => {
    using planner = new Planner({ numEnvs: indices.length, ...SMALL, ...options });
    for (let step = 0; step < 28; step++) {
      const rows = Float32Array.from(
        indices.flatMap((env) => [...recorded.observations[step].subarray(22 * env, 22 * (env + 1))]),
      );
      const { actions } = planner.decide(rows);
      expect([...actions], `step ${step}`).toEqual(indices.map((env) => recorded.actions[step][env]));
    }
  });

  it('in a batch with episodes at other steps, and after calls of `reasons`', () => {
    using planner = new Planner({ numEnvs: 2, ...SMALL });
    const row = (env: number, step: number) =>
      recorded.observations[step]?.subarray(22 * env, 22 * (env + 1)) ?? new Float32Array(22);
    for (let step = 0; step < 30; step++) {
      const rows = Float32Array.from([...row(0, step), ...row(1, step - 2)]);
      const playing = Uint8Array.of(Number(step < 28), Number(step >= 2));
      const { actions } = planner.decide(rows, playing);
      if (step < 28) expect(actions[0]).toBe(recorded.actions[step][0]);
      if (step >= 2) expect(actions[1]).toBe(recorded.actions[step - 2][1]);
      if (step > 2 && step < 28) expect(planner.reasons(step % 2).length).toBeGreaterThan(50);
    }
  });

  it('after other episodes in the same environments', () => {
    using env = createVecEnv({ numEnvs: 5, copy: true });
    using planner = new Planner({ numEnvs: 5, ...SMALL });
    planner.decide(env.reset({ seed: 7 }).observations);
    planner.decide(env.run('random', { stops: [1, 1, 1, 1, 1] }).observations);
    for (const [step, observations] of recorded.observations.entries()) {
      expect(planner.decide(observations).actions, `step ${step}`).toEqual(recorded.actions[step]);
    }
  });
});

it('a planner searches the first step once for all episodes, unless it knows the profiles', () => {
  const begin = vi.spyOn(Imagination.prototype, 'begin');
  /** Plays steps. @returns the episodes that each search imagined. */
  const searched = (options: Partial<PlannerOptions>, steps: number) => {
    begin.mockClear();
    using planner = new Planner({ numEnvs: 5, ...SMALL, ...options });
    const decisions = recorded.observations.slice(0, steps).map((rows) => planner.decide(rows));
    expect(planner.report(4).step).toBe(steps - 1);
    if (options.oracle === undefined)
      expect(decisions.map(({ actions }) => actions)).toEqual(recorded.actions.slice(0, steps));
    return begin.mock.calls.map(([, episodes]) => episodes);
  };
  const all = [0, 1, 2, 3, 4];
  expect(searched({}, 2)).toEqual([[0], all]);
  const profiles = Array.from(seeds).flatMap((seed) => [...new Episode().reset(seed).profile]);
  expect(searched({ oracle: Float32Array.from(profiles) }, 1)).toEqual([all]);
  begin.mockRestore();
});

// The action codes of an episode of seed 40000, one digit per step, and a digest of its reasons, which have the planner's and
// the inference's numbers. They change only with the planner, the inference or their words.
it.each([
  ['for the score', {}, '4417448488999863006330636060', 'fb2c36547ebc38a1'],
  ['for the score of v3', { grader: 'v3' }, '3613306313633263306336036326', '84a5c7233339461b'],
  ['for wellbeing', { objective: 'wellbeing' }, '1563336330633013516336033161', 'e3ecb794e2baf9d5'],
  ['with the prior', { inference: false }, '9439349949439963006306630060', 'ec7e07545d9fb493'],
] as [string, Partial<PlannerOptions>, string, string][])(
  '%s the planner plays the stored actions for the stored reasons',
  (_, options, codes, digest) => {
    const reasons = createHash('sha256');
    const { actions } = playPlannedEpisodes(seedsFrom(40000, 1), options, (planner) => {
      reasons.update(planner.reasons(0));
    });
    expect(actions.map(([code]) => code).join('')).toBe(codes);
    expect(reasons.digest('hex').slice(0, 16)).toBe(digest);
  },
);

it('another seed changes the decisions', () => {
  expect(playPlannedEpisodes(seeds, { seed: 1 }).actions).not.toEqual(recorded.actions);
});

it('rolloutGroups plays the actions of a planner', async () => {
  using planner = new Planner({ numEnvs: 5, ...SMALL });
  const { actions } = await rolloutGroups({ seeds, groupSize: 1, policy: planner.policy });
  const byEpisode = Array.from(seeds.keys()).flatMap((i) => recorded.actions.map((codes) => codes[i]));
  expect([...actions]).toEqual(byEpisode);
});

it.each([
  ['v2', 'absolute', 2],
  ['v3', 'squared', 1],
] as const)(
  'under %s a planner states the belief for the %s error, and reports two plans and the value of their information',
  (name, error, weight) => {
    using planner = new Planner({ numEnvs: 5, ...SMALL, grader: name, curiosity: weight });
    const world = createWorld();
    const inference = new Inference(world, 5);
    let maxCuriosity = 0;
    for (const [step, observations] of recorded.observations.entries()) {
      const { actions, beliefs } = planner.decide(observations);
      inference.observe(observations);
      expect(beliefs).toEqual(inference.beliefs(error));
      const values = inference.probeValues(error);
      const worth = weight * valuePerBeliefError('score', graderWeights(name), world.params, step);
      for (const i of [0, 4]) {
        const { plan, rival, loss, curiosity, ...report } = planner.report(i);
        expect([report.step, plan.actions.length, plan.actions[0]]).toEqual([step, 28 - step, actions[i]]);
        expect(rival.actions[0]).not.toBe(actions[i]);
        expect(loss).toBeGreaterThanOrEqual(0);
        for (const { errorReduction, actions: planned } of [plan, rival])
          expect(errorReduction).toBe(values[10 * i + planned[0]]);
        expect(curiosity).toBeCloseTo(worth * (plan.errorReduction - rival.errorReduction), 12);
        maxCuriosity = Math.max(maxCuriosity, curiosity);
      }
    }
    expect(maxCuriosity).toBeGreaterThan(0);
  },
);

it('an evaluation with a planner is aborted before its episodes end', async () => {
  const abort = new AbortController();
  const reason = new Error('enough');
  const evaluation = evaluate({
    seeds: { first: 0, last: 20 },
    policies: ['planner'],
    signal: abort.signal,
    onStart: () => void setTimeout(() => abort.abort(reason)),
    onEpisodes: () => expect.unreachable(),
  });
  await expect(evaluation).rejects.toBe(reason);
});

describe('an oracle', () => {
  const profiles = Float32Array.from(
    Array.from(seeds).flatMap((seed) => [...new Episode().reset(seed).profile]),
  );

  it('reports the true weights, even if the passed and returned arrays are changed', () => {
    const passed = profiles.slice();
    using planner = new Planner({ numEnvs: 5, ...SMALL, oracle: passed });
    const [first, second] = recorded.observations;
    const { beliefs } = planner.decide(first);
    const firstBeliefs = beliefs.slice();
    passed.fill(0.5);
    beliefs.fill(0.5);
    expect(planner.decide(second).beliefs).toEqual(firstBeliefs);
    for (const i of [0, 3]) {
      const weights = profiles.subarray(16 * i + 11, 16 * i + 16);
      planner.report(i).weights.forEach((weight, k) => {
        expect(weight).toBeCloseTo(weights[k], 12);
      });
    }
  });

  it('states the true belief, and says that it is an oracle', () => {
    const oracle = playPlannedEpisodes(seeds, { oracle: profiles }, (planner, step) => {
      expect(planner.isOracle).toBe(true);
      if (step === 5)
        expect(planner.reasons(0)).toMatch(
          /^Nothing is inferred about this person, whose true profile is given\./,
        );
    });
    expect(Math.max(...oracle.result.beliefMae)).toBe(0);
    using planner = new Planner({ numEnvs: 1 });
    expect(planner.isOracle).toBe(false);
  });

  it('refuses invalid profiles', () => {
    const open = (oracle: Float32Array) => () => new Planner({ numEnvs: 5, oracle });
    expect(open(profiles.subarray(1))).toThrow(
      /^Expected 80 floats in the oracle's profiles \(5 x 16\), got 79\./,
    );
    const wrong = profiles.slice();
    wrong[20] = Number.NaN;
    expect(open(wrong)).toThrow(/at oracle, profile 1\[4\], got NaN/);
  });
});

describe('a planner refuses', () => {
  const [first, second, third] = recorded.observations;
  it.each<[string, (planner: Planner) => unknown, ErrorCode]>([
    ['an episode that begins after step 0', (planner) => planner.decide(second), 'out_of_range'],
    ['a missing step', (planner) => [first, third].map((rows) => planner.decide(rows)), 'out_of_range'],
    ['a finished episode', (planner) => planner.decide(recorded.result.observations), 'out_of_range'],
    ['too few rows', (planner) => planner.decide(first.subarray(22)), 'wrong_length'],
    ['invalid numbers', (planner) => planner.decide(first.map(() => Number.NaN)), 'out_of_range'],
    ['reasons before a decision', (planner) => planner.reasons(0), 'not_reset'],
    ['reasons of an episode that does not exist', (planner) => planner.reasons(5), 'out_of_range'],
  ])('%s', (_, call, code) => {
    using planner = new Planner({ numEnvs: 5, ...SMALL });
    expectRefusal(() => call(planner), code);
  });

  it('an invalid row without recording the other rows', () => {
    using planner = new Planner({ numEnvs: 5, ...SMALL });
    planner.decide(first);
    // Row 4 skips step 1.
    const skipping = second.slice();
    skipping.set(third.subarray(88), 88);
    expect(() => planner.decide(skipping)).toThrow(/Expected step 0 or 1 in row 4 of observations, got 2\./);
    expect(planner.decide(second).actions).toEqual(recorded.actions[1]);
  });

  it.each<[object, ErrorCode, mention?: string]>([
    [{ numEnvs: 0 }, 'out_of_range'],
    [{ objective: 'welbeing' }, 'unknown_name'],
    [{ posteriorSamples: 0 }, 'out_of_range'],
    [{ rounds: 1.5 }, 'out_of_range'],
    [{ curious: 1 }, 'unknown_option'],
    [{ inference: 1 }, 'wrong_type'],
    [{ grader: 'v4' }, 'unknown_name'],
    [{ oracle: [1, 2] }, 'wrong_type'],
    [{ backend: 'webgpu' }, 'unknown_name', 'createAsyncPlanner'],
  ])('the options %j', (options, code, mention = '') => {
    expectRefusal(() => new Planner({ numEnvs: 1, ...options } as never), code, mention);
  });

  it('decisions and reasons after close', () => {
    const planner = new Planner({ numEnvs: 5, ...SMALL });
    planner.decide(first);
    planner.close();
    planner.close();
    expectRefusal(() => planner.decide(first), 'closed');
    expectRefusal(() => planner.reasons(0), 'closed');
  });
});

describe('a planner on batches whose calls return promises', () => {
  it.each([{}, { objective: 'wellbeing', grader: 'v3', rounds: 2 }] as const)(
    'decides and explains as on the reference: %j',
    (options) => expectSamePlans(openStandIn, options, [0, 13, 27]),
  );

  it('makes its calls in order, with copies of their arguments', async () => {
    using expected = new Planner({ numEnvs: 1, ...TINY });
    const observations = recorded.observations[0].slice(0, 22);
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
    await expectRejection(planner.reasons(0), 'not_reset');
    await expectRejection(planner.decide(new Float32Array(3)), 'wrong_length');
    await planner.close();
    await planner.close();
    await expect(planner.decide(recorded.observations[0].slice(0, 22))).rejects.toMatchObject({
      code: 'closed',
    });
    await expect(createAsyncPlanner({ numEnvs: 0 })).rejects.toMatchObject({ code: 'out_of_range' });
  });
});
