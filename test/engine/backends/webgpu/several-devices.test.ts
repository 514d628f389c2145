/// <reference types="@webgpu/types" />
/** Environments that share a device, and copies between environments on different devices, which are refused. */
import { afterEach, expect, it } from 'vitest';
import { webGpuBackend } from '../../../../src/engine/backends/webgpu/webgpu-backend.js';
import { type AsyncVecEnv, openAsyncVecEnv } from '../../../../src/engine/vec-env/async-vec-env.js';
import type { AsyncVecEnvOptions } from '../../../../src/engine/vec-env/vec-env-options.js';
import { codeOf } from '../../../support/async-envs.js';
import { disguised, entryWith } from '../../../support/gpu.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { expectRejection } from '../../../support/refusals.js';

const N = 20;
const ALL = Uint32Array.from({ length: N }, (_, i) => i);
const ACTIONS = new Uint8Array(N);
const opened: AsyncVecEnv[] = [];

afterEach(async () => {
  for (const env of opened.splice(0)) await env.close();
});

/** Creates a separate backend, and records the devices that it opens. */
function newBackend(disguise: (device: GPUDevice) => GPUDevice = (device) => device) {
  const devices: GPUDevice[] = [];
  const backend = webGpuBackend(() =>
    entryWith((device) => {
      devices.push(device);
      return disguise(device);
    }),
  );
  const open = async (options: Partial<AsyncVecEnvOptions> = {}) => {
    const platform = { backends: [], asyncBackends: [backend] };
    const env = await openAsyncVecEnv(platform, { numEnvs: N, backend: 'webgpu', ...options });
    opened.push(env);
    return env;
  };
  const begin = async (options: Partial<AsyncVecEnvOptions> = {}) => {
    const env = await open(options);
    await env.reset({ seed: opened.length });
    return env;
  };
  return { devices, open, begin };
}

const states = async (env: AsyncVecEnv) => [await env.snapshot(), await env.stateHash()];

/** All calls in which one environment reads the memory of another. */
const COPIES: [string, (env: AsyncVecEnv, source: AsyncVecEnv) => Promise<unknown>][] = [
  ['assign', (env, source) => env.assign(source, ALL)],
  ['run', (env, source) => env.run('random', { from: { source, indices: ALL } })],
];

describeGpu('a device', () => {
  it('is shared by environments that open at the same time', async () => {
    const { devices, open } = newBackend();
    await Promise.all([open(), open(), open({ webgpu: { workgroupSize: 16 } })]);
    expect(devices).toHaveLength(1);
  });

  it('is checked again for the next environment if the check ran out of memory', async () => {
    let message: string | null = 'none left';
    const scope = async () => (message === null ? null : { message });
    const { open } = newBackend((device) => disguised(device, { popErrorScope: scope }));
    expect(await codeOf(open())).toBe('out_of_memory');
    message = null;
    await (await open()).reset({ seed: 1 });
  });
});

describeGpu('a source on another device', () => {
  it.each(COPIES)('is refused by %s, which changes nothing', async (_, copy) => {
    const { devices, begin } = newBackend();
    const env = await begin();
    const source = await begin({ webgpu: { powerPreference: 'low-power' } });
    await source.step(ACTIONS);
    const before = await states(env);
    await expectRejection(copy(env, source), 'not_alike', 'snapshot() and restore(bytes)');
    expect(devices).toHaveLength(2);
    expect(await states(env)).toEqual(before);
    await env.restore(await source.snapshot());
    expect(await env.stateHash()).toEqual(await source.stateHash());
  });

  it.each(COPIES)(
    'is refused by %s with device_lost if the device is lost, and nothing changes',
    async (_, copy) => {
      const { devices, begin } = newBackend();
      const [env, source] = [await begin(), await begin()];
      const before = await states(env);
      devices[0].destroy();
      await env.reopen();
      await expectRejection(copy(env, source), 'device_lost');
      expect(await states(env)).toEqual(before);
    },
  );

  it('cannot be forked if the device is lost', async () => {
    const { devices, begin } = newBackend();
    const source = await begin();
    devices[0].destroy();
    await expectRejection(source.fork([1, 2]), 'device_lost');
  });
});
