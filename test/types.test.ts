/** The package's types ask for nothing but ES2022: neither Node's types nor a browser's, nor that they go unchecked. */
import { describe, expect, it } from 'vitest';
import { Consumer, type Example } from './support/examples.js';

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

it('what is no signal is seen where signals are known', () => {
  const options = { lib: ['ES2022', 'DOM'], types: [] };
  expect(() => compile(options, program('wrong', WRONG))).toThrow(/AbortSignal/);
});
