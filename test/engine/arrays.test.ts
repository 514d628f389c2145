/**
 * The computations on arrays, by the addon and by WebAssembly, give the results of the TypeScript that computed them before:
 * encoded observations, rewards and students.
 */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { openWasmArrays, preferArrays } from '../../src/engine/arrays.js';
import { loadAddon } from '../../src/engine/backends/addon.js';
import { arrayDigests } from '../support/array-digests.js';
import { runChild } from '../support/child.js';

const GOLDEN = JSON.parse(readFileSync(new URL('../golden/arrays.json', import.meta.url), 'utf8'));

afterAll(() => preferArrays(loadAddon));

describe.each([
  ['the addon', loadAddon],
  ['WebAssembly', openWasmArrays],
] as const)('%s', (_, open) => {
  it('gives the golden digests', () => {
    preferArrays(open);
    expect(arrayDigests()).toEqual(GOLDEN);
  });
});

it('where neither is available, an error says why and what to do', () => {
  const code = `
    const { createVecEnv } = await import('./dist/engine/node.js');
    const { preferArrays } = await import('./dist/engine/arrays.js');
    preferArrays(() => { throw new Error('No addon.'); });
    const env = createVecEnv({ numEnvs: 1, backend: 'reference', observation: { scale: true } });
    try { env.reset({ seed: 1 }); } catch ({ code, message }) { print([code, message]); }`;
  const { output } = runChild(code, {}, ['--jitless']);
  expect(output).toEqual([
    'backend_unavailable',
    expect.stringMatching(
      /^Expected the native addon .*: No addon; it has no WebAssembly.*\. Pass .* useWasmModule\.$/,
    ),
  ]);
});
