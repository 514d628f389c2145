/** Compiles the shaders for a device, compares their episodes with the reference's, and opens batches. */
import { createWorld } from '../../../world/world.js';
import type { BatchOptions } from '../backend.js';
import type { GpuDevice } from './device.js';
import { type Proof, proveExact } from './exactness-proof.js';
import { SHADER_TEXTS } from './generated/shaders.js';
import { Program } from './program.js';
import type { ShaderTexts } from './shaders.js';
import { WebGpuBatch } from './webgpu-batch.js';

/** Replacements, for tests. */
export interface WebGpuOverrides {
  readonly texts?: ShaderTexts;
  /** The largest number of environments per segment (segment.ts), a multiple of TILE (buffer-layout.ts). */
  readonly maxEnvsPerSegment?: number;
}

/** A program, and the comparison of its episodes with the reference's. */
export interface CheckedProgram {
  readonly proof: Proof;
  /** Opens a batch. @throws as `WebGpuBatch.opened`. */
  open(options: BatchOptions): Promise<WebGpuBatch>;
}

/**
 * Compiles the shaders and compares their episodes with the reference's.
 * @throws BackendError `backend_unavailable` if the device refuses the shaders, or as `WebGpuBatch.opened`.
 */
export async function checkProgram(
  device: GpuDevice,
  workgroupSize: number,
  { texts = SHADER_TEXTS, maxEnvsPerSegment }: WebGpuOverrides,
): Promise<CheckedProgram> {
  const program = await Program.compile(device, texts, workgroupSize);
  const openAs = (options: BatchOptions, exact: boolean): Promise<WebGpuBatch> =>
    new WebGpuBatch(program, options, exact, maxEnvsPerSegment).opened();
  const proof = await proveExact((options) => openAs(options, true), createWorld());
  return { proof, open: (options) => openAs(options, proof.different === 0) };
}
