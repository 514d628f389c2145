/** The computations on arrays in WebAssembly, which copies the arrays of a call in and out. */

import type { Arrays } from '../../arrays.js';
import { type Exports, openInstance, placeOutputs, requireSizes } from './instance.js';
import { Stage, type View } from './stage.js';

/** The arguments that a function writes, by their indices. */
const WRITTEN: Readonly<Record<keyof Arrays, readonly number[]>> = {
  encode: [7],
  pushHistory: [3],
  stackRewards: [9, 10, 11, 12, 13, 14],
  observe: [4, 5],
  forward: [5],
};

/** An argument. No function takes integers of 64 bits. */
type Argument = Exclude<View, BigUint64Array> | number | null;

/** The instance of all calls, and the part of its memory that holds arguments. */
let instance: { readonly exports: Exports; readonly stage: Stage } | null = null;

/** Returns an instance whose stage holds this many bytes. */
function requireInstance(bytes: number) {
  if (instance !== null && instance.stage.capacity >= bytes) return instance;
  // It has no batch. Where a batch would have its outputs is room for arguments.
  const opened = openInstance(placeOutputs(bytes, 1).buffer, 1);
  const stage = new Stage({ ...opened, stageBytes: opened.stageBytes + bytes });
  instance = { exports: opened.exports, stage };
  return instance;
}

function call(name: keyof Arrays, args: readonly Argument[]) {
  const sizes = args.map((value) =>
    value !== null && typeof value === 'object' ? value.byteLength + 64 : 0,
  );
  const { exports, stage } = requireInstance(sizes.reduce((sum, size) => sum + size, 0));
  stage.clear();
  const values = args.map((value) => (typeof value === 'number' ? value : stage.put(value)));
  const result = exports[name](...values);
  for (const k of WRITTEN[name]) {
    const array = args[k];
    if (array !== null && typeof array === 'object') array.set(stage.view(array, values[k], array.length));
  }
  return result;
}

/** Returns the functions in WebAssembly, which copy the arrays of a call in and out. @throws Error as `requireSizes`. */
export function openWasmArrays(): Arrays {
  requireSizes();
  const names = Object.keys(WRITTEN) as (keyof Arrays)[];
  return Object.fromEntries(
    names.map((name) => [name, (...args: Argument[]) => call(name, args)]),
  ) as unknown as Arrays;
}
