/// <reference types="@webgpu/types" />
/** Node's devices, and entries to them that let a test in between. */
import type { AsyncBatch, AsyncBatchOptions, DeviceOptions } from '../../src/backends/async-backend.js';
import { allocateOutputs } from '../../src/backends/outputs.js';
import { WebGpuBatch } from '../../src/backends/webgpu/batch.js';
import { GpuDevice } from '../../src/backends/webgpu/device.js';
import { SHADER_TEXTS } from '../../src/backends/webgpu/generated/shaders.js';
import { findNodeGpu } from '../../src/backends/webgpu/node-gpu.js';
import { Program } from '../../src/backends/webgpu/program.js';
import type { ShaderTexts } from '../../src/backends/webgpu/shaders.js';
import { toDeviceOptions } from '../../src/vec-env/device-options.js';
import { WORLD } from './seam.js';

/** As where nothing is asked for. */
export const DEVICE: DeviceOptions = toDeviceOptions();

export const optionsFor = (numEnvs: number, changes: Partial<AsyncBatchOptions> = {}): AsyncBatchOptions => ({
  ...{ numEnvs, world: WORLD, imagination: false, threads: 1, kernel: null, device: DEVICE },
  outputs: allocateOutputs(numEnvs),
  ...changes,
});

/** A device of its own. */
export const openDevice = async (): Promise<GpuDevice> => GpuDevice.open(await findNodeGpu(), undefined);

/** Opens a batch whose parts a test chooses. */
export async function openOnDevice(
  program: Program,
  options: AsyncBatchOptions,
  slotsOfShard: number | null = null,
): Promise<AsyncBatch> {
  return new WebGpuBatch(program, options, true, slotsOfShard).opened();
}

/** The shaders with a piece of one replaced. @throws Error if it is not there. */
export function altered(file: keyof typeof SHADER_TEXTS, from: string, to: string): ShaderTexts {
  const text: string = SHADER_TEXTS[file];
  if (!text.includes(from)) throw new Error(`Expected ${JSON.stringify(from)} in ${file}.`);
  return { ...SHADER_TEXTS, [file]: text.replaceAll(from, to) };
}

export const compile = (gpu: GpuDevice, texts: ShaderTexts = SHADER_TEXTS, workgroupSize = 64) =>
  Program.compile(gpu, texts, workgroupSize);

/** Node's entry to devices, whose devices `onDevice` sees and may replace. */
export async function entryWith(onDevice: (device: GPUDevice) => GPUDevice): Promise<GPU> {
  const gpu = await findNodeGpu();
  const requestAdapter = async (options?: GPURequestAdapterOptions) => {
    const adapter = await gpu.requestAdapter(options);
    if (adapter === null) return null;
    const { info, limits } = adapter;
    const requestDevice = async (descriptor?: GPUDeviceDescriptor) =>
      onDevice(await adapter.requestDevice(descriptor));
    return { info, limits, requestDevice, adapter };
  };
  return { requestAdapter } as unknown as GPU;
}

/** A device with some of its members replaced. */
export function disguised(device: GPUDevice, members: Partial<Record<keyof GPUDevice, unknown>>): GPUDevice {
  return new Proxy(device, {
    get(target, name) {
      if (name in members) return members[name as keyof GPUDevice];
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
