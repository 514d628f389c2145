/** A lost device: every call is refused until the environment is reopened from its last snapshot. */
import { describe, expect, it } from 'vitest';
import { type AsyncVecEnv, openAsyncVecEnv } from '../../../src/engine/vec-env/async-vec-env.js';
import { asyncEnvColumns, codeOf } from '../../support/async-envs.js';
import { copyOutputs, expectEqual } from '../../support/bits.js';
import { DeferredBackend } from '../../support/deferred.js';
import { expectRejection } from '../../support/refusals.js';

const N = 5;
const ACTIONS = Uint8Array.of(1, 2, 3, 4, 5);
const INDICES = [0, 1, 2, 3, 4];

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
  'run with onProgress': (env) => env.run('random', { onProgress: () => {} }),
  fork: (env) => env.fork([0]),
  assign: (env, other) => env.assign(other, INDICES),
  snapshot: (env) => env.snapshot(),
  restore: (env, _, bytes) => env.restore(bytes),
  history: (env) => env.history(0),
  beliefTargets: (env) => env.beliefTargets(),
  stateHash: (env) => env.stateHash(),
};

describe('after a loss', () => {
  it('every call rejects every time, until reopen', async () => {
    const { backend, env, open } = await begin();
    const other = await open();
    await other.reset({ seed: 1 });
    const bytes = await env.snapshot();
    backend.lose();
    const calls = Object.entries(CALLS);
    for (const [name, call] of [...calls, ...calls])
      expect([name, await codeOf(call(env, other, bytes))]).toEqual([name, 'device_lost']);
    await env.reopen();
    await env.step(ACTIONS);
  });

  it('running and queued calls reject', async () => {
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
    'reopen continues from the last snapshot: %j',
    async (options) => {
      const { backend, env, open } = await begin(options);
      await env.snapshot();
      await env.step(ACTIONS);
      const bytes = await env.snapshot();
      const control = await open();
      const expected = await asyncEnvColumns(control, await control.restore(bytes));
      // The environment keeps its own copy of the bytes.
      bytes.fill(0);
      for (let t = 0; t < 5; t++) await env.submit(ACTIONS);
      const { rewards } = await env.read();
      const lostBatch = backend.batches[0];
      lostBatch.lost = true;
      expect(await codeOf(env.submit(ACTIONS))).toBe('device_lost');
      const result = await env.reopen();
      expectEqual(expected, await asyncEnvColumns(env, result));
      // After `reopen`, calls return the same views as before.
      expect(result.rewards).toBe(rewards);
      expect([lostBatch.closed, backend.batches.at(-1)!.closed]).toEqual([true, false]);
      for (let t = 0; t < 40; t++) {
        const [one, other] = [await control.step(ACTIONS), await env.step(ACTIONS)];
        expectEqual(await asyncEnvColumns(control, one), await asyncEnvColumns(env, other), `step ${t}:`);
      }
      expectEqual(copyOutputs(await control.read()), copyOutputs(await env.read()));
    },
  );

  it('reopen without a snapshot is refused', async () => {
    const { backend, env } = await begin();
    backend.lose();
    await expectRejection(env.reopen(), 'no_snapshot', 'snapshot()');
    expect(await codeOf(env.step(ACTIONS))).toBe('device_lost');
    expect(backend.batches).toHaveLength(1);
  });

  it('a failed reopen leaves the environment lost, and can be tried again', async () => {
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

  it('a loss during reopen closes the new batch, and reopen can be tried again', async () => {
    const { backend, env } = await begin();
    await env.snapshot();
    backend.lose();
    // From now on, the device of each new batch is lost as soon as the batch is opened.
    backend.fragile = true;
    expect(await codeOf(env.reopen())).toBe('device_lost');
    backend.fragile = false;
    expect(backend.batches.map(({ closed }) => closed)).toEqual([false, true]);
    await env.reopen();
    expect(backend.batches.map(({ closed }) => closed)).toEqual([true, true, false]);
  });
});

it('reopen without a loss also returns to the snapshot', async () => {
  const { backend, env } = await begin();
  const bytes = await env.snapshot();
  await env.step(ACTIONS);
  await env.reopen();
  expect(await env.snapshot()).toEqual(bytes);
  expect(backend.batches.map(({ closed }) => closed)).toEqual([true, false]);
});

it('a fork has no snapshot of its own, and continues after its source is lost', async () => {
  const { backend, env } = await begin();
  await env.snapshot();
  const fork = await env.fork([2, 2]);
  await expectRejection(fork.reopen(), 'no_snapshot');
  backend.batches[0].lost = true;
  await fork.step([1, 2]);
  expect(await codeOf(env.step(ACTIONS))).toBe('device_lost');
});

describe('submitted steps', () => {
  it('read no outputs back', async () => {
    const { backend, env } = await begin();
    const [{ reads }] = backend.batches;
    const before = reads.length;
    for (let t = 0; t < 60; t++) await env.submit(ACTIONS);
    expect(reads.length).toBe(before);
    expect(env.counters.episodes).toBeGreaterThan(N);
    await env.read(['rewards', 'finalScores']);
    expect(reads.slice(before)).toEqual([['rewards', 'finalScores']]);
  });

  it('read back only what a history needs, if observations include histories', async () => {
    const { backend, env } = await begin({ observation: { history: true } });
    const [{ reads }] = backend.batches;
    const before = reads.length;
    await env.submit(ACTIONS);
    expect(reads.slice(before)).toEqual([['observations', 'finalObservations', 'finalMask']]);
  });
});
