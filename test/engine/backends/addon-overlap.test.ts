/**
 * Calls of the addon with arrays that overlap in memory. An array that a call writes must not overlap another array,
 * because the call would read values that it has overwritten. Arrays that are only read may overlap. No array may lie in a
 * SharedArrayBuffer.
 */
import { describe, expect, it } from 'vitest';
import { type Addon, loadAddon, type NativeBatch } from '../../../src/engine/backends/addon.js';
import type { Outputs } from '../../../src/engine/backends/backend.js';
import { allocateOutputs, OUTPUT_ARRAYS } from '../../../src/engine/backends/outputs.js';
import { NATIVE, reportAbsentEngines } from '../../support/engines.js';
import { type Any, isPlainObject, METHODS, N, NAMES, open, stateOf } from '../../support/fuzz.js';
import { separateBuffers } from '../../support/open-batch.js';
import { forAll, type Random } from '../../support/random.js';

reportAbsentEngines();

type View = Uint8Array | Uint32Array | Float32Array;
/** The place of an array: the number of an argument and the names of properties, or 'out' and the name of an output. */
type Path = readonly (number | string)[];
/** An array of a call, and its place. */
interface Column {
  readonly path: Path;
  readonly view: View;
  readonly written: boolean;
}

/** The arrays of arguments that each call writes, besides the outputs: their paths, or the beginnings of their paths. */
const WRITTEN: Record<string, readonly string[]> = {
  save: ['0'],
  hash: ['0'],
  targets: ['0'],
  run: ['5'],
  replay: ['0,rewards', '0,beliefMae', '0,beliefSkill', '0,hashes'],
};
const isWritten = (name: string, path: Path): boolean =>
  WRITTEN[name]?.some((written) => String(path) === written || String(path).startsWith(`${written},`)) ??
  false;
const CALLS = NAMES.filter((name) => name !== 'close');
const WITH_OUTPUTS = ['reset', 'step', 'stepAll', 'stepEach', 'run', 'gather', 'load'];
const OUTPUTS = Object.keys(OUTPUT_ARRAYS) as (keyof typeof OUTPUT_ARRAYS)[];
const LAYOUT = { columnMajor: false, finalObservations: true };

/** Returns legal arguments of a call. The source of `gather` and `run` is a new batch. */
function argumentsOf(addon: Addon, kernel: string, name: string): unknown[] {
  const args = METHODS[name](open(addon, kernel));
  // The last argument of run is the source of its episodes.
  if (name === 'run') args[7] = { source: open(addon, kernel), indices: new Uint32Array(N) };
  return args;
}

/** Returns the arrays of a call: the outputs, if the call writes them, and the arrays in its arguments. */
function columnsOf(name: string, args: readonly unknown[], outputs: Outputs): Column[] {
  const viewsOf = (value: unknown, path: Path): Column[] => {
    if (ArrayBuffer.isView(value)) return [{ path, view: value as View, written: isWritten(name, path) }];
    if (!isPlainObject(value)) return [];
    return Object.entries(value).flatMap(([key, entry]) => viewsOf(entry, [...path, key]));
  };
  const own = args.flatMap((value, at) => viewsOf(value, [at]));
  if (!WITH_OUTPUTS.includes(name)) return own;
  const out = OUTPUTS.map((key) => ({ path: ['out', key], view: outputs[key] as View, written: true }));
  return [...out, ...own];
}

/** The size of a cache line. Consecutive columns begin at multiples of it, as the arrays of `allocateOutputs` do. */
const LINE_BYTES = 64;
const roundUpToLine = (bytes: number): number => Math.ceil(bytes / LINE_BYTES) * LINE_BYTES;

/** Returns the offsets of consecutive columns, and the end of the last. */
function consecutiveOffsets(columns: readonly Column[]): { offsets: number[]; end: number } {
  let end = 0;
  const offsets = columns.map(({ view }) => {
    const at = end;
    end += roundUpToLine(view.byteLength);
    return at;
  });
  return { offsets, end };
}

/**
 * Returns whether a written column overlaps another, so that the call must be refused. Gaps between outputs count as
 * outputs. Two outputs are not compared.
 */
