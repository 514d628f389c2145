/** Masks at the seam: masked resets, masked steps, and new episodes begun by the step that ends the old ones. */
import { describe, expect, it } from 'vitest';
import type { Batch, StepRequest } from '../src/backends/backend.js';
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE, STATE, STATE_WORDS } from '../src/world/fields.js';
import { expectEqual, lasting, rowsOf } from './support/bits.js';
import { ENGINES, NATIVE } from './support/engines.js';
import { forAll, Random } from './support/random.js';
import { openBatch } from './support/seam.js';

const N = 3;
const seeds = Uint32Array.of(11, 12, 13);
const plain: StepRequest = {
  actions: Uint8Array.of(0, 3, 6),
  beliefs: null,
  given: null,
  stepMask: null,
  resetMask: null,
  resetSeeds: null,
};
const begin = (batch: Batch) => {
  batch.reset(new Random('batch masks').reset(N));
  batch.reset({ mask: null, seeds, modes: null, profiles: null, graders: null });
};
const finish = (batch: Batch, stops: number[]) =>
  batch.run({
    policy: { kind: 'heuristic' },
    beliefs: null,
    stops: Uint8Array.from(stops),
    trajectory: null,
  });

describe.each(ENGINES)('$name', (engine) => {
  it('a masked reset touches the slots of the mask alone', () => {
    forAll(40, (random) => {
      const n = random.pick([1, 16, 37]);
      const { batch, see } = openBatch(engine, n);
      batch.reset(random.reset(n));
      batch.run(random.run(n));
      const before = see();
      const fresh = openBatch(engine, n);
      const mask = random.mask(n, 0.4);
      const request = random.reset(n);
      fresh.batch.reset(request);
      batch.reset({ ...request, mask });
      const after = see();
      const [kept, begun] = [0, 1].map((wanted) =>
        Array.from(mask.keys()).filter((slot) => Number(mask[slot] !== 0) === wanted),
      );
      expectEqual(rowsOf(lasting(before), n, kept), rowsOf(lasting(after), n, kept), 'kept');
      expect(after.finalMask.some(Boolean)).toBe(false);
      expectEqual(rowsOf(fresh.see(), n, begun), rowsOf(after, n, begun), 'begun');
    });
  });

  it('a reset keeps modes, profiles and graders that it is not given', () => {
    forAll(20, (random) => {
      const { batch, see } = openBatch(engine, 20);
      const request = random.reset(20);
      batch.reset(request);
      const first = see();
      batch.run(random.run(20));
      batch.reset({ ...request, modes: null, profiles: null, graders: null });
      expectEqual(first, see());
    });
  });

  it('a slot that does not step shows a reward of 0 and is otherwise as it was', () => {
    const { batch, see, outputs } = openBatch(engine, N);
    begin(batch);
    batch.submit(plain);
    const before = see();
    expect(
      batch.submit({ ...plain, stepMask: Uint8Array.of(0, 1, 0), actions: Uint8Array.of(99, 3, 200) }),
    ).toBeNull();
    const after = see();
    expect(outputs.rewards[0]).toBe(0);
    expect(outputs.rewards[1]).not.toBe(0);
    const still = ({ rewards: _, ...rest }: ReturnType<typeof see>) => rowsOf(rest, N, [0, 2]);
    expectEqual(still(before), still(after));
  });

  it("same-step autoreset: the last reward and grade stay, the observation is the new episode's", () => {
    const [one, other] = [openBatch(engine, N), openBatch(engine, N)];
    for (const { batch } of [one, other]) {
      begin(batch);
      finish(batch, [27, 27, 5]);
    }
    other.batch.submit(plain);
    const resetSeeds = Uint32Array.of(101, 102, 103);
    one.batch.submit({ ...plain, resetMask: Uint8Array.of(1, 0, 0), resetSeeds });
    const result = ['finalScores', 'components', 'beliefMae', 'earlyMeans', 'lateMeans'] as const;
    for (const name of ['rewards', 'terminated', ...result] as const) {
      expect(one.outputs[name]).toEqual(other.outputs[name]);
    }
    expect(Array.from(one.outputs.terminated)).toEqual([1, 1, 0]);
    other.batch.reset({
      mask: Uint8Array.of(1, 0, 0),
      seeds: resetSeeds,
      modes: null,
      profiles: null,
      graders: null,
    });
    expectEqual(
      { o: other.outputs.observations, s: other.batch.save() },
      { o: one.outputs.observations, s: one.batch.save() },
    );
  });

  it('and the step after it forgets that grade, stepped or not', () => {
    for (const stepMask of [Uint8Array.of(1, 0, 1), Uint8Array.of(0, 0, 1)]) {
      const { batch, outputs } = openBatch(engine, N);
      begin(batch);
      finish(batch, [27, 27, 5]);
      batch.submit({ ...plain, resetMask: Uint8Array.of(1, 0, 0), resetSeeds: seeds });
      batch.submit({ ...plain, stepMask });
      expect(Array.from(outputs.terminated)).toEqual([0, 1, 0]);
      const { finalScores, beliefMae, components, earlyMeans, lateMeans } = outputs;
      expect([finalScores, beliefMae, components, earlyMeans, lateMeans].map(([first]) => first)).toEqual(
        Array(5).fill(0),
      );
      expect(outputs.finalScores[1]).toBeGreaterThan(0);
    }
  });

  it('next-step autoreset: a finished slot begins anew without a step', () => {
    const { batch, outputs } = openBatch(engine, N);
    begin(batch);
    finish(batch, [28, 3, 3]);
    const request = {
      stepMask: Uint8Array.of(0, 1, 1),
      resetMask: Uint8Array.of(1, 0, 0),
      resetSeeds: seeds,
    };
    expect(batch.submit({ ...plain, ...request })).toBeNull();
    expect(outputs.observations[OBSERVATION.step]).toBe(0);
    expect(outputs.observations[OBSERVATION_SIZE + OBSERVATION.step]).toBe(4);
    expect([outputs.rewards[0], outputs.finalScores[0], outputs.terminated[0]]).toEqual([0, 0, 0]);
  });

  it('masks take any byte but 0 as yes', () => {
    const [one, other] = [openBatch(engine, N), openBatch(engine, N)];
    for (const { batch } of [one, other]) begin(batch);
    one.batch.submit({ ...plain, stepMask: Uint8Array.of(1, 0, 1) });
    other.batch.submit({ ...plain, stepMask: Uint8Array.of(2, 0, 255) });
    expectEqual(one.see(), other.see());
  });
});

