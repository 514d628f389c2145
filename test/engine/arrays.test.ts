/**
 * The computations on arrays, by the addon and by WebAssembly, give the results of the TypeScript that computed them before:
 * encoded observations, rewards and students.
 */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { setArrays } from '../../src/engine/arrays.js';
import { loadAddon } from '../../src/engine/backends/addon.js';
import { openWasmArrays } from '../../src/engine/backends/wasm/wasm-arrays.js';
import { arrayDigests } from '../support/array-digests.js';
import { runChild } from '../support/child.js';

const GOLDEN = JSON.parse(readFileSync(new URL('../golden/arrays.json', import.meta.url), 'utf8'));

afterAll(() => setArrays(loadAddon, openWasmArrays));

describe.each([
  ['the addon', loadAddon],
  ['WebAssembly', openWasmArrays],
] as const)('%s', (_, open) => {
  it('gives the golden digests', () => {
    setArrays(open);
    expect(arrayDigests()).toEqual(GOLDEN);
  });
});

it('the addon refuses arrays of another length or type, arrays that overlap, and parts outside the observation', () => {
  const { encode, pushHistory, stackRewards, observe, forward } = loadAddon();
  const f32 = (n: number) => new Float32Array(n);
  const parts = (...numbers: number[]) => Float64Array.from(numbers);
  const [day, past] = [parts(1, 1, 0, 8, 0, 0), parts(36, 35, 0, 0, 0, 0)];
  const shared = f32(100);
  const calls: readonly (() => void)[] = [
    () => encode(2, day, 1, 8, f32(43), 0, null, f32(16), 0, null),
    () => encode(2, day, 1, 8, f32(44), 0, null, f32(15), 0, null),
    () => encode(2, day, 1, 8, f32(44), 1, null, f32(16), 0, null),
    () => encode(2, day, 2, 8, f32(44), 0, null, f32(16), 0, null),
    () => encode(2, day, 1, 7, f32(44), 0, null, f32(14), 0, null),
    () => encode(2, past, 1, 35, f32(44), 0, null, f32(70), 0, null),
    () => encode(2, past, 1, 35, f32(44), 0, f32(167), f32(70), 0, null),
    () => encode(2, day, 1, 8, f32(44), 0, null, f32(16), 0, new Uint8Array(1)),
    () => encode(2, day, 1, 8, shared.subarray(0, 44), 0, null, shared.subarray(43, 59), 0, null),
    () => pushHistory(1, f32(22), 0, f32(83), null),
    () =>
      stackRewards(
        1,
        f32(20) as never,
        new Int8Array(1),
        new Uint8Array(1),
        parts(0),
        parts(0),
        null,
        null,
        null,
      ),
    () => observe(1, new Uint32Array(3), f32(22), new Uint8Array(1), f32(65), f32(76)),
    () => forward(Uint32Array.of(2, 3), 1, f32(8), 1, f32(2), f32(3), f32(9)),
    () => forward(Uint32Array.of(2, 0), 1, f32(0), 1, f32(2), f32(0), f32(6)),
  ];
  for (const numbers of [
    [-1, 1, 0, 0, 0, 0],
    [21, 5, 0, 0, 0, 0],
    [4, 2, 0, 0, 0, 0],
    [71, 36, 0, 0, 0, 0],
    [Number.NaN, 1, 0, 0, 0, 0],
  ])
    expect(() => encode(1, parts(...numbers), 1, 35, f32(22), 0, f32(84), f32(35), 0, null)).toThrow(
      TypeError,
    );
  for (const call of calls) expect(call, String(call)).toThrow(TypeError);
  expect(() => forward(Uint32Array.of(2, 3), 1, f32(9), 1, f32(2), f32(3), f32(9))).not.toThrow();
});

it('where neither is available, an error says why', () => {
  const code = `
    const { createVecEnv } = await import('./dist/engine/node.js');
    const { setArrays } = await import('./dist/engine/arrays.js');
    const { openWasmArrays } = await import('./dist/engine/backends/wasm/wasm-arrays.js');
    setArrays(() => { throw new Error('No addon.'); }, openWasmArrays);
    const env = createVecEnv({ numEnvs: 1, backend: 'reference', observation: { scale: true } });
    try { env.reset({ seed: 1 }); } catch ({ code, message }) { print([code, message]); }`;
  const { output } = runChild(code, {}, ['--jitless']);
  expect(output).toEqual([
    'backend_unavailable',
    expect.stringMatching(
      /^Expected the native addon .*: No addon; it has no WebAssembly, as Node with --jitless\.$/,
    ),
  ]);
});
