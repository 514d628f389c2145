/// <reference types="@webgpu/types" />
/** The WebGPU backend. It opens one device per power preference, and compiles and checks the shaders once per device. */
import { BackendError } from '../../../shared/errors.js';
import { createWorld } from '../../../world/world.js';
import type { AsyncBackend, AsyncBatchOptions } from '../async-backend.js';
import type { Availability } from '../backend.js';
import { GpuDevice, reasonOf, unavailable } from './device.js';
import { type Proof, proveExact } from './exactness-proof.js';
import { SHADER_TEXTS } from './generated/shaders.js';
import { Program } from './program.js';
import type { ShaderTexts } from './shaders.js';
import { WebGpuBatch } from './webgpu-batch.js';

const NO_GPU =
  'This platform has no navigator.gpu. Use a platform with WebGPU; browsers offer it only to pages from HTTPS or ' +
  'localhost.';

/** Replaceable parts, for tests. */
export interface WebGpuParts {
  readonly texts?: ShaderTexts;
  /** The largest number of environments per shard, in whole tiles. */
  readonly envsOfShard?: number;
}

/** A program, and the comparison of its episodes with the reference's. */
interface CheckedProgram {
  readonly program: Program;
  readonly proof: Proof;
}

/**
 * Creates the WebGPU backend.
 * @param findGpu returns the platform's GPU object, or null. Rejects with BackendError `backend_unavailable` if a
 *   requirement is missing.
 */
export const webGpuBackend = (findGpu: () => Promise<GPU | null>, parts: WebGpuParts = {}): AsyncBackend =>
  new WebGpuBackend(findGpu, parts);

class WebGpuBackend implements AsyncBackend {
  readonly name = 'webgpu';
  readonly #findGpu: () => Promise<GPU | null>;
  readonly #parts: WebGpuParts;
  /** Devices by power preference. */
  readonly #devices = new Map<string, Promise<GpuDevice>>();
  /** Programs by workgroup size. */
  readonly #programs = new WeakMap<GpuDevice, Map<number, Promise<CheckedProgram>>>();

  constructor(findGpu: () => Promise<GPU | null>, parts: WebGpuParts) {
    this.#findGpu = findGpu;
    this.#parts = parts;
  }

  kernels(): Availability[] {
    return [];
  }

  async availability(): Promise<Availability> {
    try {
      const { adapterName } = await this.#deviceFor();
      return { name: this.name, available: true, detail: adapterName };
    } catch (error) {
      return { name: this.name, available: false, reason: reasonOf(error) };
    }
  }

  async open(options: AsyncBatchOptions): Promise<WebGpuBatch> {
    const { powerPreference, workgroupSize, allowInexact } = options.device;
    const device = await this.#deviceFor(powerPreference);
    const { program, proof } = await this.#programOf(device, workgroupSize);
    if (proof.different > 0 && !allowInexact) throw inexact(device, proof);
    return this.#openOn(program, options, proof.different === 0);
  }

  /** Returns the device of a power preference. Stores the promise at once, so that concurrent openings share a device. */
  #deviceFor(powerPreference?: GPUPowerPreference): Promise<GpuDevice> {
    const key = powerPreference ?? '';
    const device = this.#deviceAfter(this.#devices.get(key), powerPreference);
    this.#devices.set(key, device);
    return device;
  }

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

  #programOf(device: GpuDevice, workgroupSize: number): Promise<CheckedProgram> {
    const programs = this.#programs.get(device) ?? new Map<number, Promise<CheckedProgram>>();
    this.#programs.set(device, programs);
    const program = programs.get(workgroupSize) ?? this.#compileAndCheck(device, workgroupSize);
    programs.set(workgroupSize, program);
    // A failure may be temporary, such as a lack of memory. The next opening tries again.
    program.catch(() => programs.delete(workgroupSize));
    return program;
  }

  async #compileAndCheck(device: GpuDevice, workgroupSize: number): Promise<CheckedProgram> {
    const program = await Program.compile(device, this.#parts.texts ?? SHADER_TEXTS, workgroupSize);
    const proof = await proveExact((options) => this.#openOn(program, options, true), createWorld());
    return { program, proof };
  }

  #openOn(program: Program, options: AsyncBatchOptions, exact: boolean): Promise<WebGpuBatch> {
    return new WebGpuBatch(program, options, exact, this.#parts.envsOfShard).opened();
  }
}

const inexact = ({ adapterName }: GpuDevice, { episodes, different }: Proof): BackendError =>
  new BackendError(
    'backend_unavailable',
    `Expected a device whose episodes equal the reference's bit for bit, got ${adapterName}, where ${different} of ` +
      `${episodes} differ. Use another backend, or accept different episodes with webgpu: { allowInexact: true }.`,
  );
