/** Runs of many slots through the asynchronous face: watched, stopped from outside, with others having their turn. */
import { describe, expect, it } from 'vitest';
import type { AsyncRunOptions, AsyncVecEnv } from '../src/async-vec-env.js';
import { NUM_STEPS } from '../src/world/fields.js';
import { asyncVisible, FACES, type Faces, reasonOf } from './support/async.js';
import { copies, expectEqual, rowsOf } from './support/bits.js';
import { Random } from './support/random.js';
import { expectRejection } from './support/refusals.js';
import { visible } from './support/unchanged.js';

/** Two slices, the last one not whole. */
const N = 17_000;
const SLOTS = Uint32Array.from({ length: N }, (_, i) => i);
const random = new Random('asynchronous long calls');
const STOPS = random.stops(N);

async function beginOn(open: Faces['open'], options: object = {}): Promise<AsyncVecEnv> {
  const env = await open({ numEnvs: N, ...options });
  await env.reset({ seed: 7 });
  return env;
}

describe.each(FACES)('$name', ({ name, open, openSync }) => {
  /** A device takes all of them at once. */
  const slices = name === 'deferred' ? 1 : 2;

  const begin = (): Promise<AsyncVecEnv> => beginOn(open);

  it('a watched run is the run that nobody watches, and the synchronous one', async () => {
    const [env, watched] = [await begin(), await begin()];
    const sync = openSync({ numEnvs: N });
    sync.reset({ seed: 7 });
    const calls: number[][] = [];
    const options = { stops: STOPS, trajectory: true, beliefs: [0.1, 0.9, 0.4] };
    const expected = sync.run('random', options);
    const plain = await env.run('random', options);
    const seen = await watched.run('random', { ...options, onProgress: (...call) => calls.push(call) });
    expect(calls).toHaveLength(slices);
    expect(calls.at(-1)).toEqual([N, N]);
    expect(calls.map(([done]) => done)).toEqual([...new Set(calls.flat())].sort((a, b) => a - b));
    for (const [each, result] of [
      [env, plain],
      [watched, seen],
    ] as const) {
      expectEqual(visible(sync, expected), await asyncVisible(each, result));
      expectEqual(copies(expected.trajectory!), copies(result.trajectory!));
      await each.close();
    }
  });

  it('aborted before its turn it moves nothing, and the calls behind it go on', async () => {
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

  it('stopped by its progress it throws what that throws', async () => {
    const env = await begin();
    const thrown = new Error('mine');
    const run = env.run('random', {
      onProgress: () => {
        throw thrown;
      },
    });
    await expect(run).rejects.toBe(thrown);
    await env.reset({ seed: 1 });
    await env.close();
  });

  it('calls from its progress wait until it is over', async () => {
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

  it('with histories, from another that has none, stopped or not', async () => {
    const source = await begin();
    await source.run('random', { stops: STOPS });
    const [env, twin] = await Promise.all(
      [1, 2].map(() => open({ numEnvs: N, observation: { history: true } })),
    );
    const indices = SLOTS.slice().reverse();
    const expected = await twin.assign(source, indices);
    expectEqual(
      await asyncVisible(twin, await twin.run('heuristic')),
      await asyncVisible(
        env,
        await env.run('heuristic', { from: { source, indices }, onProgress: () => {} }),
      ),
    );
    expect(expected.observations.length).toBe(N * env.observationSpace.shape[0]);
    for (const each of [source, env, twin]) await each.close();
  });

  it('views that are transferred in its progress end it', async () => {
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

it.each(FACES.filter(({ name }) => name !== 'deferred'))(
  '$name: aborted from outside, slices that were done have ended and the others have not moved',
  async ({ open }) => {
    const [env, twin, idle] = await Promise.all(
      [1, 2, 3].map(() => beginOn(open, { autoreset: 'same-step' })),
    );
    const ended = await asyncVisible(twin, await twin.run('random'));
    const before = await asyncVisible(idle, await idle.read());
    const controller = new AbortController();
    const reached: number[] = [];
    const options: AsyncRunOptions = {
      signal: controller.signal,
      onProgress: (now) => {
        reached.push(now);
        // Whatever waits for its turn has it between two slices.
        setImmediate(() => controller.abort('enough'));
      },
    };
    expect(await reasonOf(env.run('random', options))).toBe('enough');
    const [done] = reached;
    expect(reached).toEqual([16_384]);
    const { counters, ...got } = await asyncVisible(env, await env.read());
    const rows = ({ counters: _, ...columns }: typeof ended, from: number, to: number) =>
      rowsOf(columns, N, SLOTS.subarray(from, to));
    expectEqual(rows(ended, 0, done), rowsOf(got, N, SLOTS.subarray(0, done)));
    expectEqual(rows(before, done, N), rowsOf(got, N, SLOTS.subarray(done)));
    expect([...counters]).toEqual([done * NUM_STEPS, done]);
    for (const each of [env, twin, idle]) await each.close();
  },
);
