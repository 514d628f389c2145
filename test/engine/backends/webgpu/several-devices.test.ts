/// <reference types="@webgpu/types" />
/** Environments that share a device, and copies between environments on different devices, which are refused. */

import { afterEach, expect, it } from 'vitest';
import { webGpuBackend } from '../../../../src/engine/backends/webgpu/webgpu-backend.js';
import { replayHistory } from '../../../../src/engine/reference/saved-states.js';
import { type AsyncVecEnv, openAsyncVecEnv } from '../../../../src/engine/vec-env/async-vec-env.js';
import type { AsyncVecEnvOptions } from '../../../../src/engine/vec-env/vec-env-options.js';
import { codeOf } from '../../../support/async-envs.js';
import { EMPTY_SHADERS, nodeGpuWith, withMembers, withReplacedText } from '../../../support/gpu.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { expectRejection } from '../../../support/refusals.js';

const N = 20;
const ALL = Uint32Array.from({ length: N }, (_, i) => i);
const ACTIONS = new Uint8Array(N);
/** Shaders whose runs play no step. The code of runs takes half of the time of compilation. */
const WITHOUT_RUNS = withReplacedText('run.wgsl', '  run_env(env, i, begin, stop);\n', '');
const opened: AsyncVecEnv[] = [];

afterEach(async () => {
  for (const env of opened.splice(0)) await env.close();
});

/**
 * Creates a separate backend, and records the devices that it opens.
 * @param ownDevices whether each opened device is a separate device, instead of the one that tests share.
 * @param texts the shaders. Environments accept a device on which these shaders are inexact.
 */
function newBackend({
  wrap = (device: GPUDevice): GPUDevice => device,
  ownDevices = false,
  texts = EMPTY_SHADERS,
} = {}) {
  const devices: GPUDevice[] = [];
  const findGpu = () =>
    nodeGpuWith((device) => {
      devices.push(device);
      return wrap(device);
    }, ownDevices);
  const backend = webGpuBackend(findGpu, { texts });
  const open = async (options: Partial<AsyncVecEnvOptions> = {}) => {
    const platform = { backends: [], asyncBackends: [backend], replayHistory };
    const webgpu = { allowInexact: true, ...options.webgpu };
    const env = await openAsyncVecEnv(platform, { numEnvs: N, backend: 'webgpu', ...options, webgpu });
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

/** Calls in which one environment reads the memory of another. */
const COPIES: ((env: AsyncVecEnv, source: AsyncVecEnv) => Promise<unknown>)[] = [
  (env, source) => env.assign(source, ALL),
  (env, source) => env.run('random', { from: { source, indices: ALL } }),
];

describeGpu('a device', () => {
  it('is shared by environments that open at the same time', async () => {
    const { devices, open } = newBackend();
    const sizes = [64, 64, 16];
    await Promise.all(sizes.map((workgroupSize) => open({ webgpu: { workgroupSize } })));
    expect(devices).toHaveLength(1);
  });

  it('is opened once for environments that open one after the other with the same power preference', async () => {
    const { devices, open } = newBackend();
    for (const powerPreference of ['low-power', 'low-power'] as const) {
      await (await open({ webgpu: { powerPreference } })).close();
    }
    expect(devices).toHaveLength(1);
  });

  it('is checked again for the next environment if the check ran out of memory', async () => {
    let message: string | null = 'none left';
    const { open } = newBackend({
      wrap: (device) =>
        withMembers(device, {
          popErrorScope: () => device.popErrorScope().then(() => (message === null ? null : { message })),
        }),
    });
    expect(await codeOf(open())).toBe('out_of_memory');
    message = null;
    await (await open()).reset({ seed: 1 });
  });
});

describeGpu('a source on another device', () => {
  const { devices, begin } = newBackend({ ownDevices: true, texts: WITHOUT_RUNS });

  it('is refused by assign and run, which change nothing', async () => {
    const env = await begin();
    const source = await begin({ webgpu: { powerPreference: 'low-power' } });
    await source.step(ACTIONS);
    const before = await states(env);
    for (const copy of COPIES) {
      await expectRejection(copy(env, source), 'not_alike', 'snapshot() and restore(bytes)');
      expect(await states(env)).toEqual(before);
    }
    expect(devices).toHaveLength(2);
    await env.restore(await source.snapshot());
    expect(await env.stateHash()).toEqual(await source.stateHash());
  });

  it('is refused with device_lost if its own device was lost, and cannot be forked; refusals change nothing', async () => {
    const [env, source] = [await begin(), await begin()];
    const before = await states(env);
    const numDevices = devices.length;
    devices[0].destroy();
    await env.reopen();
    expect(devices).toHaveLength(numDevices + 1);
    for (const copy of COPIES) {
      await expectRejection(copy(env, source), 'device_lost');
      expect(await states(env)).toEqual(before);
    }
    await expectRejection(source.fork([1, 2]), 'device_lost');
  });
});
