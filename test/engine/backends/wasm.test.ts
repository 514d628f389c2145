/** What is particular to WebAssembly: arguments that are staged in parts, and memory. Other tests run on every engine. */
import { describe, expect, it } from 'vitest';
import { allocateTrajectory } from '../../../src/engine/backends/outputs.js';
import { BINARY } from '../../../src/engine/backends/wasm/generated/binary.js';
import { useWasmModule, type WasmModule } from '../../../src/engine/backends/wasm/instance.js';
import { createAsyncVecEnv, createVecEnv } from '../../../src/engine/node.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { runChild } from '../../support/child.js';
import { openBatch } from '../../support/open-batch.js';
import { Random } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { anyRows, score, toColumns } from '../../support/replays.js';

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

it('arrays of subclasses whose constructors take a length alone are staged like others', () => {
  class Codes extends Uint8Array {
    constructor(length: number) {
      super(length);
    }
  }
  class Floats extends Float32Array {
    constructor(length: number) {
      super(length);
    }
  }
  const filled = <T extends Codes | Floats>(array: T, values: ArrayLike<number>): T => {
    array.set(values);
    return array;
  };
  const n = 1001;
  const random = new Random('subclasses');
  const actions = random.bytes(n * NUM_STEPS, 0, 9);
  const { beliefs } = random.beliefs(n * NUM_STEPS, 0.5);
  const columns = toColumns(anyRows(random, 100));
  const [wasm, reference] = ['wasm', 'reference'].map((backend) => {
    const own = backend === 'wasm';
    const codes = (array: Uint8Array) => (own ? filled(new Codes(array.length), array) : array);
    const floats = (array: Float32Array) => (own ? filled(new Floats(array.length), array) : array);
    using env = createVecEnv({ numEnvs: n, backend });
    env.reset({ seed: 5 });
    const run = env.run(codes(actions), { beliefs: floats(beliefs), trajectory: ['actions', 'rewards'] });
    const { histories, beliefs: stated } = columns;
    const rows = { ...columns, histories: codes(histories), beliefs: floats(stated!) };
    return [run, env.stateHash(), score(rows, { backend })];
  });
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
    // 60 MB each, 1.2 GB together.
    for (let k = 0; k < 20; k++) {
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

it('a runtime that compiles nothing is told of useWasmModule, with which it opens environments', () => {
  const { output } = runChild(`
    import { readFileSync } from 'node:fs';
    import { createVecEnv, listBackends, useWasmModule } from './dist/index.js';
    const { Module } = WebAssembly;
    const module = new Module(readFileSync('lib/rhythm.wasm'));
    function disallow() { throw new WebAssembly.CompileError('Code generation disallowed'); }
    WebAssembly.Module = Object.assign(disallow, { exports: Module.exports });
    const { reason } = listBackends().find(({ name }) => name === 'wasm');
    useWasmModule(module);
    print([reason, createVecEnv({ numEnvs: 1, backend: 'wasm' }).backend]);
  `);
  const reason =
    /SIMD: Code generation disallowed\. Edge runtimes need useWasmModule, .*'wasm-unsafe-eval'\.$/;
  expect(output).toEqual([expect.stringMatching(reason), 'wasm']);
});

describe('useWasmModule', () => {
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: Record<'Module' | 'Instance', new (from: object) => WasmModule>;
  };
  const bytes = Buffer.from(BINARY, 'base64');
  const module = new WebAssembly.Module(bytes);
  const empty = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));

  it('takes the module, also after environments were opened', () => {
    useWasmModule(module);
    expect(createVecEnv({ numEnvs: 1, backend: 'wasm' }).backend).toBe('wasm');
  });

  it('says what came in place of the module, and keeps the module before it', () => {
    // @ts-expect-error bytes
    expectRefusal(() => useWasmModule(bytes), 'wrong_type', 'got bytes', 'new WebAssembly.Module(bytes)');
    // @ts-expect-error a name
    expectRefusal(() => useWasmModule('./x.wasm'), 'wrong_type', 'got "./x.wasm"', 'the name of a file');
    // @ts-expect-error a namespace
    expectRefusal(() => useWasmModule({ default: module }), 'wrong_type', 'default export');
    // @ts-expect-error a promise
    expectRefusal(() => useWasmModule(Promise.resolve(module)), 'wrong_type', 'a promise');
    // @ts-expect-error a function
    expectRefusal(() => useWasmModule(() => module), 'wrong_type', 'a function');
    // @ts-expect-error an array
    expectRefusal(() => useWasmModule([module]), 'wrong_type', 'an array');
    expectRefusal(() => useWasmModule(new WebAssembly.Instance(empty)), 'wrong_type', 'an instance');
    expectRefusal(() => useWasmModule(empty), 'wrong_type', 'another module', 'rhythm.wasm');
    expect(createVecEnv({ numEnvs: 1, backend: 'wasm' }).backend).toBe('wasm');
  });
});
