/**
 * Allocates the outputs of a batch in one ArrayBuffer that JavaScript owns, so that views outlive the batch. Also allocates
 * trajectories.
 */
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS, OBSERVATION_SIZE } from '../../world/fields.js';
import type { Backend, OutputLayout, Outputs, TrajectoryField, TrajectoryOf } from './backend.js';

/** Bytes of a cache line. Views are aligned to it, for wide stores. */
const LINE = 64;
const align = (bytes: number): number => Math.ceil(bytes / LINE) * LINE;

const KINDS = { f32: Float32Array, i32: Int32Array, u8: Uint8Array };

/** Every array of `Outputs`: its element type and its width, the number of elements per environment. */
export const OUTPUT_ARRAYS = {
  observations: ['f32', OBSERVATION_SIZE],
  finalObservations: ['f32', OBSERVATION_SIZE],
  components: ['f32', NUM_COMPONENTS],
  rewards: ['f32', 1],
  finalScores: ['f32', 1],
  beliefMae: ['f32', 1],
  firstHalfMeans: ['f32', 1],
  secondHalfMeans: ['f32', 1],
  episodeReturns: ['f32', 1],
  episodeLengths: ['i32', 1],
  terminated: ['u8', 1],
  finalMask: ['u8', 1],
} as const satisfies Record<string, readonly [keyof typeof KINDS, number]>;

/** The default layout. */
const ROW_MAJOR: OutputLayout = { columnMajor: false, finalObservations: false };

/**
 * Returns the distance between columns of `numEnvs` entries, in entries: for float32 an odd number of cache lines. Columns
 * at a distance of a power of two would compete for the same cache sets, which doubles the time of a step.
 */
function strideOf(numEnvs: number): number {
  const perLine = LINE / Float32Array.BYTES_PER_ELEMENT;
  const lines = Math.ceil(numEnvs / perLine);
  return perLine * (lines | 1);
}

/** Allocates zeroed outputs for `numEnvs` environments. @param place the backend's `placeOutputs`. */
export function allocateOutputs(
  numEnvs: number,
  layout: OutputLayout = ROW_MAJOR,
  place: NonNullable<Backend['placeOutputs']> = (bytes) => ({ buffer: new ArrayBuffer(bytes), offset: 0 }),
): Outputs {
  const columnStride = layout.columnMajor ? strideOf(numEnvs) : 0;
  const names = Object.keys(OUTPUT_ARRAYS) as (keyof typeof OUTPUT_ARRAYS)[];
  const arrays = names
    .filter((name) => name !== 'finalObservations' || layout.finalObservations)
    .map((name) => {
      const [kind, width] = OUTPUT_ARRAYS[name];
      return {
        name,
        kind: KINDS[kind],
        length: width * (width > 1 && columnStride ? columnStride : numEnvs),
      };
    });
  const sizeOf = ({ kind, length }: (typeof arrays)[number]) => align(kind.BYTES_PER_ELEMENT * length);
  const { buffer, offset: first } = place(
    arrays.reduce((sum, array) => sum + sizeOf(array), 0),
    numEnvs,
  );
  let offset = first;
  const views = arrays.map((array) => {
    const view = new array.kind(buffer, offset, array.length);
    offset += sizeOf(array);
    return [array.name, view];
  });
  return { finalObservations: null, ...Object.fromEntries(views), columnStride } as Outputs;
}

/** Copies the outputs of environments `indices[i]` of a batch to environments i of another or the same, from `first` to `end - 1`. */
export function copyOutputs(
  from: Outputs,
  to: Outputs,
  indices: Uint32Array,
  first: number,
  end: number,
): void {
  const names = (Object.keys(OUTPUT_ARRAYS) as (keyof typeof OUTPUT_ARRAYS)[]).filter(
    (name) => to[name] !== null && name !== 'finalMask',
  );
  // Allocates before it writes.
  const copies = names.map((name) => {
    const [, width] = OUTPUT_ARRAYS[name];
    const entries = (outputs: Outputs) => toEntries(outputs[name], width, outputs.columnStride);
    const target = entries(to);
    // A copy, because a batch may gather from itself. An output that the source lacks becomes 0.
    const source = from === to ? { ...target, words: target.words.slice() } : entries(from);
    return { source, target, width };
  });
  for (const { source, target, width } of copies) copyEntries(source, target, indices, first, end, width);
  to.finalMask.fill(0, first, end);
}

/** The entries of an output as words or bytes, and the distances between environments and between an environment's numbers. */
interface Entries {
  readonly words: Int32Array | Uint8Array;
  readonly perEnv: number;
  readonly perNumber: number;
}

/** Returns entries that are easy to copy: floats as words, so that `copyEntries` handles two kinds of arrays only. */
function toEntries(
  array: Float32Array | Int32Array | Uint8Array | null,
  width: number,
  columnStride: number,
): Entries {
  const [perEnv, perNumber] = width > 1 && columnStride > 0 ? [1, columnStride] : [width, 1];
  if (array === null) return { words: new Int32Array(width), perEnv: 0, perNumber: 1 };
  const isBytes = array instanceof Uint8Array;
  const words = isBytes ? array : new Int32Array(array.buffer, array.byteOffset, array.length);
  return { words, perEnv, perNumber };
}

function copyEntries(
  { words: source, perEnv: readEnv, perNumber: readNumber }: Entries,
  { words: target, perEnv: writeEnv, perNumber: writeNumber }: Entries,
  indices: Uint32Array,
  first: number,
  end: number,
  width: number,
): void {
  for (let i = first; i < end; i++) {
    let [read, write] = [indices[i] * readEnv, i * writeEnv];
    for (let k = 0; k < width; k++) {
      target[write] = source[read];
      read += readNumber;
      write += writeNumber;
    }
  }
}

/** Every array of `Trajectory`: its element type and its width, the number of elements per step. */
export const TRAJECTORY_ARRAYS = {
  actions: [Int8Array, 1],
  events: [Int8Array, 1],
  rewards: [Float32Array, 1],
  meters: [Float32Array, NUM_METERS],
  deltas: [Float32Array, NUM_METERS],
  anomalies: [Float32Array, NUM_METERS],
} as const satisfies Record<
  TrajectoryField,
  readonly [Int8ArrayConstructor | Float32ArrayConstructor, number]
>;

/** The names of the arrays of a trajectory. */
export const TRAJECTORY_FIELDS = Object.keys(TRAJECTORY_ARRAYS) as TrajectoryField[];

/**
 * Returns the index of the first number of environment i at step t of a trajectory, and the distance between consecutive
 * numbers. @param columnStride 0 for row-major. @param width numbers per step.
 */
export function entryOf(
  columnStride: number,
  width: number,
  i: number,
  t: number,
): { at: number; stride: number } {
  if (columnStride === 0) return { at: (i * NUM_STEPS + t) * width, stride: 1 };
  return { at: t * width * columnStride + i, stride: columnStride };
}

/** Allocates a trajectory without steps: -1 for actions and events, 0 elsewhere. @param fields default: all. */
export function allocateTrajectory<Field extends TrajectoryField>(
  numEnvs: number,
  fields: readonly Field[] = TRAJECTORY_FIELDS as Field[],
  columnMajor = false,
): TrajectoryOf<Field> {
  const columnStride = columnMajor ? strideOf(numEnvs) : 0;
  const entries = fields.map((name) => {
    const [Kind, width] = TRAJECTORY_ARRAYS[name];
    const array = new Kind((columnStride || numEnvs) * NUM_STEPS * width);
    return [name, array instanceof Int8Array ? array.fill(-1) : array];
  });
  return { ...Object.fromEntries(entries), columnStride };
}
