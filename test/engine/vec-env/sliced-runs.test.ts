/** Runs of many environments in slices: progress, aborts between slices, and runs from the episodes of another environment. */
import { describe, expect, it } from 'vitest';
import type { AsyncRunOptions, AsyncVecEnv, RunOptions } from '../../../src/engine/node.js';
import type { RunChoice } from '../../../src/engine/vec-env/runs.js';
import type { AsyncVecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_ACTIONS, NUM_STEPS, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { APIS, asyncEnvColumns, attempt, reasonOf } from '../../support/async-envs.js';
import { expectEqual, rowsOf, withoutFinalMask } from '../../support/bits.js';
import { envIndices } from '../../support/call-sequences.js';
import { detached } from '../../support/fuzz.js';
import { Random } from '../../support/random.js';
import { expectRejection } from '../../support/refusals.js';
import { envColumns } from '../../support/unchanged.js';

/** The number of environments of a slice on a processor. */
const SLICE = 16_384;
/** Two slices, the last not full. */
const LARGE = 17_000;

// Shared by all APIs, because drawing them is slow.
const random = new Random('long calls');
const SEQUENCE = random.bytes(LARGE * NUM_STEPS, 0, NUM_ACTIONS - 1);
const STOPS_OF_ALL = random.stops(LARGE);
const POLICY_SEEDS = random.seeds(LARGE);
/** The beliefs of 1,000 environments, repeated: drawing them for all takes long. */
const BELIEFS = new Float32Array(LARGE * NUM_STEPS * 3);
const drawnBeliefs = random.beliefs(1000 * NUM_STEPS, 0.3).beliefs;
for (let at = 0; at < BELIEFS.length; at += drawnBeliefs.length) BELIEFS.set(drawnBeliefs, at);

/** Returns the arguments of runs of n environments, which continue from random steps. */
const runsOf = (n: number): [choice: RunChoice, options: Omit<RunOptions, 'from'>][] => [
  ['random', { policySeeds: POLICY_SEEDS.subarray(0, n), beliefs: [0.1, 0.5, 0.7] }],
  ['heuristic', { trajectory: true, layout: 'column-major' }],
  [
    SEQUENCE.subarray(0, n * NUM_STEPS),
    { trajectory: ['events', 'meters'], beliefs: BELIEFS.subarray(0, n * NUM_STEPS * 3) },
  ],
];

// Without the slow reference if there is an addon, because the code that makes slices is the same for all backends. The
// backend `deferred` stands in for a device, whose slices are larger: it plays a few environments in one slice.
const [SYNC] = APIS.filter(({ isSync }) => isSync).slice(-1);
const [ASYNC, DEFERRED] = APIS.slice(-2);

const beginOn = async (api: typeof SYNC, options: Partial<AsyncVecEnvOptions> = {}): Promise<AsyncVecEnv> => {
  const env = await api.open({ numEnvs: LARGE, ...options });
  await env.reset({ seed: 7 });
  return env;
};

describe.each([SYNC, ASYNC, DEFERRED])('$name', (api) => {
  const N = api === DEFERRED ? 300 : LARGE;
  const ends = api === DEFERRED ? [N] : [SLICE, N];
  const [ENVS, ACTIONS, STOPS] = [envIndices(N), new Uint8Array(N), STOPS_OF_ALL.subarray(0, N)];
  const begin = (options: Partial<AsyncVecEnvOptions> = {}) => beginOn(api, { numEnvs: N, ...options });

  it.each(runsOf(N))('a run with onProgress has the results of a run without', async (choice, options) => {
    await using env = await begin();
    using control = api.openSync({ numEnvs: N });
    control.reset({ seed: 7 });
    control.run('heuristic', { stops: STOPS });
    const expected = control.run(choice, options);
    const calls: number[][] = [];
    const onProgress = (...call: number[]) => void calls.push(call);
    await env.run('heuristic', { stops: STOPS, onProgress: () => {} });
    const result = await env.run(choice, { ...options, onProgress });
    expectEqual(envColumns(control, expected), await asyncEnvColumns(env, result));
    expect(result.trajectory).toEqual(expected.trajectory);
    expect(calls).toEqual(ends.map((done) => [done, N]));
  });

  it('a run throws an error of onProgress unchanged, and keeps the finished slices', async () => {
    await using env = await begin();
    const error = new TypeError('of the caller');
    const onProgress = (): void => {
      throw error;
    };
    expect(await reasonOf(attempt(() => env.run('random', { onProgress })))).toBe(error);
    expect(env.counters.episodes).toBe(ends[0]);
    expect((await env.run('random')).terminated.every((flag) => flag === 1)).toBe(true);
  });

  it('a run does nothing if it is aborted before the first slice, and completes if aborted after the last', async () => {
    await using env = await begin();
    const before = await asyncEnvColumns(env, await env.assign(env, ENVS));
    const onProgress = (): never => expect.unreachable();
    const signal = AbortSignal.abort('early');
    expect(await reasonOf(attempt(() => env.run('random', { signal, onProgress })))).toBe('early');
    const later = new AbortController();
    if (!api.isSync) {
      const first = env.submit(ACTIONS, { mask: new Uint8Array(N) });
      const run = env.run('random', { signal: later.signal, onProgress });
      later.abort('no more');
      await first;
      expect(await reasonOf(run)).toBe('no more');
    }
    expectEqual(before, await asyncEnvColumns(env, await env.assign(env, ENVS)));
    const last = new AbortController();
    const abortAtEnd = (done: number) => done === N && last.abort();
    const { terminated } = await env.run('random', { onProgress: abortAtEnd, signal: last.signal });
    expect(terminated.every((flag) => flag === 1)).toBe(true);
  });

  it('an illegal action or belief in the last slice is refused before the first slice runs', async () => {
    await using env = await begin();
    const before = await asyncEnvColumns(env, await env.assign(env, ENVS));
    const sequence = new Uint8Array(N * NUM_STEPS).fill(10, N * NUM_STEPS - 1);
    const beliefs = new Float32Array(N * NUM_STEPS * 3).fill(Number.NaN, N * NUM_STEPS * 3 - 1);
    const onProgress = (): never => expect.unreachable();
    const place = `environment ${N - 1}, step 27`;
    await expectRejection(
      attempt(() => env.run(sequence, { onProgress })),
      'illegal_action',
      place,
    );
    await expectRejection(
      attempt(() => env.run('random', { beliefs, onProgress })),
      'bad_belief',
    );
    expectEqual(before, await asyncEnvColumns(env, await env.assign(env, ENVS)));
  });

  it('invalid onProgress and signal are refused', async () => {
    await using env = await begin({ numEnvs: 3 });
    const run = (options: object) => attempt(() => env.run('random', options));
    for (const value of [null, 1, 'log', {}, []]) {
      await expectRejection(run({ onProgress: value }), 'wrong_type', 'onProgress');
      await expectRejection(run({ signal: value }), 'wrong_type', 'signal');
    }
    await expectRejection(run({ signal: new AbortController() }), 'wrong_type', 'signal');
  });

  it('a run copies episodes of an environment without histories to an environment with histories', async () => {
    await using source = await begin();
    // Most episodes are at step 0, because a history is replayed from the steps.
    const few = STOPS.map((stop, i) => (i % 16 === 0 ? stop : 0));
    await source.run('random', { stops: few });
    const observation = { history: true };
    await using env = await api.open({ numEnvs: N, observation });
    await using control = await api.open({ numEnvs: N, observation });
    const indices = ENVS.slice().reverse();
    await control.assign(source, indices);
    const stops = few.map((stop) => Math.min(stop + 2, NUM_STEPS)).reverse();
    expectEqual(
      await asyncEnvColumns(control, await control.run('heuristic', { stops })),
      await asyncEnvColumns(
        env,
        await env.run('heuristic', { from: { source, indices }, stops, onProgress: () => {} }),
      ),
    );
  });

  // The memory of WebAssembly cannot be transferred: test/engine/backends/wasm.test.ts.
  it.skipIf(api.name.startsWith('wasm'))(
    'a run is refused if onProgress transfers a view of its environment or of its source',
    async () => {
      await using source = await begin({ numEnvs: 2 });
      const from = { source, indices: new Uint32Array(N) };
      for (const options of [{}, { from }]) {
        await using env = await begin();
        const transferred = 'from' in options ? source : env;
        const { rewards } = await transferred.reset({ seed: 7 });
        const onProgress = () => void (rewards.length > 0 && detached(rewards));
        await expectRejection(
          attempt(() => env.run('random', { ...options, onProgress })),
          'outputs_detached',
        );
      }
    },
  );
});

describe.each([SYNC, ASYNC])('$name, aborted after the first slice', (api) => {
  const N = LARGE;
  const [ENVS, ACTIONS, ENDS] = [envIndices(N), new Uint8Array(N), new Uint8Array(N).fill(NUM_STEPS - 1)];
  const [ended, unfinished] = [ENVS.subarray(0, SLICE), ENVS.subarray(SLICE)];

  /** Aborts a run after its first slice: in `onProgress`, or in another task, which runs between slices. */
  async function runAborted(env: AsyncVecEnv, options: AsyncRunOptions = {}): Promise<void> {
    const controller = new AbortController();
    const calls: number[] = [];
    const onProgress = (done: number): void => {
      calls.push(done);
      if (api.isSync) controller.abort('enough');
      else setImmediate(() => controller.abort('enough'));
    };
    const run = attempt(() => env.run('random', { ...options, onProgress, signal: controller.signal }));
    expect(await reasonOf(run)).toBe('enough');
    expect(calls).toEqual([SLICE]);
  }

  it.each([{}, { observation: { fields: ['step'], scale: true, history: true } }])(
    'episodes of the slice have ended, the others are unchanged, and a further run ends them: %o',
    async (options) => {
      await using env = await beginOn(api, options);
      await using control = await beginOn(api, options);
      const result = await env.assign(env, ENVS);
      const { counters: _, ...before } = await asyncEnvColumns(env, result);
      await runAborted(env);
      // The views of the earlier result have the current values.
      const { counters, ...after } = await asyncEnvColumns(env, api.isSync ? result : await env.read());
      const complete = await asyncEnvColumns(control, await control.run('random'));
      const { counters: __, ...whole } = complete;
      expectEqual(rowsOf(whole, N, ended), rowsOf(after, N, ended), 'ended:');
      expectEqual(rowsOf(before, N, unfinished), rowsOf(after, N, unfinished), 'unchanged:');
      expect([...counters]).toEqual([SLICE * NUM_STEPS, SLICE]);
      expect((await env.history(SLICE - 1)).at(-1)?.step).toBe(NUM_STEPS - 1);
      expect(await env.history(SLICE)).toEqual([]);
      const again = await asyncEnvColumns(env, await env.run('random'));
      expectEqual(withoutFinalMask(complete), withoutFinalMask(again), 'run again:');
    },
  );

  it.each(['same-step', 'next-step'] as const)(
    'the environment can step, autoreset %s',
    async (autoreset) => {
      await using env = await beginOn(api, { autoreset });
      await runAborted(env, { stops: ENDS });
      for (let t = 0; t < 2; t++) await env.step(ACTIONS);
      // In the played slice, the first step is the 28th of the episode. In next-step mode, the second only resets.
      const stepsOfNext = autoreset === 'same-step' ? 1 : 0;
      const steps = SLICE * (NUM_STEPS + stepsOfNext) + (N - SLICE) * 2;
      expect(env.counters).toEqual({ steps, episodes: SLICE });
      expect([env.seeds[0], env.seeds[N - 1]]).toEqual([7 + N, 7 + N - 1]);
    },
  );

  it('flags in finalMask of episodes that ended in an earlier call are cleared', async () => {
    await using env = await beginOn(api);
    await env.run('random', { stops: ENDS });
    const { finalMask } = await env.step(ACTIONS);
    expect(finalMask.every((flag) => flag === 1)).toBe(true);
    await runAborted(env);
    expect(finalMask.some(Boolean)).toBe(false);
  });

  it('a target of copies that was never reset still needs a reset, but none after a complete run', async () => {
    await using source = await beginOn(api, { numEnvs: 2 });
    await using target = await api.open({ numEnvs: N });
    const options = { from: { source, indices: new Uint32Array(N) }, stops: new Uint8Array(N).fill(3) };
    const step = () => target.step(ACTIONS);
    const wrongSequence = new Uint8Array(N * NUM_STEPS).fill(10);
    await expectRejection(
      attempt(() => target.run(wrongSequence, options)),
      'illegal_action',
    );
    await expectRejection(attempt(step), 'not_reset');
    await runAborted(target, options);
    await expectRejection(attempt(step), 'not_reset');
    await target.run('random', options);
    // The first number of an observation is the step.
    const { observations } = await step();
    expect(new Set(observations.filter((_, at) => at % OBSERVATION_SIZE === 0))).toEqual(new Set([4]));
    expect(new Set(target.seeds)).toEqual(new Set([7]));
    // The first slice of the aborted run; three steps of the run and one after it.
    expect(target.counters.steps).toBe(SLICE * 3 + N * 4);
  });
});

it('the source of a synchronous run is busy in onProgress', async () => {
  await using source = await beginOn(SYNC, { numEnvs: 2 });
  await using target = await beginOn(SYNC);
  const from = { source, indices: new Uint32Array(LARGE) };
  for (const call of [() => source.close(), () => source.reset({ seed: 1 }), () => source.run('random')]) {
    await expectRejection(
      attempt(() => target.run('random', { from, onProgress: () => void call() })),
      'busy',
    );
  }
  expect([target.seeds[SLICE - 1], target.seeds[SLICE]]).toEqual([7, 7 + SLICE]);
});
