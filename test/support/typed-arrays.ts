/** Makes `expect` compare typed arrays by their bytes, which is a hundred times as fast as comparing their elements. */
import { expect } from 'vitest';

const bytesOf = (view: ArrayBufferView): Buffer => Buffer.from(view.buffer, view.byteOffset, view.byteLength);

/** Returns true for equal bytes. If they differ, returns undefined, and `expect` compares the elements and reports them. */
function haveEqualBytes(a: unknown, b: unknown): true | undefined {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.constructor !== b.constructor) return undefined;
  return bytesOf(a).equals(bytesOf(b)) || undefined;
}

// Vitest runs this file again before each test file, and keeps the testers of the process: once more would slow all comparisons.
const ADDED = Symbol.for('rhythm-vec: haveEqualBytes');
if (!(ADDED in globalThis)) expect.addEqualityTesters([haveEqualBytes]);
Object.assign(globalThis, { [ADDED]: true });