describe.each(NATIVE)('$name', (engine) => {
  it('long stories of steps and autoresets equal the reference', () => {
    forAll(12, (random) => {
      const n = random.pick([1, 16, 45]);
      const layout = () => ({ columnMajor: random.chance(0.5), finalObservations: true });
      const [expected, got] = [ENGINES[0], engine].map((each) => openBatch(each, n, { layout: layout() }));
      const reset = random.reset(n);
      for (const { batch } of [expected, got]) batch.reset(reset);
      for (let t = 0; t < 2 * NUM_STEPS; t++) {
        const words = expected.batch.save();
        const over = Uint8Array.from({ length: n }, (_, i) =>
          Number(words[i * STATE_WORDS + STATE.step] === NUM_STEPS),
        );
        const request = random.step(over, true);
        expect(got.batch.submit(request)).toBeNull();
        expect(expected.batch.submit(request)).toBeNull();
        expectEqual(expected.see(), got.see(), `pass ${t}:`);
      }
    });
  });

  it('refusals name the same slot, step and code', () => {
    forAll(40, (random) => {
      const n = random.pick([1, 16, 37]);
      const engines = [openBatch(ENGINES[0], n), openBatch(engine, n)];
      const [reset, run] = [random.reset(n), random.run(n)];
      const step = { ...random.step(new Uint8Array(n)), actions: random.bytes(n, 0, 10) };
      const tape = {
        ...random.run(n),
        policy: { kind: 'tape', actions: random.bytes(n * NUM_STEPS, 0, 12) },
      } as const;
      const [expected, got] = engines.map(({ batch, see }) => {
        batch.reset(reset);
        batch.run(run);
        const before = see();
        const refusals = [batch.submit(step), null, batch.run(tape)];
        if (refusals[0] !== null && refusals[2] !== null) expectEqual(before, see());
        return refusals;
      });
      expect(got).toEqual(expected);
    });
  });
});
