/// <reference types="@webgpu/types" />
/** The slots of a batch in parts that fit into one binding and one dispatch. */
import { STATE_WORDS } from '../../world/fields.js';
import type { GpuDevice } from './device.js';
import { SHOWN_WORDS, TILE, WORD } from './layout.js';
import type { Memory } from './memory.js';
import { USAGE } from './usage.js';

export interface Shard {
  /** The first slot of the batch that it holds, and how many. */
  readonly first: number;
  readonly count: number;
  /** How many it has room for: whole tiles. */
  readonly capacity: number;
  readonly state: GPUBuffer;
  readonly shown: GPUBuffer;
}

/** How many slots of `words` words each fit into a shard. */
export function slotsOfShard({ limits }: GpuDevice, words: number, workgroupSize: number): number {
  const bytes = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  const slots = Math.min(
    Math.floor(bytes / (words * WORD)),
    limits.maxComputeWorkgroupsPerDimension * workgroupSize,
  );
  return Math.max(TILE, slots - (slots % TILE));
}

/** @param most slots of a shard, whole tiles. */
export function openShards(memory: Memory, numEnvs: number, keepsFinal: boolean, most: number): Shard[] {
  const usage = USAGE.storage | USAGE.copySource | USAGE.copyTarget;
  const shownWords = keepsFinal ? SHOWN_WORDS.all : SHOWN_WORDS.withoutFinal;
  return Array.from({ length: Math.ceil(numEnvs / most) }, (_, k) => {
    const first = k * most;
    const count = Math.min(most, numEnvs - first);
    const capacity = Math.ceil(count / TILE) * TILE;
    const state = memory.buffer('states', capacity * STATE_WORDS * WORD, usage);
    const shown = memory.buffer('what slots show', capacity * shownWords * WORD, usage);
    return { first, count, capacity, state, shown };
  });
}

export function destroyShards(shards: readonly Shard[]): void {
  for (const { state, shown } of shards) {
    state.destroy();
    shown.destroy();
  }
}
