/// <reference types="@webgpu/types" />
/** Errors of a device, the submissions of a run, and the memory of a closed batch. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Batch, RunRequest } from '../../../../src/engine/backends/backend.js';
import { webGpuBackend } from '../../../../src/engine/backends/webgpu/webgpu-backend.js';
import { STATE_WORDS } from '../../../../src/world/fields.js';
import {
  DEVICE,
  EMPTY_SHADERS,
  nodeGpuWith,
  optionsFor,
  withMembers,
  withReplacedText,
} from '../../../support/gpu.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { WORLD } from '../../../support/open-batch.js';
import { Random } from '../../../support/random.js';

const N = 50;
/** Opens a separate device, instead of the one that tests share. */
const OWN_DEVICE = true;
/** Options of a device that runs `EMPTY_SHADERS`. */
const INEXACT = { ...DEVICE, allowInexact: true };
const HEURISTIC: RunRequest = { policy: { kind: 'heuristic' }, beliefs: null, stops: null, trajectory: null };
const begin = (batch: Batch, n = N) => batch.reset(new Random('begin').reset(n, WORLD));

describe('an error without a device', () => {
  const open = (gpu: unknown) => webGpuBackend(async () => gpu as GPU).open(optionsFor(1));
  const unavailable = (message: RegExp) => ({
    name: 'BackendError',
    code: 'backend_unavailable',
    message: expect.stringMatching(message),
  });

  it('says that navigator.gpu is missing', async () => {
    await expect(open(null)).rejects.toMatchObject(unavailable(/no navigator\.gpu.*HTTPS or localhost/));
  });

  it('says what is needed to get an adapter', async () => {
    await expect(open({ requestAdapter: async () => null })).rejects.toMatchObject(
      unavailable(/No adapter.*driver.*chrome:\/\/gpu/),
    );
  });

  it('names the adapter that refuses to open a device', async () => {
    const requestDevice = () => Promise.reject(new Error('out of devices'));
    const adapter = { info: { vendor: 'acme', device: 'Toaster' }, limits: {}, requestDevice };
    await expect(open({ requestAdapter: async () => adapter })).rejects.toMatchObject(
      unavailable(/Toaster, acme refused to open a device\..*another backend.*out of devices/),
    );
  });

  it('is the reason that availability reports', async () => {
    const backend = webGpuBackend(async () => null);
    expect(await backend.availability()).toMatchObject({
      available: false,
      reason: expect.stringContaining('navigator'),
    });
  });
});

describeGpu('compilation', () => {
  it('reports an invalid shader with its file, line and message', async () => {
    const texts = withReplacedText('grade.wgsl', 'let bounded = clamp01(x);', 'let bounded = clamp02(x);');
    await expect(webGpuBackend(nodeGpuWith, { texts }).open(optionsFor(1))).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: expect.stringMatching(/grade\.wgsl:5: .*clamp02/),
    });
  });

  it('refuses a workgroup above the limit of the device, and names the limit', async () => {
    const device = { ...DEVICE, workgroupSize: 4096 };
    await expect(webGpuBackend(nodeGpuWith).open(optionsFor(1, { device }))).rejects.toMatchObject({
      message: expect.stringMatching(/workgroupSize of at most \d+, the limit of .+, got 4096/),
    });
  });
});

/** Opens a batch on a device of its own, with shaders that do nothing. `devices` has each device that the backend opens. */
async function openOnOwnDevice() {
  const devices: GPUDevice[] = [];
  const backend = webGpuBackend(
    () =>
      nodeGpuWith((device) => {
        devices.push(device);
        return device;
      }, OWN_DEVICE),
    { texts: EMPTY_SHADERS },
  );
  return { devices, backend, batch: await backend.open(optionsFor(N, { device: INEXACT })) };
}

