/** A device that is lost: every call says so until the environment is opened again, from its last snapshot. */
import { describe, expect, it } from 'vitest';
import { type AsyncVecEnv, openAsyncVecEnv } from '../src/vec-env/async-vec-env.js';
import { asyncVisible, codeOf } from './support/async.js';
import { expectEqual, shown } from './support/bits.js';
import { DeferredBackend } from './support/deferred.js';
import { expectRejection } from './support/refusals.js';

const N = 5;
const ACTIONS = Uint8Array.of(1, 2, 3, 4, 5);
const HERE = [0, 1, 2, 3, 4];

async function begin(options: object = {}) {
  const backend = new DeferredBackend();
  const open = () =>
    openAsyncVecEnv(backend.platform, {
      ...{ numEnvs: N, backend: 'deferred', autoreset: 'same-step' },
      ...options,
    });
  const env = await open();
  await env.reset({ seed: 11 });
  await env.run('random', { stops: [25, 20, 15, 10, 5] });
  return { backend, env, open };
}

const CALLS: Record<string, (env: AsyncVecEnv, other: AsyncVecEnv, bytes: Uint8Array) => Promise<unknown>> = {
  reset: (env) => env.reset({ seed: 1 }),
  step: (env) => env.step(ACTIONS),
  submit: (env) => env.submit(ACTIONS),
  read: (env) => env.read(),
  run: (env) => env.run('random'),
  'run, watched': (env) => env.run('random', { onProgress: () => {} }),
  fork: (env) => env.fork([0]),
  assign: (env, other) => env.assign(other, HERE),
  snapshot: (env) => env.snapshot(),
  restore: (env, _, bytes) => env.restore(bytes),
  history: (env) => env.history(0),
  beliefTargets: (env) => env.beliefTargets(),
  stateHash: (env) => env.stateHash(),
};

describe('after a loss', () => {
  it.each(Object.entries(CALLS))('%s rejects, as often as it is called', async (_, call) => {
    const { backend, env, open } = await begin();
    const other = await open();
    await other.reset({ seed: 1 });
    const bytes = await env.snapshot();
    backend.lose();
    for (let k = 0; k < 2; k++) await expectRejection(call(env, other, bytes), 'device_lost');
    await env.reopen();
    await other.close();
    await env.close();
  });

  it('calls under way and behind it reject, and nothing hangs', async () => {
    const { backend, env } = await begin();
    const calls = [env.step(ACTIONS), env.submit(ACTIONS), env.read(), env.snapshot(), env.run('random')];
    backend.lose();
    for (const call of calls) expect(await codeOf(call)).toBe('device_lost');
    await env.close();
    expect(backend.batches.every(({ closed }) => closed)).toBe(true);
    expect(await codeOf(env.stateHash())).toBe('closed');
    expect(await codeOf(env.reopen())).toBe('closed');
  });

  it.each([{}, { observation: { history: true } }, { layout: 'column-major' }])(
    'the environment goes on from its last snapshot: %j',
    async (options) => {
      const { backend, env, open } = await begin(options);
      await env.snapshot();
      await env.step(ACTIONS);
      const bytes = await env.snapshot();
      const twin = await open();
      const then = await asyncVisible(twin, await twin.restore(bytes));
      // The caller's bytes are not what is kept.
      bytes.fill(0);
      for (let t = 0; t < 5; t++) await env.submit(ACTIONS);
      const { rewards } = await env.read();
      const lost = backend.batches[0];
      lost.lost = true;
      expect(await codeOf(env.submit(ACTIONS))).toBe('device_lost');
      const result = await env.reopen();
      expectEqual(then, await asyncVisible(env, result));
      // The views are those that the caller has.
      expect(result.rewards).toBe(rewards);
      expect([lost.closed, backend.batches.at(-1)!.closed]).toEqual([true, false]);
      for (let t = 0; t < 40; t++) {
        const [one, other] = [await twin.step(ACTIONS), await env.step(ACTIONS)];
        expectEqual(await asyncVisible(twin, one), await asyncVisible(env, other), `step ${t}:`);
      }
      expectEqual(shown(await twin.read()), shown(await env.read()));
    },
  );

  it('without a snapshot there is nothing to go on from', async () => {
    const { backend, env } = await begin();
    backend.lose();
    await expectRejection(env.reopen(), 'no_snapshot', 'snapshot()');
    expect(await codeOf(env.step(ACTIONS))).toBe('device_lost');
    expect(backend.batches).toHaveLength(1);
  });

  it('a device that cannot be had again leaves it lost, and can be asked for again', async () => {
    const { backend, env } = await begin();
    await env.snapshot();
    const hash = await env.stateHash();
    backend.lose();
    backend.reason = 'Expected a device, got none: it is gone. Call again later.';
    await expectRejection(env.reopen(), 'backend_unavailable');
    expect(await codeOf(env.step(ACTIONS))).toBe('device_lost');
    backend.reason = null;
    await env.reopen();
    expect(await env.stateHash()).toEqual(hash);
  });

  it('one that is lost again while it is opened leaves nothing open', async () => {
    const { backend, env } = await begin();
    await env.snapshot();
    backend.lose();
    backend.fragile = true;
    expect(await codeOf(env.reopen())).toBe('device_lost');
    backend.fragile = false;
    expect(backend.batches.map(({ closed }) => closed)).toEqual([false, true]);
    await env.reopen();
    expect(backend.batches.map(({ closed }) => closed)).toEqual([true, true, false]);
  });
});

it('reopened without a loss, it goes back to the snapshot too', async () => {
  const { backend, env } = await begin();
  const bytes = await env.snapshot();
  await env.step(ACTIONS);
  await env.reopen();
  expect(await env.snapshot()).toEqual(bytes);
  expect(backend.batches.map(({ closed }) => closed)).toEqual([true, false]);
});

it('a fork has no snapshot of its own, and outlives its source', async () => {
  const { backend, env } = await begin();
  await env.snapshot();
  const fork = await env.fork([2, 2]);
  await expectRejection(fork.reopen(), 'no_snapshot');
  backend.batches[0].lost = true;
  await fork.step([1, 2]);
  expect(await codeOf(env.step(ACTIONS))).toBe('device_lost');
});

describe('read-backs', () => {
  it('are none for submitted steps, whatever autoreset does', async () => {
    const { backend, env } = await begin();
    const [{ reads }] = backend.batches;
    const before = reads.length;
    for (let t = 0; t < 60; t++) await env.submit(ACTIONS);
    expect(reads.length).toBe(before);
    expect(env.counters.episodes).toBeGreaterThan(N);
    await env.read(['rewards', 'finalScores']);
    expect(reads.slice(before)).toEqual([['rewards', 'finalScores']]);
  });

  it('are of observations alone, where histories are shown', async () => {
    const { backend, env } = await begin({ observation: { history: true } });
    const [{ reads }] = backend.batches;
    const before = reads.length;
    await env.submit(ACTIONS);
    expect(reads.slice(before)).toEqual([['observations', 'finalObservations', 'finalMask']]);
  });
});
