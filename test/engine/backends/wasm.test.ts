/** What is particular to WebAssembly: arguments that are staged in parts, and memory. Other tests run on every engine. */
import { expect, it } from 'vitest';
import { allocateTrajectory } from '../../../src/engine/backends/outputs.js';
import { createAsyncVecEnv, createVecEnv } from '../../../src/engine/node.js';
import { runChild } from '../../support/child.js';
import { openBatch } from '../../support/open-batch.js';
import { Random } from '../../support/random.js';
import { anyRows, score } from '../../support/replays.js';

const WASM = { name: 'wasm', backend: 'wasm' };
const REFERENCE = { name: 'reference', backend: 'reference' };

it.each(['row-major', 'column-major'] as const)(
  'runs whose arrays are staged in several parts equal the reference, %s',
  (layout) => {
    const n = 1001;
    const columnMajor = layout === 'column-major';
    const [wasm, reference] = [WASM, REFERENCE].map((engine) => {
      const random = new Random(`parts ${layout}`);
      const opened = openBatch(engine, n, { layout: { columnMajor, finalObservations: true } });
      opened.batch.reset(random.resetAtAnyStep(n));
      const trajectory = allocateTrajectory(n, undefined, columnMajor);
      const request = { ...random.run(n), trajectory };
      expect(opened.batch.run(request)).toBeNull();
      return { ...opened.columns(), ...trajectory };
    });
    expect(wasm).toEqual(reference);
  },
);

it('replays that are staged in several parts equal the reference', () => {
  const rows = anyRows(new Random('rows'), 2500);
  const [wasm, reference] = ['wasm', 'reference'].map((backend) => score(rows, { backend }));
  expect(wasm).toEqual(reference);
});

it('views cannot be transferred: they keep their memory, and calls go on', () => {
  using env = createVecEnv({ numEnvs: 3, backend: 'wasm' });
  using reference = createVecEnv({ numEnvs: 3, backend: 'reference' });
  const { rewards } = env.reset({ seed: 1 });
  try {
    structuredClone(rewards, { transfer: [rewards.buffer as ArrayBuffer] });
  } catch (error) {
    // Runtimes copy the memory or refuse.
    expect((error as Error).name).toMatch(/^(DataCloneError|TypeError)$/);
  }
  expect(rewards).toHaveLength(3);
  reference.reset({ seed: 1 });
  expect(env.step([3, 4, 5]).rewards).toEqual(reference.step([3, 4, 5]).rewards);
  expect(rewards).toBe(env.step([3, 4, 5]).rewards);
});

it('an environment that is opened again goes on in the same memory', async () => {
  await using env = await createAsyncVecEnv({ numEnvs: 20, backend: 'wasm' });
  await env.reset({ seed: 1 });
  const { observations } = await env.step(new Uint8Array(20).fill(3));
  const [expected, hashes] = [observations.slice(), await env.stateHash()];
  await env.snapshot();
  await env.step(new Uint8Array(20));
  expect((await env.reopen()).observations).toBe(observations);
  expect(observations).toEqual(expected);
  expect(await env.stateHash()).toEqual(hashes);
});

it.each([2 ** 24, 11_000_000])('%i environments, more than a memory holds, are refused', (numEnvs) => {
  const open = () => createVecEnv({ numEnvs, backend: 'wasm' });
  expect(open).toThrow(expect.objectContaining({ code: 'out_of_memory', name: 'BackendError' }));
  expect(open).toThrow('4 GiB');
});

it('memory is freed when an environment is closed and its outputs are out of use', () => {
  const { status, output } = runChild(
    `
    import { createVecEnv } from './dist/index.js';
    // 60 MB each, 1.8 GB together.
    for (let k = 0; k < 30; k++) {
      const env = createVecEnv({ numEnvs: 100_000, backend: 'wasm' });
      env.reset({ seed: k });
      env.step(new Uint8Array(100_000));
      env.close();
      gc();
    }
    print(process.resourceUsage().maxRSS / 1024);
  `,
    {},
    ['--expose-gc'],
  );
  expect(status).toBe(0);
  expect(output).toBeLessThan(700);
});
