/// <reference types="@webgpu/types" />
/** The WebGPU backend: a device per preference, its shaders compiled and proven once, and batches on it. */
import { BackendError } from '../../errors.js';
import { createWorld } from '../../world/world.js';
import type { AsyncBackend, AsyncBatchOptions } from '../async-backend.js';
import type { Availability } from '../backend.js';
import { WebGpuBatch } from './batch.js';
import { GpuDevice, reasonOf, unavailable } from './device.js';
import { type Proof, proveExact } from './exact.js';
import { SHADER_TEXTS } from './generated/shaders.js';
import { Program } from './program.js';
import type { ShaderTexts } from './shaders.js';

/** What may be different, for tests. */
export interface WebGpuParts {
  readonly texts?: ShaderTexts;
  /** Slots of a shard, at most: whole tiles. */
  readonly slotsOfShard?: number;
  /** What the device is given for the world's block. */
  readonly words?: Uint32Array;
}

interface Proven {
  readonly program: Program;
  readonly proof: Proof;
}

/**
 * @param findGpu the platform's entry to its devices; null if it has none. @throws BackendError `backend_unavailable` if
 *   it needs something that is missing.
 */
export function webGpuBackend(findGpu: () => Promise<GPU | null>, parts: WebGpuParts = {}): AsyncBackend {
  const { texts = SHADER_TEXTS, slotsOfShard = null } = parts;
  const devices = new Map<string, Promise<GpuDevice>>();
  const programs = new WeakMap<GpuDevice, Map<number, Promise<Proven>>>();

  async function requireGpu(): Promise<GPU> {
    const gpu = await findGpu();
    if (gpu === null) throw unavailable('This platform has no navigator.gpu. Use one that has WebGPU.');
    return gpu;
  }

  async function deviceFor(powerPreference?: GPUPowerPreference): Promise<GpuDevice> {
    const key = powerPreference ?? '';
    const known = await devices.get(key)?.catch(() => null);
    if (known && !known.isLost) return known;
    const opening = requireGpu().then((gpu) => GpuDevice.open(gpu, powerPreference));
    devices.set(key, opening);
    return opening;
  }

  async function prove(device: GpuDevice, workgroupSize: number): Promise<Proven> {
    const program = await Program.compile(device, texts, workgroupSize);
    const proof = await proveExact((options) => openOn(program, options, true), createWorld());
    return { program, proof };
  }

  function programOf(device: GpuDevice, workgroupSize: number): Promise<Proven> {
    const known = programs.get(device) ?? new Map<number, Promise<Proven>>();
    programs.set(device, known);
    const proven = known.get(workgroupSize) ?? prove(device, workgroupSize);
    known.set(workgroupSize, proven);
    return proven;
  }

  function openOn(program: Program, options: AsyncBatchOptions, exact: boolean): Promise<WebGpuBatch> {
    const world = parts.words ? { ...options.world, words: parts.words } : options.world;
    return new WebGpuBatch(program, { ...options, world }, exact, slotsOfShard).opened();
  }

  return {
    name: 'webgpu',
    kernels: () => [],
    async availability(): Promise<Availability> {
      try {
        const { adapterName } = await deviceFor();
        return { name: 'webgpu', available: true, detail: adapterName };
      } catch (error) {
        return { name: 'webgpu', available: false, reason: reasonOf(error) };
      }
    },
    async open(options) {
      const { powerPreference, workgroupSize, allowInexact } = options.device;
      const device = await deviceFor(powerPreference);
      const { program, proof } = await programOf(device, workgroupSize);
      if (proof.different > 0 && !allowInexact) throw inexact(device, proof);
      return openOn(program, options, proof.different === 0);
    },
  };
}

const inexact = ({ adapterName }: GpuDevice, { episodes, different }: Proof): BackendError =>
  new BackendError(
    'backend_unavailable',
    `Expected a device whose episodes are the reference's bit for bit, got ${adapterName}, where ${different} of ` +
      `${episodes} differ. Use another backend, or webgpu: { allowInexact: true } for results that are not this ` +
      "environment's.",
  );