function mustBeRefused(columns: readonly Column[], offsets: readonly number[]): boolean {
  const ends = columns.map(({ view }, k) => offsets[k] + view.byteLength);
  const outputs = columns.flatMap(({ path: [at] }, k) => (at === 'out' ? [k] : []));
  const low = Math.min(...outputs.map((k) => offsets[k]));
  const high = Math.max(...outputs.map((k) => ends[k]));
  return columns.some(
    (a, i) =>
      !outputs.includes(i) &&
      ((low < ends[i] && offsets[i] < high) ||
        columns.some(
          (b, j) => j !== i && (a.written || b.written) && offsets[j] < ends[i] && offsets[i] < ends[j],
        )),
  );
}

const viewAt = ({ view }: Column, buffer: ArrayBuffer, offset: number): View =>
  new (view.constructor as Any)(buffer, offset, view.length);

/** Returns the arguments with each column replaced by a view. */
function withViews(args: readonly unknown[], columns: readonly Column[], views: readonly View[]): unknown[] {
  const copied = (value: unknown): unknown =>
    isPlainObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copied(entry)]))
      : value;
  const own = args.map(copied);
  columns.forEach(({ path }, k) => {
    if (path[0] === 'out') return;
    const object = path.slice(0, -1).reduce((value, key) => value[key], own as Any);
    object[path[path.length - 1]] = views[k];
  });
  return own;
}

const outputsAt = (outputs: Outputs, columns: readonly Column[], views: readonly View[]): Outputs => {
  const entries = columns.flatMap(({ path: [at, key] }, k) => (at === 'out' ? [[key, views[k]]] : []));
  return { ...outputs, ...Object.fromEntries(entries) };
};

function tryCall(batch: NativeBatch, name: string, args: readonly unknown[]): unknown {
  try {
    return (batch as Any)[name](...args);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return error;
  }
}

const expectSameBytes = (got: readonly View[], expected: readonly View[]): void => {
  got.forEach((view, k) => {
    expect(Buffer.compare(bytesOf(view), bytesOf(expected[k])), `array ${k}`).toBe(0);
  });
};

const bytesOf = (view: View): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/**
 * Calls a method with columns at these offsets of one buffer. If a written column overlaps another, the call must be
 * refused and change nothing. Otherwise the call must do the same as with copies in separate buffers.
 * @returns whether the call was refused for the overlap.
 */
function expectSafe(
  addon: Addon,
  kernel: string,
  name: string,
  fill: (bytes: Uint8Array) => void,
  offsetsOf: (columns: readonly Column[]) => number[],
): boolean {
  const args = argumentsOf(addon, kernel, name);
  const plain = allocateOutputs(N, LAYOUT);
  const columns = columnsOf(name, args, plain);
  const offsets = offsetsOf(columns);
  const buffer = new ArrayBuffer(Math.max(...columns.map(({ view }, k) => offsets[k] + view.byteLength)));
  const views = columns.map((column, k) => viewAt(column, buffer, offsets[k]));
  const batch = open(addon, kernel, outputsAt(separateBuffers(plain), columns, views));
  const memory = new Uint8Array(buffer);
  // The memory holds valid arguments, which `fill` may change.
  columns.forEach(({ path, view }, k) => {
    if (path[0] !== 'out') bytesOf(views[k]).set(bytesOf(view));
  });
  fill(memory);
  const copies = views.map((view) => view.slice());
  const separate = open(addon, kernel, outputsAt(separateBuffers(plain), columns, copies));
  views.forEach((view, k) => {
    bytesOf(copies[k]).set(bytesOf(view));
  });
  const before = [memory.slice(), bytesOf(stateOf(batch))];
  const got = tryCall(batch, name, withViews(args, columns, views));
  if (mustBeRefused(columns, offsets)) {
    expect(got, 'refused').toBeInstanceOf(TypeError);
    expectSameBytes([memory, bytesOf(stateOf(batch))], before);
    return true;
  }
  expect(got).toEqual(tryCall(separate, name, withViews(args, columns, copies)));
  expectSameBytes([stateOf(batch), ...views], [stateOf(separate), ...copies]);
  return false;
}

/** Returns a function that overwrites up to 40 random bytes with numbers from 0 to 3. Both bounds are chosen by hand. */
const someBytes =
  (random: Random) =>
  (bytes: Uint8Array): void => {
    for (let k = random.integer(0, 40); k > 0; k--)
      bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 3);
  };

