/** More environments than memory allows: an error with a code, and a process that continues. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createVecEnv } from '../../../src/index.js';
import { runChild } from '../../support/child.js';
import { NATIVE } from '../../support/engines.js';
import { refusalOf } from '../../support/refusals.js';

/** Code of a program that limits its address space to what it uses plus some bytes. */
const LIMIT = `
  import { readFileSync } from 'node:fs';
  import { execFileSync } from 'node:child_process';
  const used = () => Number(/VmSize:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
  const limit = (bytes) =>
    execFileSync('prlimit', ['--pid', String(process.pid), '--as=' + (used() + bytes) + ':']);
  const attempt = (call) => {
    try {
      call();
    } catch (error) {
      return [error.constructor.name, error.code, error.message];
    }
  };
`;

const prlimit = spawnSync('prlimit', ['--version']).status === 0;
const missing = [...(prlimit ? [] : ['prlimit']), ...(NATIVE.length > 0 ? [] : ['the addon'])];
const skipNote = missing.length > 0 ? ` (skipped: ${missing.join(' and ')} missing)` : '';

it('the reference refuses more than 2^18 environments', () => {
  const { name, code, message } = refusalOf(() =>
    createVecEnv({ numEnvs: 2 ** 18 + 1, backend: 'reference' }),
  );
  expect([name, code]).toEqual(['BackendError', 'out_of_memory']);
  expect(message).toMatch(/^Expected at most 262144 environments .*, got 262145\. Lower numEnvs/);
});

/**
 * A program with too little memory for a copy within a batch, then for the outputs and for the states of 2^22 environments.
 * It prints the three errors, and the results of later calls.
 */
const PROGRAM = `
  import { createVecEnv } from './dist/engine/node.js';
  ${LIMIT}
  const numEnvs = 2 ** 18;
  const env = createVecEnv({ numEnvs, backend: 'native' });
  env.reset({ seed: 0 });
  const indices = new Uint32Array(numEnvs);
  const errors = [];
  limit(3e7);
  errors.push(attempt(() => env.assign(env, indices)));
  const continued = [env.seeds[1], env.step(new Uint8Array(numEnvs)).rewards[1] !== 0];
  for (const bytes of [2.5e8, 6.5e8]) {
    limit(bytes);
    errors.push(attempt(() => createVecEnv({ numEnvs: 2 ** 22, backend: 'native' })));
  }
  const small = createVecEnv({ numEnvs: 64, backend: 'native' });
  print({ errors, continued, remaining: small.reset({ seed: 0 }).observations[3] });
`;

describe.skipIf(missing.length > 0)(`the native backend${skipNote}`, () => {
  it('throws out_of_memory for a copy, for outputs and for states, and the process continues', () => {
    const { status, output, stderr } = runChild(PROGRAM);
    expect(status, stderr).toBe(0);
    const errors = Array(3).fill(['BackendError', 'out_of_memory', expect.stringContaining('Lower numEnvs')]);
    expect(output).toEqual({ errors, continued: [1, true], remaining: 28 });
  });
});

describe.skipIf(!prlimit)(`the backend wasm${prlimit ? '' : ' (skipped: prlimit missing)'}`, () => {
  it('names the limit of virtual memory, within which another environment cannot be opened', () => {
    const { status, output, stderr } = runChild(`
      import { createVecEnv, listBackends } from './dist/index.js';
      ${LIMIT}
      const unlimited = () => execFileSync('prlimit', ['--pid', String(process.pid), '--as=unlimited:']);
      const open = () => createVecEnv({ numEnvs: 1, backend: 'wasm' });
      limit(1e9);
      const { reason } = listBackends().find(({ name }) => name === 'wasm');
      unlimited();
      const { backend } = open();
      limit(1e9);
      print([reason, backend, ...attempt(open)]);
    `);
    expect(status, stderr).toBe(0);
    const limit = expect.stringMatching(
      /^Expected .* MiB .*WebAssembly.*Close other environments.*ulimit -v/,
    );
    expect(output).toEqual([limit, 'wasm', 'BackendError', 'out_of_memory', limit]);
  });

  it('throws out_of_memory for a copy, which changes nothing, and the process continues', () => {
    const { status, output, stderr } = runChild(`
      import { createVecEnv } from './dist/engine/node.js';
      ${LIMIT}
      const numEnvs = 2 ** 18;
      const env = createVecEnv({ numEnvs, backend: 'wasm' });
      const { observations } = env.reset({ seed: 0 });
      const before = [env.stateHash()[1], observations.slice(22, 44), env.seeds[1]];
      limit(3e7);
      const error = attempt(() => env.assign(env, new Uint32Array(numEnvs)));
      const after = [env.stateHash()[1], observations.slice(22, 44), env.seeds[1]];
      print([error, after.join() === before.join(), env.step(new Uint8Array(numEnvs)).rewards[1] !== 0]);
    `);
    expect(status, stderr).toBe(0);
    const error = ['BackendError', 'out_of_memory', expect.stringContaining('Lower numEnvs')];
    expect(output).toEqual([error, true, true]);
  });
});
