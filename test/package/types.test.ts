/** The package's types need only ES2022: neither Node's types nor a browser's, nor `skipLibCheck`. */
import { describe, expect, it } from 'vitest';
import { Consumer, type Example } from '../support/examples.js';

const USED = `
import { createVecEnv, evaluate, type RunOptions } from 'rhythm-vec';

using env = createVecEnv({ numEnvs: 2 });
env.reset({ seed: 1 });
const options: RunOptions = { stops: [3, 4] };
const scores: Float32Array = env.run('random', options).finalScores;
export const rows = await evaluate({ policies: ['random'] }).then((evaluation) => evaluation.rows);
export { scores };
`;
const WATCHED = `
import { createVecEnv } from 'rhythm-vec';

const { signal } = new AbortController();
createVecEnv({ numEnvs: 1 }).run('random', { signal });
`;
const WRONG = `
import { createVecEnv } from 'rhythm-vec';

createVecEnv({ numEnvs: 1 }).run('random', { signal: 'now' });
`;

const BROWSED = `
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
const UNREAD = `
import { createAsyncVecEnv } from 'rhythm-vec/browser';

const env = await createAsyncVecEnv({ numEnvs: 1 });
await env.read(['reward']);
`;
const OF_NODE = `
import { evaluate } from 'rhythm-vec';

export { evaluate };
`;
const program = (name: string, code: string): Example => ({ name, code, prints: '' });
const compile = (options: object, ...examples: Example[]): void =>
  new Consumer(examples, { skipLibCheck: false, ...options }).remove();

describe('a strict consumer compiles', () => {
  it('with ES2022 alone', () => {
    compile({ lib: ['ES2022'], types: [] }, program('used', USED));
  });

  it("with a browser's types", () => {
    compile({ lib: ['ES2022', 'DOM'], types: [] }, program('used', USED), program('watched', WATCHED));
  });

  it("with Node's types", () => {
    compile({ lib: ['ES2022'], types: ['node'] }, program('used', USED), program('watched', WATCHED));
  });
});

describe('for browsers, whose types know no Node,', () => {
  const options = { lib: ['ES2022', 'DOM'], types: [] };
  const bundled = {
    ...options,
    module: 'ESNext',
    moduleResolution: 'Bundler',
    customConditions: ['browser'],
  };
  const here = BROWSED.replace('rhythm-vec/browser', 'rhythm-vec');

  it('a strict consumer compiles', () => {
    compile(options, program('browsed', BROWSED));
  });

  it('a bundler finds the same under the name of the package', () => {
    compile(bundled, program('bundled', here));
    expect(() => compile(bundled, program('of Node', OF_NODE))).toThrow(/has no exported member 'evaluate'/);
    compile(options, program('of Node', OF_NODE));
  });

  it('what is no output is seen', () => {
    expect(() => compile(options, program('unread', UNREAD))).toThrow(/"reward"/);
  });
});

it('what is no signal is seen where signals are known', () => {
  const options = { lib: ['ES2022', 'DOM'], types: [] };
  expect(() => compile(options, program('wrong', WRONG))).toThrow(/AbortSignal/);
});