describe.each(NATIVE)('$name', ({ kernel }) => {
  const addon = loadAddon();

  it.each(CALLS)(
    '%s with arrays at random offsets refuses overlaps with a written array, or works as with separate arrays',
    (name) => {
      forAll(25, (random) => {
        // A larger spread makes fewer arrays overlap. The values are chosen by hand.
        const spread = random.pick([1, 4, 40]);
        const randomOffsets = (columns: readonly Column[]): number[] => {
          const { offsets, end } = consecutiveOffsets(columns);
          return offsets.map((offset, k) => {
            if (columns[k].path[0] === 'out') return offset;
            const unit = columns[k].view.BYTES_PER_ELEMENT;
            return unit * random.integer(0, Math.floor((spread * end) / unit));
          });
        };
        expectSafe(addon, kernel!, name, someBytes(random), randomOffsets);
      });
    },
  );
});

// The checks run before the kernel, so one kernel suffices.
describe.each(NATIVE.slice(0, 1))('the checks of arguments', ({ kernel }) => {
  const addon = loadAddon();
  const columnsOfCall = (name: string) =>
    columnsOf(name, argumentsOf(addon, kernel!, name), allocateOutputs(N, LAYOUT));

  it.each(CALLS)('%s refuses two overlapping arrays if and only if it writes one of them', (name) => {
    const isOutput = columnsOfCall(name).map(({ path }) => path[0] === 'out');
    const count = isOutput.length;
    const outcomes = { refused: 0, accepted: 0 };
    for (let i = 0; i < count; i++) {
      for (let j = 0; j < i; j++) {
        // The next test checks pairs of outputs.
        if (isOutput[i] && isOutput[j]) continue;
        // The second array begins at the first or at the last byte of the first array.
        const overlappingOffsets = (columns: readonly Column[]): number[] => {
          const { offsets } = consecutiveOffsets(columns);
          const unit = columns[i].view.BYTES_PER_ELEMENT;
          const byte = (i + j) % 2 === 0 ? 0 : columns[j].view.byteLength - 1;
          offsets[i] = Math.floor((offsets[j] + byte) / unit) * unit;
          return offsets;
        };
        const refused = expectSafe(addon, kernel!, name, () => {}, overlappingOffsets);
        outcomes[refused ? 'refused' : 'accepted']++;
      }
    }
    expect(outcomes.refused > 0 || count === 1).toBe(true);
  });

  it('outputs that share memory are refused', () => {
    const outputs = allocateOutputs(N, LAYOUT);
    for (const one of OUTPUTS) {
      for (const other of OUTPUTS.filter((name) => name !== one)) {
        const { buffer, byteOffset, byteLength } = outputs[one] as View;
        const [first, second] = [outputs[one], outputs[other]].map((view) => ({ view }) as Column);
        const { length, BYTES_PER_ELEMENT: unit } = second.view;
        const last = Math.floor((byteOffset + byteLength - 1) / unit) * unit;
        const memory = new ArrayBuffer(buffer.byteLength + length * unit);
        const overlapping = separateBuffers(outputs) as Any;
        overlapping[one] = viewAt(first, memory, byteOffset);
        overlapping[other] = viewAt(second, memory, last);
        expect(() => open(addon, kernel!, overlapping), `${one} and ${other}`).toThrow(TypeError);
      }
    }
  });

  it('gather and run refuse a source that shares its outputs with the target; gather accepts the target itself', () => {
    const outputs = allocateOutputs(N);
    const [batch, source] = [open(addon, kernel!, outputs), open(addon, kernel!, outputs)];
    const indices = new Uint32Array(N).fill(3);
    const before = stateOf(batch);
    expect(() => batch.gather(source, indices)).toThrow(TypeError);
    // A run of the heuristic, whose code is 1.
    const run = [1, null, null, null, null, null, null] as const;
    expect(() => batch.run(...run, { source, indices })).toThrow(TypeError);
    expect(stateOf(batch)).toEqual(before);
    batch.gather(batch, indices);
  });

  it.each(CALLS)('%s refuses a SharedArrayBuffer', (name) => {
    const validArguments = argumentsOf(addon, kernel!, name);
    const columns = columnsOf(name, validArguments, allocateOutputs(N)).filter(
      ({ path }) => path[0] !== 'out',
    );
    for (const column of columns) {
      const batch = open(addon, kernel!);
      const before = stateOf(batch);
      const shared = new (column.view.constructor as Any)(new SharedArrayBuffer(column.view.byteLength));
      shared.set(column.view);
      const args = withViews(validArguments, [column], [shared]);
      expect(() => (batch as Any)[name](...args), String(column.path)).toThrow(/not shared/);
      expect(stateOf(batch)).toEqual(before);
    }
  });
});
