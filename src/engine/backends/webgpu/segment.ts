/// <reference types="@webgpu/types" />
/** Segments: parts of a batch's environments that fit into one binding and one dispatch. */
import { STATE_WORDS } from '../../../world/fields.js';
import { OUTPUT_WORDS, TILE, WORD } from './buffer-layout.js';
import { USAGE } from './buffer-usage.js';
import type { GpuDevice } from './device.js';
import type { Memory } from './device-memory.js';

/** Part of a batch's environments, with their states and outputs. */
export interface Segment {
  /** The index of the first environment within the batch. */
  readonly first: number;
  /** The number of environments. */
  readonly count: number;
  /** `count`, rounded up to whole tiles of TILE environments. */
  readonly capacity: number;
  readonly state: GPUBuffer;
  readonly outputs: GPUBuffer;
}

/**
 * Returns the number of environments that fit into a segment, in whole tiles, at least one.
 * @param words an environment's words in the largest buffer.
 */
export function envsPerSegment({ limits }: GpuDevice, words: number, workgroupSize: number): number {
  const bytes = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  const envs = Math.min(
    Math.floor(bytes / (words * WORD)),
    limits.maxComputeWorkgroupsPerDimension * workgroupSize,
  );
  return Math.max(TILE, envs - (envs % TILE));
}

/** Allocates the segments of a batch. @param maxEnvs the largest number of environments per segment, in whole tiles. */
export function openSegments(
  memory: Memory,
  numEnvs: number,
  keepsFinal: boolean,
  maxEnvs: number,
): Segment[] {
  const usage = USAGE.storage | USAGE.copySource | USAGE.copyTarget;
  const outputWords = keepsFinal ? OUTPUT_WORDS.withFinal : OUTPUT_WORDS.withoutFinal;
  return Array.from({ length: Math.ceil(numEnvs / maxEnvs) }, (_, k) => {
    const first = k * maxEnvs;
    const count = Math.min(maxEnvs, numEnvs - first);
    const capacity = Math.ceil(count / TILE) * TILE;
    const state = memory.allocate('states', capacity * STATE_WORDS * WORD, usage);
    const outputs = memory.allocate('outputs', capacity * outputWords * WORD, usage);
    return { first, count, capacity, state, outputs };
  });
}

/** Frees the buffers of segments. */
export function destroySegments(segments: readonly Segment[]): void {
  for (const { state, outputs } of segments) {
    state.destroy();
    outputs.destroy();
  }
}
