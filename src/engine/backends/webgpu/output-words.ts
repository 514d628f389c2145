/** Maps words of the device's memory to outputs. */
import type { OutputName, Outputs } from '../backend.js';
import { OUTPUT_ARRAYS } from '../outputs.js';
import { OUTPUT_OFFSETS } from './buffer-layout.js';
import type { Piece } from './readback.js';
import type { Segment } from './segment.js';

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
