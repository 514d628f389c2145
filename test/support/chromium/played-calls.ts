/** Plays random calls of the API. Node and the page run this code, on different backends. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import type { AsyncVecEnv } from '../../../src/engine/vec-env/async-vec-env.js';
import type { AsyncVecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';

/** Returns the SHA-256 of an array's bytes, in hexadecimal. */
export const digestOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
  bytesToHex(sha256(new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)));

/**
 * Draws and makes calls: resets, steps, runs and copies. Masks let the episodes reach different steps.
 * @param setup with autoreset, so that no step is refused.
 * @returns a line for each array that a call returns, and for the states after it: the call, the name and the digest.
 */
export async function playCalls(
  open: (options: AsyncVecEnvOptions) => Promise<AsyncVecEnv>,
  setup: AsyncVecEnvOptions,
): Promise<string[]> {
  let state = setup.numEnvs;
  /** Draws a number from 0 to 1 by a linear congruential generator. */
  const real = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const bytes = (length: number, limit: number) =>
    Uint8Array.from({ length }, () => Math.floor(real() * limit));
  const seeds = (length: number) => Uint32Array.from({ length }, () => Math.floor(real() * 2 ** 32));
  const beliefs = (rows: number) => {
    const numbers = Float32Array.from({ length: 3 * rows }, () => 1.4 * real() - 0.2);
    for (let row = 0; row < rows; row++) if (real() < 0.3) numbers.fill(Number.NaN, 3 * row, 3 * row + 3);
    return numbers;
  };
  const lines: string[] = [];
  let env = await open(setup);
  let calls = 0;
  const note = async (name: string, ...results: object[]): Promise<void> => {
    const states = { hash: await env.stateHash(), targets: await env.beliefTargets() };
    for (const [column, array] of [...results, states].flatMap((each) => Object.entries(each)))
      if (ArrayBuffer.isView(array)) lines.push(`call ${calls}, ${name}: ${column}: ${digestOf(array)}`);
    calls++;
  };
  const steps = async (count: number): Promise<void> => {
    for (let k = 0; k < count; k++) {
      const options = { beliefs: beliefs(env.numEnvs), mask: bytes(env.numEnvs, 4) };
      await note('step', await env.step(bytes(env.numEnvs, 10), options));
    }
  };
  const run = async (stops: Uint8Array | undefined): Promise<void> => {
    const sequence = bytes(28 * env.numEnvs, 10);
    const policy = (['random', 'heuristic', sequence] as const)[calls % 3];
    const options = { beliefs: beliefs(28 * env.numEnvs), trajectory: true, stops } as const;
    const { trajectory, ...result } = await env.run(policy, options);
    await note('run', result, { ...trajectory });
  };
  const { numEnvs } = setup;
  const profiles = Float32Array.from({ length: 16 * numEnvs }, () => real());
  const graders = Array.from({ length: numEnvs }, (_, i) => ['v1', 'v2', 'v3'][i % 3]);
  await note('reset', await env.reset({ seed: seeds(numEnvs), profiles, graders }));
  await steps(6);
  // Up to step 27, so that the steps that follow end episodes, and autoreset begins the next ones.
  await run(bytes(numEnvs, 28));
  await steps(6);
  const snapshot = await env.snapshot();
  await note(
    'reset',
    await env.reset({ seed: seeds(numEnvs), mask: bytes(numEnvs, 3), profiles: 'discrete' }),
  );
  await run(bytes(numEnvs, 28));
  await steps(4);
  await note('restore', await env.restore(snapshot));
  await note(
    'assign',
    await env.assign(
      env,
      seeds(numEnvs).map((seed) => seed % numEnvs),
    ),
  );
  const fork = await env.fork(seeds(2 * numEnvs + 5).map((seed) => seed % numEnvs));
  await env.close();
  env = fork;
  await run(bytes(env.numEnvs, 28));
  await steps(3);
  await run(undefined);
  await env.close();
  return lines;
}