describeGpu('a lost device', () => {
  async function openAndLoseDevice() {
    const { devices, backend, batch } = await openOnOwnDevice();
    begin(batch);
    const errorOfRead = Promise.resolve(batch.read()).then(
      () => null,
      (error: unknown) => error,
    );
    devices[0].destroy();
    await devices[0].lost;
    return { backend, batch, devices, errorOfRead };
  }

  let setup: Awaited<ReturnType<typeof openAndLoseDevice>>;
  beforeAll(async () => {
    setup = await openAndLoseDevice();
  }, 120_000);
  afterAll(() => setup.batch.close());

  it('makes every call reject with the remedy', async () => {
    const { batch } = setup;
    const lost = expect.objectContaining({
      code: 'device_lost',
      message: expect.stringContaining('reopen()'),
    });
    const step = { actions: new Uint8Array(N), beliefs: null, given: null };
    const calls: (() => unknown)[] = [
      () => begin(batch),
      () => batch.submit({ ...step, stepMask: null, resetMask: null, resetSeeds: null }),
      () => batch.gather(batch, new Uint32Array(N)),
      () => batch.load(new Uint32Array(N * STATE_WORDS)),
      () => batch.run(HEURISTIC),
      () => batch.read(),
      () => batch.save(),
      () => batch.save(Uint32Array.of(1)),
      () => batch.stateHash(),
      () => batch.beliefTargets(),
    ];
    for (const call of calls) await expect((async () => call())()).rejects.toEqual(lost);
  });

  it('rejects a read in progress', async () => {
    expect(await setup.errorOfRead).toMatchObject({ code: 'device_lost' });
  });

  it('is replaced for the next batch', async () => {
    const { backend, devices } = setup;
    const batch = await backend.open(optionsFor(N, { device: INEXACT }));
    begin(batch);
    await batch.read();
    expect(devices.length).toBe(2);
    batch.close();
  });
});

describeGpu('an error of a device', () => {
  it('states the requested bytes and their purpose if memory is lacking', async () => {
    const backend = webGpuBackend(() =>
      nodeGpuWith((device) =>
        withMembers(device, {
          popErrorScope: () => device.popErrorScope().then(() => ({ message: 'none left' })),
        }),
      ),
    );
    await expect(backend.open(optionsFor(N))).rejects.toMatchObject({
      code: 'out_of_memory',
      message: expect.stringMatching(/Expected \d+ bytes for .* on .*, got none\. Lower numEnvs/),
    });
  });

  it('rejects the next call if no error scope captures it', async () => {
    const { devices, batch } = await openOnOwnDevice();
    // MAP_READ and MAP_WRITE together are invalid.
    devices[0].createBuffer({ size: 4, usage: 0x3 });
    await devices[0].queue.onSubmittedWorkDone();
    await expect(batch.read()).rejects.toMatchObject({ code: 'device_failed' });
    batch.close();
  });
});

describeGpu('work on a device', () => {
  it('a run is one submission and reads nothing back', async () => {
    const counts = { submissions: 0, maps: 0 };
    const backend = webGpuBackend(() =>
      nodeGpuWith((device) => {
        const submit = device.queue.submit.bind(device.queue);
        const spy = vi.spyOn(device.queue, 'submit').mockImplementation((work) => {
          counts.submissions++;
          return submit(work);
        });
        onTestFinished(() => spy.mockRestore());
        const createBuffer = device.createBuffer.bind(device);
        return withMembers(device, {
          createBuffer: (descriptor: GPUBufferDescriptor) => {
            const buffer = createBuffer(descriptor);
            const mapAsync = buffer.mapAsync.bind(buffer);
            buffer.mapAsync = (...args) => {
              counts.maps++;
              return mapAsync(...args);
            };
            return buffer;
          },
        });
      }),
    );
    const device = { ...DEVICE, maxDispatchMs: 10_000 };
    const batch = await backend.open(optionsFor(N, { device }));
    begin(batch);
    await batch.run(HEURISTIC);
    begin(batch);
    counts.submissions = counts.maps = 0;
    await batch.run(HEURISTIC);
    expect(counts).toEqual({ submissions: 1, maps: 0 });
    await batch.read();
    expect(counts).toEqual({ submissions: 2, maps: 1 });
    batch.close();
  });

  it('closing a batch frees its memory, and a second close does nothing', async () => {
    const buffers = new Set<GPUBuffer>();
    let destroyed = 0;
    const backend = webGpuBackend(() =>
      nodeGpuWith((device) => {
        const createBuffer = device.createBuffer.bind(device);
        return withMembers(device, {
          createBuffer: (descriptor: GPUBufferDescriptor) => {
            const buffer = createBuffer(descriptor);
            const destroy = buffer.destroy.bind(buffer);
            buffer.destroy = () => {
              destroyed++;
              destroy();
            };
            buffers.add(buffer);
            return buffer;
          },
        });
      }),
    );
    const batch = await backend.open(optionsFor(N));
    begin(batch);
    batch.gather(batch, new Uint32Array(N));
    await batch.run(HEURISTIC);
    await batch.read();
    await batch.save();
    batch.close();
    batch.close();
    expect(destroyed).toBe(buffers.size);
  });
});
