/// <reference types="@webgpu/types" />
/** Only the affected calls fail if memory runs out, if an output is transferred, or if a batch is closed. */
import { expect, it } from 'vitest';
import { webGpuBackend } from '../../../../src/engine/backends/webgpu/webgpu-backend.js';
import { nodeGpuWith, optionsFor, withMembers } from '../../../support/gpu.js';
import { describeGpu } from '../../../support/gpu-suite.js';
import { separateBuffers, WORLD } from '../../../support/open-batch.js';
import { Random } from '../../../support/random.js';

const N = 50;
const MAX_BUFFER_BYTES = 2 ** 20;

/**
 * Creates a backend whose device reports an error for buffers above MAX_BUFFER_BYTES. `large` has those not yet destroyed.
 * `hold()` makes onSubmittedWorkDone wait, and returns a function that ends the wait.
 */
function limitedBackend() {
  const large = new Set<GPUBuffer>();
  let released: Promise<unknown> = Promise.resolve();
  const backend = webGpuBackend(() =>
    nodeGpuWith((device) => {
      const failures: boolean[] = [];
      const createBuffer = (descriptor: GPUBufferDescriptor) => {
        failures.push(descriptor.size > MAX_BUFFER_BYTES);
        const buffer = device.createBuffer(descriptor);
        if (descriptor.size > MAX_BUFFER_BYTES) large.add(buffer);
        const destroy = buffer.destroy.bind(buffer);
        buffer.destroy = () => {
          large.delete(buffer);
          destroy();
        };
        return buffer;
      };
      const popErrorScope = async () => {
        const failed = failures.shift();
        await device.popErrorScope();
        return failed ? { message: 'none left' } : null;
      };
      const queue = new Proxy(device.queue, {
        get(target, name) {
          if (name === 'onSubmittedWorkDone') return () => released.then(() => target.onSubmittedWorkDone());
          const value = Reflect.get(target, name, target) as unknown;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      return withMembers(device, { createBuffer, popErrorScope, queue });
    }),
  );
  const hold = () => {
    let release = () => {};
    released = new Promise<void>((resolve) => {
      release = resolve;
    });
    return release;
  };
  return { backend, large, hold };
}

describeGpu('a batch without enough memory', () => {
  it('is refused and frees its memory, while other batches continue', async () => {
    const { backend, large, hold } = limitedBackend();
    const batch = await backend.open(optionsFor(N));
    batch.reset(new Random('begin').reset(N, WORLD));
    const release = hold();
    // An environment has more than 64 bytes of outputs, so this batch needs a buffer above the limit.
    const opening = backend.open(optionsFor(MAX_BUFFER_BYTES / 64));
    const refused = expect(opening).rejects.toMatchObject({ code: 'out_of_memory' });
    // The refused batch allocates its buffers during these reads. Their number is chosen by hand.
    for (let k = 0; k < 20; k++) await batch.read();
    expect(large.size).toBeGreaterThan(0);
    release();
    await refused;
    expect(large.size).toBe(0);
    await batch.read();
    batch.close();
  });
});

describeGpu('a read during which an output is transferred', () => {
  it('rejects, and later calls succeed', async () => {
    const outputs = separateBuffers(optionsFor(N).outputs);
    const { backend } = limitedBackend();
    const batch = await backend.open(optionsFor(N, { outputs }));
    batch.reset(new Random('begin').reset(N, WORLD));
    const reading = batch.read();
    const memory = outputs.observations.buffer as ArrayBuffer;
    structuredClone(memory, { transfer: [memory] });
    await expect(reading).rejects.toThrow(TypeError);
    await batch.read(['episodeLengths']);
    await batch.stateHash();
    batch.close();
  });
});

describeGpu('a batch that is closed while it is read', () => {
  it('rejects its pending and later calls, and no other call on the device', async () => {
    const backend = webGpuBackend(() => nodeGpuWith((device) => device));
    const [closed, other] = [await backend.open(optionsFor(N)), await backend.open(optionsFor(N))];
    for (const batch of [closed, other]) batch.reset(new Random('closed').reset(N, WORLD));
    const reads = [
      closed.read(),
      closed.save(),
      closed.save(Uint32Array.of(1)),
      closed.stateHash(),
      closed.beliefTargets(),
    ];
    closed.close();
    const run = closed.run({ policy: { kind: 'heuristic' }, beliefs: null, stops: null, trajectory: null });
    for (const call of [...reads, run]) await expect(call).rejects.toMatchObject({ code: 'closed' });
    await other.finished?.();
    await other.read();
    expect((await other.save()).length).toBeGreaterThan(N);
    other.close();
  });
});
