/// <reference types="@webgpu/types" />
/**
 * Segments: parts of a batch's environments that fit into one binding and one dispatch. Maps words of their memory to outputs and
 * trajectories.
 */

import { STATE_WORDS } from '../../../world/fields.js';
import type { OutputName, Outputs, RecordedTrajectory } from '../backend.js';
import { OUTPUT_ARRAYS, TRAJECTORY_FIELDS } from '../outputs.js';
import {
  type Memory,
  OUTPUT_OFFSETS,
  OUTPUT_WORDS,
  RECORDED,
  RECORDED_ARRAYS,
  TILE,
  USAGE,
  WORD,
} from './buffer-layout.js';
import type { GpuDevice } from './device.js';
import type { Piece, TakeRows } from './transfers.js';

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

type Output = Float32Array | Int32Array | Uint8Array;

/** Returns the pieces to read for the outputs named in `which`, or for all. */
export function piecesOf(
  segments: readonly Segment[],
  outputs: Outputs,
  which?: readonly OutputName[],
): Piece[] {
  const names = (which ?? Object.keys(OUTPUT_ARRAYS)) as OutputName[];
  return names.flatMap((name) => {
    const array = outputs[name];
    if (array === null) return [];
    return segments.flatMap((segment) => piecesOfSegment(segment, name, array, outputs.columnStride));
  });
}

/** Returns the pieces of an output that a segment holds: its rows, or a part of each column. */
function piecesOfSegment(segment: Segment, name: OutputName, array: Output, columnStride: number): Piece[] {
  const width = OUTPUT_ARRAYS[name][1];
  const { outputs: buffer, first, count, capacity } = segment;
  const begin = OUTPUT_OFFSETS[name] * capacity;
  if (columnStride === 0 || width === 1) {
    return [{ buffer, first: begin, count: count * width, take: writeInto(array, first * width) }];
  }
  return Array.from({ length: width }, (_, k) => ({
    buffer,
    first: begin + k * capacity,
    count,
    take: writeInto(array, k * columnStride + first),
  }));
}

/**
 * Returns a function that writes words to an array from element `offset` on: their values to a byte array, their bits to other
 * arrays.
 */
function writeInto(array: Output, offset: number): Piece['take'] {
  if (array instanceof Uint8Array) {
    return (words, from) => {
      for (let i = 0; i < words.length; i++) array[offset + from + i] = words[i];
    };
  }
  const bits = new Uint32Array(array.buffer, array.byteOffset, array.length);
  return (words, from) => bits.set(words, offset + from);
}

/**
 * Returns a function that writes the results of a launch (launcher.ts) to a trajectory. The results are an array for each
 * field, one after the other. Each array has a row for each environment.
 */
export function putTrajectory(trajectory: RecordedTrajectory): TakeRows {
  return (rows, first, count) => {
    for (const name of TRAJECTORY_FIELDS) {
      const array = trajectory[name];
      if (array === undefined) continue;
      const [, width] = RECORDED_ARRAYS[name];
      const begin = rows.byteOffset + RECORDED[name] * count * WORD;
      const source =
        array instanceof Int8Array
          ? new Int8Array(rows.buffer, begin, count * width)
          : new Float32Array(rows.buffer, begin, count * width);
      // Row-major: the rows of consecutive environments are adjacent.
      if (trajectory.columnStride === 0) array.set(source, first * width);
      else putColumns(array, trajectory.columnStride, source, first, count);
    }
  };
}

/** Writes the rows of environments from `first` on to columns that are `stride` elements apart. */
function putColumns(
  columns: Int8Array | Float32Array,
  stride: number,
  rows: Int8Array | Float32Array,
  first: number,
  count: number,
): void {
  const width = rows.length / count;
  for (let k = 0; k < width; k++) {
    for (let i = 0; i < count; i++) columns[k * stride + first + i] = rows[i * width + k];
  }
}
