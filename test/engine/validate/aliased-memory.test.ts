/** A call uses the values that it validated, even if its arguments overlap the outputs or callbacks change them. */
import { describe, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { expectEqual } from '../../support/bits.js';
import { FASTEST, openOn, TWO_ENGINES } from '../../support/engines.js';
import { envColumns } from '../../support/unchanged.js';

const N = 400;
/** Enough environments for two slices of a run with `onProgress`, which is called after each slice. */
const TWO_SLICES = 2 * 16_384;

describe.each(TWO_ENGINES)('$name', (engine) => {
  /** Makes the same call on two environments, with an array in the environment's memory and with a copy of it. */
  function expectSame(prepare: (env: VecEnv) => Uint8Array, call: (env: VecEnv, bytes: Uint8Array) => void) {
    const results = [false, true].map((copy) => {
      const env = openOn(engine, { numEnvs: N, autoreset: 'same-step' });
      env.reset({ seed: 0 });
      const bytes = prepare(env);
      call(env, copy ? bytes.slice() : bytes);
      const snapshot = env.snapshot();
      // The counters after this run show which episodes had ended before it.
      return { ...envColumns(env, env.run('heuristic')), snapshot };
    });
    expectEqual(results[1], results[0]);
  }

  /** Returns the bytes of the rewards, which are 0 after a reset. */
  const rewardBytes = (env: VecEnv): Uint8Array => {
    // A step of no environment, which returns the outputs.
    const { buffer, byteOffset } = env.step(new Uint8Array(N), { mask: new Uint8Array(N) }).rewards;
    return new Uint8Array(buffer, byteOffset, 4 * N);
  };
  const words = ({ buffer, byteOffset }: Uint8Array) => new Uint32Array(buffer, byteOffset, N);
  const source = () => {
    const env = openOn(engine, { numEnvs: N });
    env.reset({ seed: 7 });
    env.run('random', { stops: Array.from({ length: N }, (_, i) => i % NUM_STEPS) });
    return env;
  };

  it('indices may lie in the memory of the outputs', () => {
    expectSame(rewardBytes, (env, bytes) => env.assign(source(), words(bytes)));
    expectSame(rewardBytes, (env, indices) => {
      env.run('random', { from: { source: source(), indices: words(indices) } });
    });
  });

  it("indices may lie in the memory of the environment's seeds", () => {
    const seeds = (env: VecEnv) => {
      env.reset({ seed: Array.from({ length: N }, (_, i) => (7 * i + 1) % N) });
      return new Uint8Array(env.seeds.buffer);
    };
    expectSame(seeds, (env, bytes) => env.assign(source(), words(bytes)));
    expectSame(seeds, (env, bytes) => env.assign(env, words(bytes)));
  });

  it('actions and beliefs may lie in the memory of the outputs', () => {
    expectSame(rewardBytes, (env, bytes) => env.step(bytes.subarray(0, N)));
    const observations = (env: VecEnv) => {
      const { observations } = env.step(new Uint8Array(N), { mask: new Uint8Array(N) });
      observations.fill(0);
      return new Uint8Array(observations.buffer, observations.byteOffset, 22 * 4 * N);
    };
    expectSame(observations, (env, bytes) => {
      env.run('random', { stops: new Uint8Array(N).fill(27) });
      env.step(new Uint8Array(N), { beliefs: new Float32Array(bytes.buffer, bytes.byteOffset, 3 * N) });
    });
    expectSame(observations, (env, bytes) => {
      env.run(bytes.subarray(0, NUM_STEPS * N));
    });
  });
});

it.each(FASTEST)('$name copies an action sequence, beliefs and indices that onProgress changes', (engine) => {
  const results = [false, true].map((overwrites) => {
    const [env, other] = [openOn(engine, { numEnvs: TWO_SLICES }), openOn(engine, { numEnvs: 2 })];
    env.reset({ seed: 0 });
    other.reset({ seed: 5 });
    const indices = new Uint32Array(TWO_SLICES);
    const sequence = new Uint8Array(TWO_SLICES * NUM_STEPS);
    const beliefs = new Float32Array(3 * sequence.length);
    const onProgress = () => {
      if (!overwrites) return;
      indices.fill(1);
      sequence.fill(99);
      beliefs.fill(Number.NaN, 1);
    };
    const result = env.run(sequence, { beliefs, onProgress, from: { source: other, indices } });
    return envColumns(env, result);
  });
  expectEqual(results[0], results[1]);
});
