/**
 * The planner: its decisions depend only on observations and options, not on the batch, the process or the kernel. Also its
 * reports, its oracle and its refusals.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Imagination } from '../../../src/agents/planner/imagination.js';
import {
  createVecEnv,
  createWorld,
  Episode,
  graderWeights,
  Inference,
  Planner,
  type PlannerOptions,
  rolloutGroups,
} from '../../../src/index.js';
import { COMPONENT_NAMES } from '../../../src/world/fields.js';
import { runChild } from '../../support/child.js';
import { meanOf, playPlannedEpisodes, SMALL, seedsFrom } from '../../support/planned-episodes.js';

const seeds = seedsFrom(40000, 5);
const recorded = playPlannedEpisodes(seeds);

describe('decisions are the same', () => {
  it('in a second planner', () => {
    const second = playPlannedEpisodes(seeds);
    expect(second.actions).toEqual(recorded.actions);
    expect(second.beliefs).toEqual(recorded.beliefs);
  });

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
    ['alone', { threads: 1 }, [3]],
    ['at another index', {}, [4, 3, 3]],
    ['on another kernel', { kernel: 'scalar' }, [3, 0]],
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

// The action codes of an episode of seed 40000, one digit per step. They change only if the planner changes.
it.each([
  ['for the score', {}, '4417448488999863006330636060'],
  ['for the score of v3', { grader: 'v3' }, '3613306313633263306336036326'],
  ['for wellbeing', { objective: 'wellbeing' }, '1563336330633013516336033161'],
  ['with the prior', { inference: false }, '9439349949439963006306630060'],
] as [string, Partial<PlannerOptions>, string][])(
  '%s the planner plays the stored actions',
  (_, options, codes) => {
    const { actions } = playPlannedEpisodes(seedsFrom(40000, 1), options);
    expect(actions.map(([code]) => code).join('')).toBe(codes);
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

it('a report has the two plans of the decision, and the error reduction of their first actions', () => {
  using planner = new Planner({ numEnvs: 5, ...SMALL, curiosity: 2 });
  const inference = new Inference(createWorld(), 5);
  // The value of a reduction of the belief's error by 1: `curiosity` times what the grader pays for it.
  const worth = 2 * graderWeights('v2')[COMPONENT_NAMES.indexOf('belief_accuracy')];
  let maxCuriosity = 0;
  for (const [step, observations] of recorded.observations.entries()) {
    const { actions } = planner.decide(observations);
    inference.observe(observations);
    const values = inference.probeValues();
    for (const i of [0, 4]) {
      const report = planner.report(i);
      const { plan, rival, loss, curiosity } = report;
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
});

it('under v3 a planner states posterior means, and reports the value of information in units of the score', () => {
  const graded = playPlannedEpisodes(seeds, { grader: 'v3' });
  using planner = new Planner({ numEnvs: 5, ...SMALL, grader: 'v3' });
  const inference = new Inference(createWorld(), 5);
  const { beliefSkillScale, perSkillStep, beliefSkillFrom } = createWorld().params;
  const weight = graderWeights('v3')[COMPONENT_NAMES.indexOf('belief_skill')];
  for (const [step, observations] of graded.observations.entries()) {
    planner.decide(observations);
    inference.observe(observations);
    expect(graded.beliefs[step]).toEqual(inference.beliefs('squared'));
    const values = inference.probeValues('squared');
    const { plan, rival, curiosity } = planner.report(2);
    expect(plan.errorReduction).toBe(values[20 + plan.actions[0]]);
    // For the planner each further step of belief_skill counts 0.9 times as much as the step before (objectives.ts).
    let steps = 0;
    for (let later = Math.max(step + 1, beliefSkillFrom); later < 28; later++)
      steps += 0.9 ** (later - step - 1);
    const worth = weight * beliefSkillScale * perSkillStep * steps;
    expect(curiosity).toBeCloseTo(worth * (plan.errorReduction - rival.errorReduction), 12);
  }
});

it('at the last step a planner predicts the mean final score of v3 within 0.05', () => {
  using env = createVecEnv({ numEnvs: 5, grader: 'v3', copy: true });
  using planner = new Planner({ numEnvs: 5, ...SMALL, grader: 'v3', posteriorSamples: 64 });
  let result = env.reset({ seed: seeds });
  const expected: number[] = [];
  for (let step = 0; step < 28; step++) {
    const { actions, beliefs } = planner.decide(result.observations);
    if (step === 27) {
      for (let i = 0; i < 5; i++) {
        const { plan, grader } = planner.report(i);
        expected.push(plan.components.reduce((sum, component, k) => sum + grader[k] * component, 0));
      }
    }
    result = env.step(actions, { beliefs });
  }
  // Components contain sums over past steps, such as `skill`, that depend on the profile, of which the planner has only
  // samples.
  expect(Math.abs(meanOf(expected) - meanOf(result.finalScores))).toBeLessThan(0.05);
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
  const first = recorded.observations[0];
  it.each([
    [
      'an episode that begins after step 0',
      (planner: Planner) => planner.decide(recorded.observations[1]),
      /Expected step 0 in row 0/,
    ],
    [
      'a missing step',
      (planner: Planner) => [0, 2].map((t) => planner.decide(recorded.observations[t])),
      /Expected step 0 or 1 in row 0 of observations, got 2\./,
    ],
    [
      'a finished episode',
      (planner: Planner) => planner.decide(recorded.result.observations),
      /Expected step 0 in row 0 of observations, got 28\./,
    ],
    [
      'too few rows',
      (planner: Planner) => planner.decide(first.subarray(22)),
      /Expected 110 numbers in observations/,
    ],
    ['invalid numbers', (planner: Planner) => planner.decide(first.map(() => Number.NaN)), /Expected/],
    ['reasons before a decision', (planner: Planner) => planner.reasons(0), /Call decide first/],
    [
      'reasons of an episode that does not exist',
      (planner: Planner) => planner.reasons(5),
      /Expected i to be an integer from 0 to 4/,
    ],
  ] as [string, (planner: Planner) => unknown, RegExp][])('%s', (_, call, message) => {
    using planner = new Planner({ numEnvs: 5, ...SMALL });
    expect(() => call(planner)).toThrow(message);
  });

  it('an invalid row without recording the other rows', () => {
    using planner = new Planner({ numEnvs: 5, ...SMALL });
    planner.decide(first);
    // Row 4 skips step 1.
    const skipping = recorded.observations[1].slice();
    skipping.set(recorded.observations[2].subarray(88), 88);
    expect(() => planner.decide(skipping)).toThrow(/Expected step 0 or 1 in row 4 of observations, got 2\./);
    expect(planner.decide(recorded.observations[1]).actions).toEqual(recorded.actions[1]);
  });

  it.each([
    [{ numEnvs: 0 }, /Expected numEnvs to be an integer from 1 to 16384, got 0/],
    [{ objective: 'welbeing' }, /one of score, wellbeing.*Did you mean "wellbeing"/],
    [{ posteriorSamples: 0 }, /Expected posteriorSamples/],
    [{ rounds: 1.5 }, /Expected rounds/],
    [{ curious: 1 }, /Expected planner options among .*curiosity/],
    [{ inference: 1 }, /Expected inference to be true or false/],
    [{ grader: 'v4' }, /Expected grader/],
    [{ oracle: [1, 2] }, /Expected oracle to be a Float32Array, got an array of 2/],
  ])('%j', (options, message) => {
    expect(() => new Planner({ numEnvs: 1, ...options } as never)).toThrow(message);
  });

  it('decisions and reasons after close', () => {
    const planner = new Planner({ numEnvs: 5, ...SMALL });
    planner.decide(first);
    planner.close();
    planner.close();
    expect(() => planner.decide(first)).toThrow(/open planner/);
    expect(() => planner.reasons(0)).toThrow(/open planner/);
  });
});
