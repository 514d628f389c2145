/** More environments than memory allows: an error with a code, and a process that continues. */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BackendError, createVecEnv } from '../../../src/index.js';
import { runChild } from '../../support/child.js';
import { NATIVE } from '../../support/engines.js';

const prlimit = spawnSync('prlimit', ['--version']).status === 0;
const missing = [...(prlimit ? [] : ['prlimit']), ...(NATIVE.length > 0 ? [] : ['the addon'])];
const skipNote = missing.length > 0 ? ` (skipped: ${missing.join(' and ')} missing)` : '';

it('the reference refuses more than 2^18 environments', () => {
  let error: unknown;
  try {
    createVecEnv({ numEnvs: 2 ** 18 + 1, backend: 'reference' });
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(BackendError);
  expect(error).toMatchObject({ code: 'out_of_memory' });
  expect((error as Error).message).toMatch(
    /^Expected at most 262144 environments .*, got 262145\. Lower numEnvs/,
  );
});

/**
 * A program that limits its address space to what it uses plus the bytes that its argument states. It tries to open 2^23
 * environments, then 64, and prints both outcomes.
 */
const PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { execFileSync } from 'node:child_process';
  import { createVecEnv } from './dist/engine/node.js';
  const used = Number(/VmSize:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
  execFileSync('prlimit', ['--pid', String(process.pid), '--as=' + (used + Number(process.argv[1]))]);
  try {
    createVecEnv({ numEnvs: 2 ** 23, backend: 'native' });
  } catch (error) {
    console.log(error.constructor.name, error.code);
  }
  const env = createVecEnv({ numEnvs: 64, backend: 'native' });
  console.log(env.reset({ seed: 0 }).observations[3]);
`;

/**
 * A program that copies episodes within a batch with too little address space left. It prints the error, a seed, and
 * whether a step works.
 */
const COPY_PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { execFileSync } from 'node:child_process';
  import { createVecEnv } from './dist/engine/node.js';
  const numEnvs = 2 ** 20;
  const env = createVecEnv({ numEnvs, backend: 'native' });
  env.reset({ seed: 0 });
  const indices = new Uint32Array(numEnvs);
  const used = Number(/VmSize:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
  execFileSync('prlimit', ['--pid', String(process.pid), '--as=' + (used + 1e8)]);
  let got;
  try {
    env.assign(env, indices);
  } catch (error) {
    got = [error.constructor.name, error.code];
  }
  print([got, env.seeds[1], env.step(new Uint8Array(numEnvs)).rewards[1] !== 0]);
`;

describe.skipIf(missing.length > 0)(`the native backend${skipNote}`, () => {
  // 5e8 bytes are too few for the outputs, 12.5e8 bytes for the states.
  it.each([5e8, 12.5e8])('throws out_of_memory with %i bytes left, and the process continues', (bytes) => {
    const cwd = fileURLToPath(new URL('../../..', import.meta.url));
    const args = ['--input-type=module', '--eval', PROGRAM, String(bytes)];
    const output = execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });
    expect(output).toBe('BackendError out_of_memory\n28\n');
  });

  it('throws out_of_memory for a copy within a batch, which keeps its episodes', () => {
    const { status, output: result, stderr } = runChild(COPY_PROGRAM);
    expect(status, stderr).toBe(0);
    expect(result).toEqual([['BackendError', 'out_of_memory'], 1, true]);
  });
});
