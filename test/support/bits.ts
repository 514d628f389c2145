/** Copies the outputs and states of a batch, and compares copies bit by bit. */
import { expect } from 'vitest';
import type {
  Batch,
  Outputs,
  RecordedTrajectory,
  SyncBatch,
  Trajectory,
} from '../../src/engine/backends/backend.js';

type Column = Float32Array | Int32Array | Uint32Array | Uint8Array | Int8Array | BigUint64Array;
export type Columns = Readonly<Record<string, Column>>;

/** Copies all outputs, in row-major order for either layout. */
export function copyOutputs(outputs: Outputs): Columns {
  const arrays = Object.entries(outputs).filter(([, array]) => ArrayBuffer.isView(array)) as [
    string,
    Column,
  ][];
  return Object.fromEntries(arrays.map(([name, array]) => [name, rowMajor(array, outputs)]));
}

/**
 * Copies an output as rows. In a row-major array `columnStride` is 0. Otherwise number k of environment i is at index
 * `k * columnStride + i`.
 */
function rowMajor(array: Column, { columnStride, rewards }: Outputs): Column {
  const numEnvs = rewards.length;
  if (columnStride === 0 || array.length === numEnvs) return array.slice();
  const width = array.length / columnStride;
  const rows = array.slice(0, width * numEnvs);
  for (let at = 0; at < rows.length; at++) {
    rows[at] = array[(at % width) * columnStride + Math.floor(at / width)];
  }
  return rows;
}

/** Copies all outputs, states, state hashes and belief targets. */
export function batchColumns(batch: SyncBatch, outputs: Outputs): Columns {
  batch.read();
  return {
    ...copyOutputs(outputs),
    state: batch.save(),
    hash: batch.stateHash(),
    targets: batch.beliefTargets(),
  };
}

/** Does the same as `batchColumns` for an asynchronous batch. */
export async function asyncBatchColumns(batch: Batch, outputs: Outputs): Promise<Columns> {
  const [, state, hash, targets] = await Promise.all([
    batch.read(),
    batch.save(),
    batch.stateHash(),
    batch.beliefTargets(),
  ]);
  return { ...copyOutputs(outputs), state, hash, targets };
}

/** Removes `finalMask`, which marks the episodes that one call ended. */
export const withoutFinalMask = ({ finalMask: _, ...rest }: Columns): Columns => rest;

/** Sets `finalMask` to zeros, as a copy of episodes does. */
export const withClearedFinalMask = (rows: Columns): Columns => ({
  ...rows,
  finalMask: new Uint8Array(rows.finalMask.length),
});

/** Copies columns, such as those of a trajectory. */
export function copyColumns(columns: Columns | Trajectory): Columns {
  const arrays = Object.entries(columns).filter(([, column]) => ArrayBuffer.isView(column));
  return Object.fromEntries(arrays.map(([name, column]) => [name, column.slice()]));
}

/** Copies a trajectory's columns, in the row-major layout. `columnStride` means the same as in `rowMajor`. */
export function rowsOfTrajectory(trajectory: RecordedTrajectory, numEnvs: number): Columns {
  const { columnStride: stride } = trajectory;
  if (stride === 0) return copyColumns(trajectory as Trajectory);
  const rows = Object.entries(copyColumns(trajectory as Trajectory)).map(([name, columns]) => {
    const width = columns.length / stride;
    const row = columns.slice(0, numEnvs * width);
    for (let at = 0; at < row.length; at++) row[at] = columns[(at % width) * stride + Math.floor(at / width)];
    return [name, row] as const;
  });
  return Object.fromEntries(rows);
}

const bytes = (column: Column): Buffer => Buffer.from(column.buffer, column.byteOffset, column.byteLength);

/** Returns whether both have the same columns with equal bits. `differences` says which are not equal. */
export const equalBits = (expected: Columns, got: Columns): boolean =>
  Object.keys({ ...expected, ...got }).every(
    (name) => name in expected && name in got && bytes(expected[name]).equals(bytes(got[name])),
  );

/** Returns one line for each column that differs: its first difference, and how many entries differ. */
export function differences(expected: Columns, got: Columns): string[] {
  return Object.keys({ ...expected, ...got }).flatMap((name) => {
    const [a, b] = [expected[name], got[name]];
    if (a === undefined || b === undefined || a.length !== b.length) return [`${name}: different sizes`];
    if (bytes(a).equals(bytes(b))) return [];
    const at = Array.from(a.keys()).filter((i) => !Object.is(a[i], b[i]));
    return [`${name}[${at[0]}]: ${a[at[0]]} and ${b[at[0]]}, ${at.length} of ${a.length} differ`];
  });
}

/** Expects equal bits. @param where begins each line of a failure. */
export function expectEqual(expected: Columns, got: Columns, where = ''): void {
  const lines = differences(expected, got).map((line) => `${where} ${line}`);
  // A call of expect takes longer than the comparison of small columns.
  if (lines.length > 0) expect(lines).toEqual([]);
}

/** Creates a column of zeros, of the same type as `like`. */
const empty = (like: Column, length: number): Column =>
  new (like.constructor as new (length: number) => Column)(length);

/** Copies the rows `indices` of every column. Each column has `numEnvs` rows. */
export function rowsOf(columns: Columns, numEnvs: number, indices: ArrayLike<number>): Columns {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => {
      const width = column.length / numEnvs;
      const rows = empty(column, indices.length * width);
      Array.from(indices).forEach((index, i) => {
        rows.set(column.subarray(index * width, (index + 1) * width) as never, i * width);
      });
      return [name, rows];
    }),
  );
}

/** Concatenates the columns of several batches. */
export function concatColumns(parts: readonly Columns[]): Columns {
  return Object.fromEntries(
    Object.keys(parts[0]).map((name) => {
      const length = parts.reduce((sum, part) => sum + part[name].length, 0);
      const whole = empty(parts[0][name], length);
      parts.reduce((offset, part) => {
        whole.set(part[name] as never, offset);
        return offset + part[name].length;
      }, 0);
      return [name, whole];
    }),
  );
}
