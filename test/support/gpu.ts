/// <reference types="@webgpu/types" />
/** Opens WebGPU devices in Node, and replaces parts of devices for tests. */
import { setMaxListeners } from 'node:events';
import type { Batch, BatchOptions } from '../../src/engine/backends/backend.js';
import { type DeviceOptions, toDeviceOptions } from '../../src/engine/backends/device-options.js';
import { findNodeGpu } from '../../src/engine/backends/node.js';
import { allocateOutputs } from '../../src/engine/backends/outputs.js';
import { GpuDevice } from '../../src/engine/backends/webgpu/device.js';
import { SHADER_TEXTS, type ShaderFile } from '../../src/engine/backends/webgpu/generated/shaders.js';
import { Program, type ShaderTexts } from '../../src/engine/backends/webgpu/program.js';
import { WebGpuBatch } from '../../src/engine/backends/webgpu/webgpu-batch.js';
import { WORLD } from './open-batch.js';

const ENTRY_POINTS = [
  'reset',
  'step',
  'run',
  'reset_after_step',
  'save',
  'load',
  'hash',
  'targets',
  'gather',
];

/**
 * Shaders that do nothing and compile in milliseconds, for tests that do not depend on results. A device that runs them is
 * inexact.
 */
export const EMPTY_SHADERS: ShaderTexts = {
  ...(Object.fromEntries(Object.keys(SHADER_TEXTS).map((file) => [file, ''])) as Record<ShaderFile, string>),
  'bindings.wgsl': [
    'override workgroup_size: u32 = 64; override records: bool = false;',
    ...ENTRY_POINTS.map((name) => `@compute @workgroup_size(workgroup_size) fn ${name}() {}`),
  ].join('\n'),
};

/** The default device options. */
export const DEVICE: DeviceOptions = toDeviceOptions();

/** Returns the options of a batch. */
export const optionsFor = (numEnvs: number, changes: Partial<BatchOptions> = {}): BatchOptions => ({
  numEnvs,
  world: WORLD,
  imagination: false,
  threads: 1,
  kernel: null,
  device: DEVICE,
  outputs: allocateOutputs(numEnvs),
  ...changes,
});

/** The original method of Node's GPU object, which `shareDevice` replaces. */
let requestAdapter: GPU['requestAdapter'] | null = null;

/** Returns a GPU object whose adapters open separate devices. */
async function separateDevicesOf(): Promise<GPU> {
  const gpu = await findNodeGpu();
  requestAdapter ??= gpu.requestAdapter.bind(gpu);
  return { requestAdapter } as unknown as GPU;
}

/** Lets the package's own backend use the device that tests share. Call it before the backend opens a device. */
export async function shareDevice(): Promise<void> {
  const [gpu, sharing] = [await findNodeGpu(), await nodeGpuWith()];
  Object.defineProperty(gpu, 'requestAdapter', { value: sharing.requestAdapter });
}

let shared: Promise<GPUDevice> | null = null;

/** Returns the device that tests share, with compiled shaders: compiling takes seconds. */
function sharedDevice(): Promise<GPUDevice> {
  shared ??= separateDevicesOf().then(async (gpu) => {
    // Each backend listens to errors of the device, and from eleven listeners on Node would print a warning. 100 is chosen by
    // hand.
    setMaxListeners(100);
    const { gpu: opened } = await compile(await GpuDevice.open(gpu, undefined));
    return opened.device;
  });
  return shared;
}

/** Opens the shared device. */
export const openDevice = async (): Promise<GpuDevice> => GpuDevice.open(await nodeGpuWith(), undefined);

/** Opens a batch with a given program. @param maxEnvsPerSegment as in `WebGpuBatch`. */
export async function openOnDevice(
  program: Program,
  options: BatchOptions,
  maxEnvsPerSegment: number | null = null,
): Promise<Batch> {
  const exact = true;
  return new WebGpuBatch(program, options, exact, maxEnvsPerSegment).opened();
}

/** Returns shader texts with every occurrence of a piece of one text replaced. @throws Error if the piece is missing. */
export function withReplacedText(
  file: ShaderFile,
  from: string,
  to: string,
  texts: ShaderTexts = SHADER_TEXTS,
): ShaderTexts {
  if (!texts[file].includes(from)) throw new Error(`Expected ${JSON.stringify(from)} in ${file}.`);
  return { ...texts, [file]: texts[file].replaceAll(from, to) };
}

/** Keeps every program alive: a device reuses a compiled shader only while a program uses it. */
const programs: Program[] = [];

/** Compiles shaders, with workgroups of 64 invocations. */
export async function compile(gpu: GpuDevice, texts: ShaderTexts = SHADER_TEXTS): Promise<Program> {
  const program = await Program.compile(gpu, texts, 64);
  programs.push(program);
  return program;
}

/**
 * Returns a GPU object whose adapters give the shared device. `onDevice` can replace each device that they give.
 * @param separateDevices whether the adapters open separate devices, for tests that destroy a device or let it fail.
 */
export async function nodeGpuWith(
  onDevice: (device: GPUDevice) => GPUDevice = (device) => device,
  separateDevices = false,
): Promise<GPU> {
  const gpu = await separateDevicesOf();
  const requestAdapter = async (options?: GPURequestAdapterOptions) => {
    const adapter = await gpu.requestAdapter(options);
    if (adapter === null) return null;
    const { info, limits } = adapter;
    const requestDevice = async (descriptor?: GPUDeviceDescriptor) =>
      onDevice(separateDevices ? await adapter.requestDevice(descriptor) : await sharedDevice());
    return { info, limits, requestDevice, adapter };
  };
  return { requestAdapter } as unknown as GPU;
}

/** Returns a device with some members replaced. */
export function withMembers(
  device: GPUDevice,
  members: Partial<Record<keyof GPUDevice, unknown>>,
): GPUDevice {
  return new Proxy(device, {
    get(target, name) {
      if (name in members) return members[name as keyof GPUDevice];
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
