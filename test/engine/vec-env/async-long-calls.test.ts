/** Runs of many environments through the asynchronous API: progress, aborts, and other calls in between. */
import { describe, expect, it } from 'vitest';
import type { AsyncRunOptions, AsyncVecEnv } from '../../../src/engine/node.js';
import type { AsyncVecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { API_PAIRS, type ApiPair, asyncEnvColumns, reasonOf } from '../../support/async-envs.js';
import { copyColumns, expectEqual, rowsOf } from '../../support/bits.js';
import { Random } from '../../support/random.js';
import { expectRejection } from '../../support/refusals.js';
import { envColumns } from '../../support/unchanged.js';

/** Without a device, a run with `onProgress` has slices of 16,384 environments. This number gives a full slice and a part. */
const LARGE = 17_000;

async function beginOn(open: ApiPair['open'], options: AsyncVecEnvOptions): Promise<AsyncVecEnv> {
  const env = await open(options);
  await env.reset({ seed: 7 });
  return env;
}

// Leaves out the slow reference if there is an addon, because the code that makes slices is the same for all backends.
describe.each(API_PAIRS.slice(-2))('$name', ({ name, open, openSync }) => {
  /** The number of slices of a run. `deferred` stands in for a device, whose slices have more environments than N. */
  const slices = name === 'deferred' ? 1 : 2;
  const N = slices === 1 ? 300 : LARGE;
  const ENVS = Uint32Array.from({ length: N }, (_, i) => i);
  const STOPS = new Random('asynchronous long calls').stops(N);

  const begin = (): Promise<AsyncVecEnv> => beginOn(open, { numEnvs: N });

  it('a run with onProgress has the results of a run without, and of the synchronous run', async () => {
    const [env, observed] = [await begin(), await begin()];
    const sync = openSync({ numEnvs: N });
    sync.reset({ seed: 7 });
    const calls: number[][] = [];
    const options = {
      stops: STOPS,
      trajectory: true,
      layout: 'column-major' as const,
      beliefs: [0.1, 0.9, 0.4],
    };
    const expected = sync.run('random', options);
    const plain = await env.run('random', options);
    const observedResult = await observed.run('random', {
      ...options,
      onProgress: (...call) => calls.push(call),
    });
    expect(calls).toHaveLength(slices);
    expect(calls.at(-1)).toEqual([N, N]);
    expect(calls.map(([done]) => done)).toEqual([...new Set(calls.flat())].sort((a, b) => a - b));
    for (const [each, result] of [
      [env, plain],
      [observed, observedResult],
    ] as const) {
      expectEqual(envColumns(sync, expected), await asyncEnvColumns(each, result));
      expectEqual(copyColumns(expected.trajectory!), copyColumns(result.trajectory!));
      await each.close();
    }
  });

  it('a run that is aborted before it begins changes nothing, and later calls continue', async () => {
    const env = await begin();
    const hash = await env.stateHash();
    const controller = new AbortController();
    const first = env.submit(new Uint8Array(N), { mask: new Uint8Array(N) });
    const run = env.run('random', { signal: controller.signal });
    const after = env.stateHash();
    controller.abort('no more');
    await first;
    expect(await reasonOf(run)).toBe('no more');
    expect(await after).toEqual(hash);
    await env.close();
  });

  it('an error of onProgress ends the run and is thrown unchanged', async () => {
    const env = await begin();
    const thrown = new Error('of the caller');
    const run = env.run('random', {
      onProgress: () => {
        throw thrown;
      },
    });
    await expect(run).rejects.toBe(thrown);
    await env.reset({ seed: 1 });
    await env.close();
  });

  it('calls that are made in onProgress begin after the run', async () => {
    const env = await begin();
    const sync = openSync({ numEnvs: N });
    sync.reset({ seed: 7 });
    const later: Promise<unknown>[] = [];
    await env.run('heuristic', {
      stops: new Uint8Array(N).fill(9),
      onProgress: () => {
        later.push(env.submit(new Uint8Array(N).fill(4)));
      },
    });
    await Promise.all(later);
    sync.run('heuristic', { stops: new Uint8Array(N).fill(9) });
    for (const _ of later) sync.step(new Uint8Array(N).fill(4));
    expect(await env.stateHash()).toEqual(sync.stateHash());
    await env.close();
  });

  it('a run copies episodes of an environment without histories to an environment with histories', async () => {
    const source = await begin();
    await source.run('random', { stops: STOPS });
    const [env, control] = await Promise.all(
      [1, 2].map(() => open({ numEnvs: N, observation: { history: true } })),
    );
    const indices = ENVS.slice().reverse();
    const expected = await control.assign(source, indices);
    expectEqual(
      await asyncEnvColumns(control, await control.run('heuristic')),
      await asyncEnvColumns(
        env,
        await env.run('heuristic', { from: { source, indices }, onProgress: () => {} }),
      ),
    );
    expect(expected.observations.length).toBe(N * env.observationSpace.shape[0]);
    for (const each of [source, env, control]) await each.close();
  });

  it('a run is rejected if onProgress transfers a view', async () => {
    const env = await begin();
    const { rewards } = await env.read();
    const run = env.run('random', {
      onProgress: () => {
        if (rewards.length > 0) structuredClone(null, { transfer: [rewards.buffer as ArrayBuffer] });
      },
    });
    await expectRejection(run, 'outputs_detached');
    await env.close();
  });
});

// Only the fastest kernel, or the reference if there is no addon: the backend `deferred` runs all in one slice.
it.each(API_PAIRS.slice(-2, -1))(
  '$name: a run that another task aborts has played the first slice and leaves the second unchanged',
  async ({ open }) => {
    const ENVS = Uint32Array.from({ length: LARGE }, (_, i) => i);
    const [env, control, idle] = await Promise.all(
      [1, 2, 3].map(() => beginOn(open, { numEnvs: LARGE, autoreset: 'same-step' })),
    );
    const ended = await asyncEnvColumns(control, await control.run('random'));
    const before = await asyncEnvColumns(idle, await idle.read());
    const controller = new AbortController();
    const progressCalls: number[] = [];
    const options: AsyncRunOptions = {
      signal: controller.signal,
      onProgress: (finished) => {
        progressCalls.push(finished);
        // Waiting tasks run between two slices.
        setImmediate(() => controller.abort('enough'));
      },
    };
    expect(await reasonOf(env.run('random', options))).toBe('enough');
    const [done] = progressCalls;
    expect(progressCalls).toEqual([16_384]);
    const { counters, ...got } = await asyncEnvColumns(env, await env.read());
    const rows = ({ counters: _, ...columns }: typeof ended, from: number, to: number) =>
      rowsOf(columns, LARGE, ENVS.subarray(from, to));
    expectEqual(rows(ended, 0, done), rowsOf(got, LARGE, ENVS.subarray(0, done)));
    expectEqual(rows(before, done, LARGE), rowsOf(got, LARGE, ENVS.subarray(done)));
    expect([...counters]).toEqual([done * NUM_STEPS, done]);
    for (const each of [env, control, idle]) await each.close();
  },
);
