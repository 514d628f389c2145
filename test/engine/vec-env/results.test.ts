/** Results: one frozen object of views, or copies; padding of columns. */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import { AUTORESET_MODES } from '../../../src/engine/vec-env/autoreset.js';
import type { StepResult, VecEnvOptions } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { API_PAIRS } from '../../support/async-envs.js';
import { copyOutputs, expectEqual } from '../../support/bits.js';
import { envIndices, finishedEnvs, randomStep } from '../../support/call-sequences.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { detached } from '../../support/fuzz.js';
import { randomObservationOptions } from '../../support/naive-encoder.js';
import { forAll } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';

/** Numbers of environments: one, about 16 (the largest number that a kernel steps together), and more than six times 16. */
const SIZES = [1, 15, 16, 17, 100];
type View = Float32Array;
const viewsOf = (result: StepResult): [name: string, view: View][] =>
  Object.entries(result).filter((entry): entry is [string, View] => ArrayBuffer.isView(entry[1]));

/** All calls but `run` that return a result, in a legal order. */
const CALLS: [name: string, call: (env: VecEnv) => StepResult][] = [
  ['reset', (env) => env.reset({ seed: 1 })],
  ['step', (env) => env.step(new Uint8Array(env.numEnvs))],
  ['a masked reset', (env) => env.reset({ seed: 1, mask: new Uint8Array(env.numEnvs).fill(1, 1) })],
  ['a masked step', (env) => env.step(new Uint8Array(env.numEnvs), { mask: new Uint8Array(env.numEnvs) })],
  ['assign', (env) => env.assign(env, envIndices(env.numEnvs))],
  ['restore', (env) => env.restore(env.snapshot())],
];
const stateHash = (env: VecEnv) => env.stateHash();
const OBSERVATIONS: Partial<VecEnvOptions>[] = [
  {},
  { observation: { scale: true, history: true }, layout: 'column-major' },
];

