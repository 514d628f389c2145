/** Runs of many environments in slices, with progress and aborts between slices. */
import { describe, expect, it } from 'vitest';
import type { RunOptions, VecEnv } from '../../../src/engine/node.js';
import type { RunChoice } from '../../../src/engine/vec-env/run-requests.js';
import type { StepResult, VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { evaluate } from '../../../src/evaluation/evaluate.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { copyColumns, expectEqual, rowsOf, withoutFinalMask } from '../../support/bits.js';
import { currentOutputs, envIndices, episodeColumns } from '../../support/call-sequences.js';
import { FASTEST, openOn } from '../../support/engines.js';
import { Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { expectUnchanged } from '../../support/unchanged.js';

/** The number of environments: three slices of at most 16,384, the last not full, and few enough for the slow reference. */
const N = 33_000;
const withProgress = (options: RunOptions): RunOptions => ({ ...options, onProgress: () => {} });
const ENVS = [...envIndices(N)];

// Shared by all engines, because drawing them is slow.
const random = new Random('long calls');
const SEQUENCE = random.bytes(N * NUM_STEPS, 0, NUM_ACTIONS - 1);
const STOPS = random.stops(N);
/** The beliefs of 1,000 environments, repeated: drawing them for all takes long. */
const BELIEFS = new Float32Array(N * NUM_STEPS * 3);
const drawnBeliefs = random.beliefs(1000 * NUM_STEPS, 0.3).beliefs;
for (let at = 0; at < BELIEFS.length; at += drawnBeliefs.length) BELIEFS.set(drawnBeliefs, at);
/** The arguments of runs that continue from random steps. */
const RUNS: [choice: RunChoice, options: RunOptions][] = [
  ['random', { policySeeds: random.seeds(N), beliefs: [0.1, 0.5, 0.7] }],
  ['heuristic', { trajectory: true }],
  [SEQUENCE, { trajectory: true, beliefs: BELIEFS }],
];

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return expect.unreachable();
}

/** Runs and aborts after `calls` slices. @returns the number of finished environments. */
function runAborted(env: VecEnv, calls: number, reason: unknown, options: RunOptions = {}): number {
  const controller = new AbortController();
  let finished = 0;
  const onProgress = (done: number): void => {
    finished = done;
    if (--calls === 0) controller.abort(reason);
  };
  const run = () => env.run('random', { ...options, onProgress, signal: controller.signal });
  expect(thrownBy(run)).toBe(reason);
  return finished;
}

describe.each(FASTEST)('$name', (engine) => {
  const begin = (options: Partial<VecEnvOptions> = {}): { env: VecEnv; result: StepResult } => {
    const env = openOn(engine, { numEnvs: N, ...options });
    return { env, result: env.reset({ seed: 7 }) };
  };
  const [one, other] = [begin().env, begin().env];

  it('a run reports its progress in order, to the end', () => {
    const { env } = begin();
    const calls: number[][] = [];
    env.run('random', { onProgress: (...call) => calls.push(call) });
    const done = calls.map(([first]) => first);
    expect(done).toEqual([...new Set(done)].sort((a, b) => a - b));
    expect(done.length).toBeGreaterThan(2);
    expect(done.at(-1)).toBe(N);
    expect(calls.every(([, total]) => total === N)).toBe(true);
    using small = openOn(engine, { numEnvs: 3 });
    small.reset({ seed: 1 });
    small.run('random', { onProgress: (...call) => calls.push(call) });
    expect(calls.at(-1)).toEqual([3, 3]);
  });

  it.each(RUNS)('a run with onProgress has the results of a run without', (choice, options) => {
    const [expected, got] = [one, other].map((env, k) => {
      const isObserved = k === 1;
      env.reset({ seed: 7 });
      env.run('heuristic', isObserved ? withProgress({ stops: STOPS }) : { stops: STOPS });
      const result = env.run(choice, isObserved ? withProgress(options) : options);
      return {
        ...episodeColumns(env, result),
        ...(result.trajectory === null ? {} : copyColumns(result.trajectory)),
      };
    });
    expectEqual(expected, got);
  });

  it('an aborted run throws the reason; the episodes of finished slices have ended, the others are unchanged', () => {
    const { env, result } = begin();
    const before = episodeColumns(env, result);
    const done = runAborted(env, 2, new Error('enough'));
    expect(env.counters).toEqual({ steps: done * NUM_STEPS, episodes: done });
    // The views of the earlier result have the current values.
    const after = episodeColumns(env, result);
    one.reset({ seed: 7 });
    const complete = episodeColumns(one, one.run('random'));
    const [ended, unfinished] = [ENVS.slice(0, done), ENVS.slice(done)];
    expectEqual(rowsOf(complete, N, ended), rowsOf(after, N, ended), 'ended:');
    expectEqual(rowsOf(before, N, unfinished), rowsOf(after, N, unfinished), 'unchanged:');
    expectEqual(
      withoutFinalMask(complete),
      withoutFinalMask(episodeColumns(env, env.run('random'))),
      'run again:',
    );
    expect(env.counters).toEqual({ steps: N * NUM_STEPS, episodes: N });
  });

  it('an aborted run clears the flags in finalMask of episodes that ended in an earlier call', () => {
    const { env } = begin();
    env.run('random', { stops: new Uint8Array(N).fill(NUM_STEPS - 1) });
    const { finalMask } = env.step(new Uint8Array(N));
    expect(finalMask.every((flag) => flag === 1)).toBe(true);
    runAborted(env, 1, 'reason');
    expect(finalMask.some(Boolean)).toBe(false);
  });

  it.each(['same-step', 'next-step'] as const)(
    'the environment can step after an aborted run, autoreset %s',
    (autoreset) => {
      const { env } = begin({ autoreset });
      const stops = new Uint8Array(N).fill(NUM_STEPS - 1);
      const done = runAborted(env, 1, 'reason', { stops });
      for (let t = 0; t < 2; t++) env.step(new Uint8Array(N));
      // In the slices that were played, the first step is the 28th of the episode. In next-step mode, the second only resets.
      const stepsOfNext = autoreset === 'same-step' ? 1 : 0;
      expect(env.counters.episodes).toBe(done);
      expect(env.counters.steps).toBe(done * (NUM_STEPS + stepsOfNext) + (N - done) * 2);
      expect(env.seeds[0]).toBe(7 + N);
      expect(env.seeds[N - 1]).toBe(7 + N - 1);
    },
  );

  it('encoded observations and the history are current after an aborted run', () => {
    const { env, result } = begin({ observation: { fields: ['step'], scale: true, history: true } });
    const done = runAborted(env, 1, 'reason');
    const current = result.observations.slice();
    expectEqual({ current }, { current: currentOutputs(env).observations });
    const width = env.observationSpace.shape[0];
    expect([current[0], current[(done - 1) * width], current[done * width]]).toEqual([1, 1, 0]);
    expect(env.history(done - 1).at(-1)?.step).toBe(NUM_STEPS - 1);
    expect(env.history(done)).toEqual([]);
  });

  it('a run throws an error of onProgress unchanged', () => {
    const { env } = begin();
    const error = new TypeError('of the caller');
    const onProgress = (): void => {
      throw error;
    };
    expect(() => env.run('random', { onProgress })).toThrow(error);
    expect(env.counters.episodes).toBeGreaterThan(0);
    expect(env.run('random').terminated.every((flag) => flag === 1)).toBe(true);
  });

  it('a run does nothing if it is aborted before the first slice, and completes if aborted after the last slice', () => {
    const { env, result } = begin();
    expectUnchanged(env, result, () => {
      let calls = 0;
      const options = { signal: AbortSignal.abort('early'), onProgress: () => calls++ };
      expect(thrownBy(() => env.run('random', options))).toBe('early');
      const signal = AbortSignal.abort();
      expect(thrownBy(() => env.run('random', { signal }))).toBe(signal.reason);
      expect(calls).toBe(0);
    });
    const controller = new AbortController();
    const onProgress = (done: number, total: number): void => {
      if (done === total) controller.abort();
    };
    const { terminated } = env.run('random', { onProgress, signal: controller.signal });
    expect(terminated.every((flag) => flag === 1)).toBe(true);
  });

  it('an illegal action or belief in the last slice is refused before the first slice runs', () => {
    const { env, result } = begin();
    const sequence = new Uint8Array(N * NUM_STEPS);
    sequence[sequence.length - 1] = 10;
    const beliefs = new Float32Array(N * NUM_STEPS * 3);
    beliefs[beliefs.length - 1] = Number.NaN;
    const onProgress = (): never => expect.unreachable();
    expectUnchanged(env, result, () => {
      expectRefusal(
        () => env.run(sequence, { onProgress }),
        'illegal_action',
        `environment ${N - 1}, step 27`,
      );
      expectRefusal(() => env.run('random', { beliefs, onProgress }), 'bad_belief');
    });
    expect(env.counters).toEqual({ steps: 0, episodes: 0 });
  });

  it('invalid onProgress and signal are refused', () => {
    const { env, result } = begin({ numEnvs: 3 });
    const run = (options: object) => () => env.run('random', options);
    expectUnchanged(env, result, () => {
      for (const value of [null, 1, 'log', {}, []]) {
        expectRefusal(run({ onProgress: value }), 'wrong_type', 'onProgress', 'a function');
        expectRefusal(run({ signal: value }), 'wrong_type', 'signal', 'an AbortSignal');
      }
      expectRefusal(run({ signal: new AbortController() }), 'wrong_type', 'signal', 'an AbortSignal');
      expectRefusal(run({ progress: () => {} }), 'unknown_option', '"onProgress"');
    });
  });

  const CALLS: Record<string, (env: VecEnv) => unknown> = {
    reset: (env) => env.reset({ seed: 1 }),
    step: (env) => env.step(new Uint8Array(N)),
    run: (env) => env.run('random'),
    fork: (env) => env.fork([0]),
    assign: (env) => currentOutputs(env),
    'assign to another': (env) => one.assign(env, ENVS),
    snapshot: (env) => env.snapshot(),
    restore: (env) => env.restore(new Uint8Array(0)),
    history: (env) => env.history(0),
    stateHash: (env) => env.stateHash(),
    beliefTargets: (env) => env.beliefTargets(),
    close: (env) => env.close(),
  };
  it('other calls are refused until the run ends', () => {
    const { env } = begin();
    const onProgress = (): void => {
      for (const call of Object.values(CALLS)) expectRefusal(() => call(env), 'busy', 'onProgress');
    };
    const got = episodeColumns(env, env.run('random', { onProgress }));
    one.reset({ seed: 7 });
    expectEqual(episodeColumns(one, one.run('random')), got);
    expect(env.counters).toEqual({ steps: N * NUM_STEPS, episodes: N });
  });
});

it('an evaluation with an aborted signal plays nothing', async () => {
  const calls: string[] = [];
  const evaluation = evaluate({
    seeds: { first: 0, last: 9 },
    signal: AbortSignal.abort('early'),
    onProgress: () => calls.push('progress'),
  });
  await expect(evaluation).rejects.toBe('early');
  expect(calls).toEqual([]);
});
