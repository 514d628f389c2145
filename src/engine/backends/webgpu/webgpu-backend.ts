/// <reference types="@webgpu/types" />
/**
 * The WebGPU backend. It opens one device per power preference, and compiles and checks the shaders once per device and
 * workgroup size. It keeps the device when the last batch closes: opening takes seconds, and commands open batches one
 * after the other.
 */
import { BackendError } from '../../../shared/errors.js';
import type { Availability, Backend, BatchOptions } from '../backend.js';
import { type DeviceOptions, toDeviceOptions } from '../device-options.js';
import type { CheckedProgram, Proof, WebGpuOverrides } from './checked-program.js';
import { GpuDevice, reasonOf, unavailable } from './device.js';
import type { WebGpuBatch } from './webgpu-batch.js';

const NO_GPU =
  'This platform has no navigator.gpu. Use a platform with WebGPU; browsers offer it only to pages from HTTPS or ' +
  'localhost.';

/**
 * Creates the WebGPU backend.
 * @param findGpu returns the platform's GPU object, or null. Rejects with BackendError `backend_unavailable` if a
 *   requirement is missing. @param overrides replacements, for tests.
 */
export const webGpuBackend = (findGpu: () => Promise<GPU | null>, overrides: WebGpuOverrides = {}): Backend =>
  new WebGpuBackend(findGpu, overrides);

class WebGpuBackend implements Backend {
  readonly name = 'webgpu';
  readonly #findGpu: () => Promise<GPU | null>;
  readonly #overrides: WebGpuOverrides;
  /** Devices by power preference. */
  readonly #devices = new Map<string, Promise<GpuDevice>>();
  /** Programs by device and workgroup size. */
  readonly #programs = new WeakMap<GpuDevice, Map<number, Promise<CheckedProgram>>>();

  constructor(findGpu: () => Promise<GPU | null>, overrides: WebGpuOverrides) {
    this.#findGpu = findGpu;
    this.#overrides = overrides;
  }

  kernels(): Availability[] {
    return [];
  }

  async availability(options?: DeviceOptions): Promise<Availability> {
    try {
      const { adapterName, software } = await this.#deviceFor(options?.powerPreference);
      return { name: this.name, available: true, detail: adapterName, software };
    } catch (error) {
      return { name: this.name, available: false, reason: reasonOf(error) };
    }
  }

  async open(options: BatchOptions): Promise<WebGpuBatch> {
    const { powerPreference, workgroupSize, allowInexact } = options.device ?? toDeviceOptions();
    const device = await this.#deviceFor(powerPreference);
    const program = await this.#programOf(device, workgroupSize);
    if (program.proof.different > 0 && !allowInexact) throw inexact(device, program.proof);
    return program.open(options);
  }

  /** Returns the device of a power preference. Stores the promise at once, so that concurrent openings share a device. */
  #deviceFor(powerPreference?: GPUPowerPreference): Promise<GpuDevice> {
    const key = powerPreference ?? '';
    const device = this.#deviceAfter(this.#devices.get(key), powerPreference);
    this.#devices.set(key, device);
    return device;
  }

  /** Returns the last device; opens one if there is none, it could not be opened, or it is lost. */
  async #deviceAfter(
    last: Promise<GpuDevice> | undefined,
    powerPreference: GPUPowerPreference | undefined,
  ): Promise<GpuDevice> {
    const device = await last?.catch(() => null);
    if (device && !device.isLost) return device;
    return GpuDevice.open(await this.#requireGpu(), powerPreference);
  }

  async #requireGpu(): Promise<GPU> {
    const gpu = await this.#findGpu();
    if (gpu === null) throw unavailable(NO_GPU);
    return gpu;
  }

  /** Returns the program of a device and workgroup size. Compiles and checks it at the first call. */
  #programOf(device: GpuDevice, workgroupSize: number): Promise<CheckedProgram> {
    const programs = this.#programs.get(device) ?? new Map<number, Promise<CheckedProgram>>();
    this.#programs.set(device, programs);
    const program = programs.get(workgroupSize) ?? this.#compileAndCheck(device, workgroupSize);
    programs.set(workgroupSize, program);
    // A failure may be temporary, such as a lack of memory. The next opening tries again.
    program.catch(() => programs.delete(workgroupSize));
    return program;
  }

  /** Imports the shaders here, so that a process without a device never loads them. */
  async #compileAndCheck(device: GpuDevice, workgroupSize: number): Promise<CheckedProgram> {
    const { checkProgram } = await import('./checked-program.js');
    return checkProgram(device, workgroupSize, this.#overrides);
  }
}

const inexact = ({ adapterName }: GpuDevice, { episodes, different }: Proof): BackendError =>
  new BackendError(
    'backend_unavailable',
    `Expected a device whose episodes equal the reference's bit for bit, got ${adapterName}, where ${different} of ` +
      `${episodes} differ. Use another backend, or accept different episodes with webgpu: { allowInexact: true }.`,
  );