describe.each(TWO_ENGINES)('$name', (engine) => {
  it.each([1, 3, 17])('a step takes one belief for all of %d environments', (numEnvs) => {
    const play = (beliefs: number[] | Float32Array) => {
      using env = openOn(engine, { numEnvs, copy: true });
      env.reset({ seed: 1 });
      const mask = Uint8Array.from({ length: numEnvs }, (_, i) => Number(i !== 1));
      env.step(new Uint8Array(numEnvs), { beliefs, mask });
      return [env.step(new Uint8Array(numEnvs), { beliefs }), env.stateHash(), env.run('heuristic')];
    };
    for (const row of [[0.25, 0.5, 2], Array<number>(3).fill(Number.NaN)]) {
      const expected = play(Float32Array.from({ length: 3 * numEnvs }, (_, k) => row[k % 3]));
      for (const belief of [row, Float32Array.from(row)]) expect(play(belief)).toEqual(expected);
    }
  });

  describe.each(OBSERVATIONS)('%o', (options) => {
    it('every call but run returns the same frozen object of views, and run returns the same views', () => {
      const env = openOn(engine, { numEnvs: 3, autoreset: 'same-step', ...options });
      const first = env.reset({ seed: 1 });
      expect(Object.isFrozen(first)).toBe(true);
      const views = viewsOf(first);
      for (const [name, call] of CALLS) {
        expect(call(env), name).toBe(first);
        expect(viewsOf(first), name).toEqual(views);
      }
      // A run adds its trajectory to the same views.
      for (const [name, view] of viewsOf(env.run('random'))) expect(view, name).toBe(first[name as never]);
    });

    it('with copy: true, every call returns an independent copy', () => {
      const env = openOn(engine, { numEnvs: 3, autoreset: 'same-step', copy: true, ...options });
      const control = openOn(engine, { numEnvs: 3, autoreset: 'same-step', ...options });
      const calls = [...CALLS, ['run', (each: VecEnv) => each.run('random')] as (typeof CALLS)[number]];
      const copies = calls.map(([, call]) => call(env));
      const buffers = copies.flatMap(viewsOf).map(([, { buffer }]) => buffer);
      expect(new Set(buffers).size).toBe(buffers.length);
      copies.forEach((result, k) => {
        if (calls[k][0] !== 'run') expect(Object.isFrozen(result)).toBe(true);
        expectEqual(copyOutputs(calls[k][1](control)), copyOutputs(result), calls[k][0]);
        for (const [, view] of viewsOf(result)) view.fill(9);
      });
      expectEqual(
        copyOutputs(control.reset({ seed: 4 })),
        copyOutputs(env.reset({ seed: 4 })),
        'after writes to copies:',
      );
    });
  });

  // The memory of WebAssembly cannot be transferred: test/engine/backends/wasm.test.ts.
  it.skipIf(engine.backend === 'wasm').each(OBSERVATIONS)(
    'calls are refused after a view was transferred: %o',
    (options) => {
      const begin = () => {
        const env = openOn(engine, { numEnvs: 3, autoreset: 'same-step', ...options });
        // The environment itself has the views `seeds` and `episodeNumbers`.
        return { env, views: [...viewsOf(env.reset({ seed: 1 })), ...viewsOf(env as unknown as StepResult)] };
      };
      begin().views.forEach(([name], k) => {
        const { env, views } = begin();
        detached(views[k][1]);
        const calls = [...CALLS.map(([, call]) => call), (each: VecEnv) => each.run('random'), stateHash];
        for (const call of calls) expectRefusal(() => call(env), 'outputs_detached', 'transferred');
        expect(() => env.close(), name).not.toThrow();
        expectRefusal(() => env.reset(), 'closed');
      });
    },
  );

  it('column-major results have the same numbers, padded with zeros', () => {
    forAll(10, (random) => {
      const numEnvs = random.pick(SIZES);
      const observation = random.chance(0.5) ? undefined : randomObservationOptions(random);
      const autoreset = random.pick(AUTORESET_MODES);
      const seed = random.integer(0, 2 ** 31);
      const [rows, columns] = (['row-major', 'column-major'] as const).map((layout) =>
        openOn(engine, { numEnvs, observation, autoreset, layout }),
      );
      // The results of an environment with default observations tell which episodes have ended.
      const plain = openOn(engine, { numEnvs, autoreset });
      let result = plain.reset({ seed });
      let [a, b] = [rows, columns].map((env) => env.reset({ seed }));
      const { columnStride } = b;
      expect([a.columnStride, plain.reset({ seed }).columnStride]).toEqual([0, 0]);
      expect(columnStride).toBeGreaterThanOrEqual(numEnvs);
      for (let t = 0; t < NUM_STEPS + 3 && finishedEnvs(result).includes(0); t++) {
        const { actions, options } = randomStep(random, plain, finishedEnvs(result));
        [result, a, b] = [plain, rows, columns].map((env) => env.step(actions, options));
        expectEqual(copyOutputs(a), copyOutputs(b), `step ${t}:`);
        expectPadded(b, numEnvs);
      }
      [a, b] = [rows, columns].map((env) => env.run('heuristic'));
      expectEqual(copyOutputs(a), copyOutputs(b), 'a run:');
      expectPadded(b, numEnvs);
    });
  });
});

it.each(API_PAIRS)(
  '$name: with copy: true, calls of the asynchronous API return independent copies',
  async ({ open }) => {
    await using env = await open({ numEnvs: 6, copy: true });
    const first = await env.reset({ seed: 1 });
    const before = copyOutputs(first);
    const second = await env.step(new Uint8Array(6));
    expect(second).not.toBe(first);
    expectEqual(before, copyOutputs(first));
    expect(await env.read()).not.toBe(second);
  },
);

/** Expects zeros between the end of a column and the next column. */
function expectPadded(result: StepResult, numEnvs: number): void {
  const { columnStride } = result;
  for (const [name, view] of viewsOf(result)) {
    if (view.length === numEnvs) continue;
    expect(view.length % columnStride, name).toBe(0);
    const padding = view.filter((_, at) => at % columnStride >= numEnvs);
    expect(padding.some(Boolean), name).toBe(false);
  }
}
