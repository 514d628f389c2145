/** The package's types need only ES2022: neither the types of Node or a browser, nor `skipLibCheck`. Names are suggested. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { POLICY_NAMES } from '../../src/agents/policies/fixed-policies.js';
import { STEPPED_NAMES } from '../../src/agents/policies/stepped-policies.js';
import { NODE } from '../../src/engine/backends/node.js';
import { CONDITIONS, CUSTOM } from '../../src/world/conditions.js';
import { GRADER_NAMES } from '../../src/world/fields.js';
import { PROFILE_CHOICES } from '../../src/world/resolve-names.js';
import { Consumer, type Example } from '../support/examples.js';

const NODE_PROGRAM = `
import { createVecEnv, evaluate, type RunOptions } from 'rhythm-vec';

using env = createVecEnv({ numEnvs: 2 });
env.reset({ seed: 1 });
const options: RunOptions = { stops: [3, 4] };
const scores: Float32Array = env.run('random', options).finalScores;
export const rows = await evaluate({ policies: ['random'] }).then((evaluation) => evaluation.rows);
export { scores };
`;
const UNDEFINED_OPTIONS = `
import { createVecEnv, evaluate } from 'rhythm-vec';

createVecEnv({ numEnvs: 1, backend: undefined, grader: undefined }).run('random', { beliefs: undefined, onProgress: undefined });
await evaluate({ policies: undefined, onStart: undefined});
`;
const SIGNAL_PROGRAM = `
import { createVecEnv } from 'rhythm-vec';

const { signal } = new AbortController();
createVecEnv({ numEnvs: 1 }).run('random', { signal });
`;
const BROWSER_PROGRAM = `
import { createAsyncVecEnv, createVecEnv, listAsyncBackends, type AsyncVecEnv, type Device } from 'rhythm-vec/browser';

await using env: AsyncVecEnv = await createAsyncVecEnv({ numEnvs: 2, webgpu: { workgroupSize: 128 } });
await env.reset({ seed: 1 });
await env.submit([0, 1], { beliefs: [0.5, 0.5, 0.5, NaN, NaN, NaN] });
const { rewards } = await env.read(['rewards', 'finalMask']);
const { signal } = new AbortController();
export const scores: Float32Array = (await env.run('random', { signal })).finalScores;
export const device: Device | null = env.device;
export const names: string[] = (await listAsyncBackends()).map(({ name }) => name);
using sync = createVecEnv({ numEnvs: 2 });
sync.restore(await env.snapshot());
export { rewards };
`;
const MODULE_PROGRAM = `
import { useWasmModule } from 'rhythm-vec/env';
import wasm from 'rhythm-vec/rhythm.wasm';

useWasmModule(wasm);
useWasmModule(new WebAssembly.Module(new Uint8Array(8)));
// @ts-expect-error bytes
useWasmModule(new ArrayBuffer(8));
`;
const UNKNOWN_OUTPUT = `
import { createAsyncVecEnv } from 'rhythm-vec/browser';

const env = await createAsyncVecEnv({ numEnvs: 1 });
await env.read(['reward']);
`;
const NODE_ONLY = `
import { evaluate } from 'rhythm-vec';

export { evaluate };
`;
const program = (name: string, code: string): Example => ({ name, code, prints: '' });
const compile = (options: object, ...examples: Example[]): void =>
  new Consumer(examples, { skipLibCheck: false, ...options }).remove();

/** Returns a program that imports a subpath of the package. */
const importOf = (subpath: string): Example =>
  program(subpath, `export type Names = keyof typeof import('${subpath.replace('.', 'rhythm-vec')}');\n`);

