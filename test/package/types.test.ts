/** The package's types need only ES2022: neither the types of Node or a browser, nor `skipLibCheck`. */
import { describe, expect, it } from 'vitest';
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
const SIGNAL_PROGRAM = `
import { createVecEnv } from 'rhythm-vec';

const { signal } = new AbortController();
createVecEnv({ numEnvs: 1 }).run('random', { signal });
`;
const INVALID_SIGNAL = `
import { createVecEnv } from 'rhythm-vec';

createVecEnv({ numEnvs: 1 }).run('random', { signal: 'now' });
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

describe('a strict consumer compiles', () => {
  it('with ES2022 alone', () => {
    compile({ lib: ['ES2022'], types: [] }, program('Node', NODE_PROGRAM));
  });

  it("with a browser's types", () => {
    compile(
      { lib: ['ES2022', 'DOM'], types: [] },
      program('Node', NODE_PROGRAM),
      program('signal', SIGNAL_PROGRAM),
    );
  });

  it("with Node's types", () => {
    compile(
      { lib: ['ES2022'], types: ['node'] },
      program('Node', NODE_PROGRAM),
      program('signal', SIGNAL_PROGRAM),
    );
  });
});

describe('with the types of a browser and without those of Node,', () => {
  const options = { lib: ['ES2022', 'DOM'], types: [] };
  const bundled = {
    ...options,
    module: 'ESNext',
    moduleResolution: 'Bundler',
    customConditions: ['browser'],
  };
  const packageProgram = BROWSER_PROGRAM.replace('rhythm-vec/browser', 'rhythm-vec');

  it('a strict consumer of rhythm-vec/browser compiles', () => {
    compile(options, program('browser', BROWSER_PROGRAM));
  });

  it('a bundler resolves the name of the package to the entry point for browsers', () => {
    compile(bundled, program('browser', packageProgram));
    expect(() => compile(bundled, program('evaluate', NODE_ONLY))).toThrow(
      /has no exported member 'evaluate'/,
    );
    compile(options, program('evaluate', NODE_ONLY));
  });

  it('an unknown output name is a type error', () => {
    expect(() => compile(options, program('unknown output', UNKNOWN_OUTPUT))).toThrow(/"reward"/);
  });
});

it('a signal that is not an AbortSignal is a type error', () => {
  const options = { lib: ['ES2022', 'DOM'], types: [] };
  expect(() => compile(options, program('invalid signal', INVALID_SIGNAL))).toThrow(/AbortSignal/);
});
