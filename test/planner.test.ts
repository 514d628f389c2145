/** A planner decides from what it is shown, and from nothing else: not from the batch, the process or the machine. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createVecEnv, Episode, Planner, type PlannerOptions, rolloutGroups } from '../src/index.js';
import { runChild } from './support/child.js';
import { playWeeks, SMALL, seedsFrom } from './support/planning.js';

const seeds = seedsFrom(40000, 5);
const played = playWeeks(seeds);

describe('the same decisions', () => {
  it('again', () => {
    const again = playWeeks(seeds);
    expect(again.actions).toEqual(played.actions);
    expect(again.beliefs).toEqual(played.beliefs);
  });

  it('in a process that has no environment, from the recorded stream', () => {
    const directory = mkdtempSync(join(tmpdir(), 'rhythm-vec-'));
    try {
      const path = join(directory, 'stream.f32');
      writeFileSync(path, Buffer.concat(played.observations.map((rows) => Buffer.from(rows.buffer))));
      const { said, stderr } = runChild(`
        import { readFileSync } from 'node:fs';
        import { Planner } from './src/policies/planner/planner.js';
        const bytes = readFileSync(${JSON.stringify(path)});
        const stream = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
        const planner = new Planner({ numEnvs: 5, ...${JSON.stringify(SMALL)} });
        const decisions = Array.from({ length: 28 }, (_, t) => planner.decide(stream.subarray(110 * t, 110 * (t + 1))));
        say(decisions.map(({ actions, beliefs }) => [[...actions], [...beliefs]]));
      `);
      const expected = played.actions.map((actions, t) => [[...actions], [...played.beliefs[t]]]);
      expect(said, stderr).toEqual(expected);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it.each([
    ['alone', { threads: 1 }, [3]],
    ['in another place', {}, [4, 3, 3]],
    ['on another kernel', { kernel: 'scalar' }, [3, 0]],
  ] as [string, Partial<PlannerOptions>, number[]][])('%s', (_, options, slots) => {
    using planner = new Planner({ numEnvs: slots.length, ...SMALL, ...options });
    for (let step = 0; step < 28; step++) {
      const rows = Float32Array.from(
        slots.flatMap((slot) => [...played.observations[step].subarray(22 * slot, 22 * (slot + 1))]),
      );
      const { actions } = planner.decide(rows);
      expect([...actions], `step ${step}`).toEqual(slots.map((slot) => played.actions[step][slot]));
    }
  });

  it('whatever other episodes are at, and whether its reasons are asked for', () => {
    using planner = new Planner({ numEnvs: 2, ...SMALL });
    const row = (slot: number, step: number) =>
      played.observations[step]?.subarray(22 * slot, 22 * (slot + 1)) ?? new Float32Array(22);
    for (let step = 0; step < 30; step++) {
      const rows = Float32Array.from([...row(0, step), ...row(1, step - 2)]);
      const playing = Uint8Array.of(Number(step < 28), Number(step >= 2));
      const { actions } = planner.decide(rows, playing);
      if (step < 28) expect(actions[0]).toBe(played.actions[step][0]);
      if (step >= 2) expect(actions[1]).toBe(played.actions[step - 2][1]);
      if (step > 2 && step < 28) expect(planner.reasons(step % 2).length).toBeGreaterThan(50);
    }
  });

  it('for other episodes in the same places', () => {
    using env = createVecEnv({ numEnvs: 5, copy: true });
    using planner = new Planner({ numEnvs: 5, ...SMALL });
    planner.decide(env.reset({ seed: 7 }).observations);
    planner.decide(env.run('random', { stops: [1, 1, 1, 1, 1] }).observations);
    for (const [step, observations] of played.observations.entries()) {
      expect(planner.decide(observations).actions, `step ${step}`).toEqual(played.actions[step]);
    }
  });
});

it('another seed imagines otherwise', () => {
  expect(playWeeks(seeds, { seed: 1 }).actions).not.toEqual(played.actions);
});

it('plays rollouts in groups', async () => {
  using planner = new Planner({ numEnvs: 5, ...SMALL });
  const { actions } = await rolloutGroups({ seeds, groupSize: 1, policy: planner.policy });
  const byEpisode = Array.from(seeds.keys()).flatMap((i) => played.actions.map((codes) => codes[i]));
  expect([...actions]).toEqual(byEpisode);
});

describe('an oracle', () => {
  const profiles = Float32Array.from(
    Array.from(seeds).flatMap((seed) => [...new Episode().reset(seed).profile]),
  );

  it('knows everything, and says so', () => {
    const oracle = playWeeks(seeds, { oracle: profiles }, (planner, step) => {
      expect(planner.isOracle).toBe(true);
      if (step === 5) expect(planner.reasons(0)).toMatch(/^An oracle speaks/);
    });
    expect(Math.max(...oracle.result.beliefMae)).toBe(0);
    using planner = new Planner({ numEnvs: 1 });
    expect(planner.isOracle).toBe(false);
  });

  it('is refused persons who cannot be', () => {
    const open = (oracle: Float32Array) => () => new Planner({ numEnvs: 5, oracle });
    expect(open(profiles.subarray(1))).toThrow(
      /^Expected 80 floats in the oracle's profiles \(5 x 16\), got 79\./,
    );
    const wrong = profiles.slice();
    wrong[20] = Number.NaN;
    expect(open(wrong)).toThrow(/at oracle, person 1\[4\], got NaN/);
  });
});

describe('refuses', () => {
  const first = played.observations[0];
  it.each([
    [
      'a step that it was not led to',
      (planner: Planner) => planner.decide(played.observations[1]),
      /Expected step 0 in row 0/,
    ],
    [
      'a step that was left out',
      (planner: Planner) => [0, 2].map((t) => planner.decide(played.observations[t])),
      /Expected step 0 or 1 in row 0 of observations, got 2\./,
    ],
    [
      'what is over',
      (planner: Planner) => planner.decide(played.result.observations),
      /Expected step 0 in row 0 of observations, got 28\./,
    ],
    [
      'too few rows',
      (planner: Planner) => planner.decide(first.subarray(22)),
      /Expected 110 numbers in observations/,
    ],
    [
      'numbers that no observation holds',
      (planner: Planner) => planner.decide(first.map(() => Number.NaN)),
      /Expected/,
    ],
    ['reasons before a decision', (planner: Planner) => planner.reasons(0), /Call decide first/],
    [
      'reasons of nobody',
      (planner: Planner) => planner.reasons(5),
      /Expected i to be an integer from 0 to 4/,
    ],
  ] as [string, (planner: Planner) => unknown, RegExp][])('%s', (_, call, message) => {
    using planner = new Planner({ numEnvs: 5, ...SMALL });
    expect(() => call(planner)).toThrow(message);
  });

  it.each([
    [{ numEnvs: 0 }, /Expected numEnvs to be an integer from 1 to 16384, got 0/],
    [{ objective: 'welbeing' }, /one of score, wellbeing.*Did you mean "wellbeing"/],
    [{ people: 0 }, /Expected people/],
    [{ rounds: 1.5 }, /Expected rounds/],
    [{ curious: 1 }, /Expected planner options among .*curiosity/],
    [{ inference: 1 }, /Expected inference to be true or false/],
    [{ grader: 'v3' }, /Expected grader/],
    [{ oracle: [1, 2] }, /Expected oracle to be a Float32Array, got an array of 2/],
  ])('%j', (options, message) => {
    expect(() => new Planner({ numEnvs: 1, ...options } as never)).toThrow(message);
  });

  it('everything once it is closed', () => {
    const planner = new Planner({ numEnvs: 5, ...SMALL });
    planner.decide(first);
    planner.close();
    planner.close();
    expect(() => planner.decide(first)).toThrow(/open planner/);
    expect(() => planner.reasons(0)).toThrow(/open planner/);
  });
});