/** Returns a program that compiles if the known names of a type are exactly these. */
const namesProgram = (type: string, names: readonly string[]): string => `
import type { BackendName, EvaluateOptions, PolicyName, VecEnvOptions } from 'rhythm-vec';
type Known<Name> = Name extends string ? (string extends Name ? never : Name) : never;
const names: Record<Known<${type}>, true> = ${JSON.stringify(Object.fromEntries(names.map((name) => [name, true])))};
const others: { backend: BackendName; policy: PolicyName; options: VecEnvOptions & EvaluateOptions } = {
  backend: 'mine',
  policy: 'llm:mine',
  options: { numEnvs: 1, kernel: 'mine', grader: 'mine', profiles: 'mine', policies: ['mine'] },
};
export { names, others };
`;
const NAMES: Record<string, readonly string[]> = {
  'VecEnvOptions["backend"]': ['auto', ...NODE.backends.map(({ name }) => name)],
  BackendName: ['auto', ...NODE.asyncBackends.map(({ name }) => name)],
  'VecEnvOptions["kernel"]': readdirSync(new URL('../../native', import.meta.url)).flatMap(
    (file) => /^kernel_(\w+)\.cc$/.exec(file)?.slice(1) ?? [],
  ),
  'VecEnvOptions["grader"]': GRADER_NAMES,
  'VecEnvOptions["profiles"]': PROFILE_CHOICES,
  PolicyName: [...POLICY_NAMES, ...STEPPED_NAMES],
  'NonNullable<EvaluateOptions["conditions"]>[number]': [...CONDITIONS.map(({ name }) => name), CUSTOM],
};
const namesPrograms = (change: (names: readonly string[]) => readonly string[]): Example[] =>
  Object.entries(NAMES).map(([type, names]) => program(type, namesProgram(type, change(names))));
const BROWSER = { lib: ['ES2022', 'DOM'], types: [] };

describe('a strict consumer compiles', () => {
  it('every subpath, options that are undefined, and the names of the tables, with ES2022 alone', () => {
    const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const subpaths = Object.keys(exports).filter((name) => name !== './package.json');
    expect(subpaths).toContain('./server');
    const programs = [program('Node', NODE_PROGRAM), program('undefined', UNDEFINED_OPTIONS)];
    const names = namesPrograms((each) => each);
    compile({ lib: ['ES2022'], types: [] }, ...subpaths.map(importOf), ...programs, ...names);
  });

  it.each([
    [
      'a browser',
      BROWSER,
      [
        ['browser', BROWSER_PROGRAM],
        ['module', MODULE_PROGRAM],
        ['evaluate', NODE_ONLY],
      ],
    ],
    ['Node', { lib: ['ES2022'], types: ['node'] }, []],
  ] as const)('with the types of %s', (_, options, others) => {
    const programs = others.map(([name, code]) => program(name, code));
    compile(options, program('Node', NODE_PROGRAM), program('signal', SIGNAL_PROGRAM), ...programs);
  });
});

it('a bundler resolves the name of the package to the entry point for browsers', () => {
  const resolution = { module: 'ESNext', moduleResolution: 'Bundler', customConditions: ['browser'] };
  const browser = program('browser', BROWSER_PROGRAM.replace('rhythm-vec/browser', 'rhythm-vec'));
  expect(() => compile({ ...BROWSER, ...resolution }, browser, program('evaluate', NODE_ONLY))).toThrow(
    /^example "evaluate"\S+ error TS2305: .* has no exported member 'evaluate'\.\n$/,
  );
});

it('type errors name the example: a missing and an unknown name of an option, an output name, no AbortSignal', () => {
  const wrong = [
    ...namesPrograms((names) => names.slice(1)),
    ...namesPrograms((names) => [...names, 'x']),
    program('an output', UNKNOWN_OUTPUT),
    program('a signal', SIGNAL_PROGRAM.replace('{ signal });', "{ signal: 'now' });")),
  ];
  const count = (code: string) => `(?=([^]*?${code}){${Object.keys(NAMES).length}})`;
  const others = '[^]*example "an output".*"reward"[^]*example "a signal".*AbortSignal';
  expect(() => compile(BROWSER, ...wrong)).toThrow(
    new RegExp(`^${count('TS2741')}${count('TS2353')}${others}`),
  );
});
