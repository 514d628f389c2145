/// <reference types="@webgpu/types" />
/** The WebGPU backend: one device per preference, shaders compiled and checked once, batches on the device. */
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
  'This platform has no navigator.gpu. Use one that has WebGPU; a browser has it only in pages that come over HTTPS ' +
  'or from localhost.';

/** Replaceable parts, for tests. */
export interface WebGpuParts {
  readonly texts?: ShaderTexts;
  /** The most environments per shard: whole tiles. */
  readonly envsOfShard?: number;
}

interface Proven {
  readonly program: Program;
  readonly proof: Proof;
}

/**
 * Creates the WebGPU backend.
 * @param findGpu returns the platform's entry to its devices, or null. Rejects with BackendError `backend_unavailable`
 *   if a requirement is missing.
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
  readonly #programs = new WeakMap<GpuDevice, Map<number, Promise<Proven>>>();

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

  /** Stores the promise before awaiting anything, so that concurrent openings share a device. */
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
    const known = await last?.catch(() => null);
    if (known && !known.isLost) return known;
    return GpuDevice.open(await this.#requireGpu(), powerPreference);
  }

  async #requireGpu(): Promise<GPU> {
    const gpu = await this.#findGpu();
    if (gpu === null) throw unavailable(NO_GPU);
    return gpu;
  }

  #programOf(device: GpuDevice, workgroupSize: number): Promise<Proven> {
    const known = this.#programs.get(device) ?? new Map<number, Promise<Proven>>();
    this.#programs.set(device, known);
    const proven = known.get(workgroupSize) ?? this.#prove(device, workgroupSize);
    known.set(workgroupSize, proven);
    // A failure may be temporary, such as a lack of memory. The next opening tries again.
    proven.catch(() => known.delete(workgroupSize));
    return proven;
  }

  async #prove(device: GpuDevice, workgroupSize: number): Promise<Proven> {
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
    `Expected a device whose episodes are the reference's bit for bit, got ${adapterName}, where ${different} of ` +
      `${episodes} differ. Use another backend, or webgpu: { allowInexact: true } for results that are not this ` +
      "environment's.",
  );
