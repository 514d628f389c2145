/** Masks at the seam: masked resets, masked steps, and new episodes begun by the step that ends the old ones. */
import { describe, expect, it } from 'vitest';
import type { AsyncBatch } from '../src/backends/async-backend.js';
import type { RunRequest, StepRequest } from '../src/backends/backend.js';
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE, STATE, STATE_WORDS } from '../src/world/fields.js';
import {
  ASYNC_ENGINES,
  type AsyncEngine,
  nameAbsent,
  OTHERS,
  REFERENCE,
  runsOn,
} from './support/async-engines.js';
import { type AsyncOpened, forAllAsync, openAsync } from './support/async-seam.js';
import { type Columns, expectEqual, lasting, rowsOf } from './support/bits.js';
import { Random } from './support/random.js';

nameAbsent();

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
const begin = (batch: AsyncBatch) => {
  batch.reset(new Random('batch masks').reset(N));
  batch.reset({ mask: null, seeds, modes: null, profiles: null, graders: null });
};
const runTo = (stops: number[]): RunRequest => ({
  policy: { kind: 'heuristic' },
  beliefs: null,
  stops: Uint8Array.from(stops),
  trajectory: null,
});

/** A batch of N that has begun and taken so many steps. */
async function opened(engine: AsyncEngine, stops: number[] = [0, 0, 0]): Promise<AsyncOpened> {
  const one = await openAsync(engine, N);
  begin(one.batch);
  await one.batch.run(runTo(stops));
  return one;
}

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it('a masked reset touches the slots of the mask alone', () =>
    forAllAsync(runsOn(engine, 40), async (random) => {
      const n = random.pick([1, 16, 37]);
      const { batch, see } = await openAsync(engine, n);
      batch.reset(random.anyReset(n));
      await batch.run(random.run(n));
      const before = await see();
      const fresh = await openAsync(engine, n);
      const mask = random.mask(n, 0.4);
      const request = random.anyReset(n);
      fresh.batch.reset(request);
      batch.reset({ ...request, mask });
      const after = await see();
      const [kept, begun] = [0, 1].map((wanted) =>
        Array.from(mask.keys()).filter((slot) => Number(mask[slot] !== 0) === wanted),
      );
      expectEqual(rowsOf(lasting(before), n, kept), rowsOf(lasting(after), n, kept), 'kept');
      expect(after.finalMask.some(Boolean)).toBe(false);
      expectEqual(rowsOf(await fresh.see(), n, begun), rowsOf(after, n, begun), 'begun');
    }));

  it('a reset keeps modes, profiles and graders that it is not given', () =>
    forAllAsync(runsOn(engine, 20), async (random) => {
      const { batch, see } = await openAsync(engine, 20);
      const request = random.anyReset(20);
      batch.reset(request);
      const first = await see();
      await batch.run(random.run(20));
      batch.reset({ ...request, modes: null, profiles: null, graders: null });
      expectEqual(first, await see());
    }));

  it('a slot that does not step shows a reward of 0 and is otherwise as it was', async () => {
    const { batch, see } = await opened(engine);
    batch.submit(plain);
    const before = await see();
    const request = { ...plain, stepMask: Uint8Array.of(0, 1, 0), actions: Uint8Array.of(99, 3, 200) };
    expect(batch.submit(request)).toBeNull();
    const after = await see();
    expect(after.rewards[0]).toBe(0);
    expect(after.rewards[1]).not.toBe(0);
    const still = ({ rewards: _, ...rest }: Columns) => rowsOf(rest, N, [0, 2]);
    expectEqual(still(before), still(after));
  });

  it("same-step autoreset: the last reward and grade stay, the observation is the new episode's", async () => {
    const [one, other] = [await opened(engine, [27, 27, 5]), await opened(engine, [27, 27, 5])];
    other.batch.submit(plain);
    const resetSeeds = Uint32Array.of(101, 102, 103);
    one.batch.submit({ ...plain, resetMask: Uint8Array.of(1, 0, 0), resetSeeds });
    const begun = await one.see();
    const ended = await other.see();
    const result = ['finalScores', 'components', 'beliefMae', 'earlyMeans', 'lateMeans'] as const;
    for (const name of ['rewards', 'terminated', ...result] as const) {
      expect(begun[name]).toEqual(ended[name]);
    }
    expect(begun.terminated).toEqual(Uint8Array.of(1, 1, 0));
    other.batch.reset({
      mask: Uint8Array.of(1, 0, 0),
      seeds: resetSeeds,
      modes: null,
      profiles: null,
      graders: null,
    });
    const anew = await other.see();
    expectEqual(
      { observations: anew.observations, state: anew.state },
      { observations: begun.observations, state: begun.state },
    );
  });

  it('and the step after it forgets that grade, stepped or not', async () => {
    for (const stepMask of [Uint8Array.of(1, 0, 1), Uint8Array.of(0, 0, 1)]) {
      const { batch, show } = await opened(engine, [27, 27, 5]);
      batch.submit({ ...plain, resetMask: Uint8Array.of(1, 0, 0), resetSeeds: seeds });
      batch.submit({ ...plain, stepMask });
      const { terminated, finalScores, beliefMae, components, earlyMeans, lateMeans } = await show();
      expect(Array.from(terminated)).toEqual([0, 1, 0]);
      expect([finalScores, beliefMae, components, earlyMeans, lateMeans].map(([first]) => first)).toEqual(
        Array(5).fill(0),
      );
      expect(finalScores[1]).toBeGreaterThan(0);
    }
  });

  it('next-step autoreset: a finished slot begins anew without a step', async () => {
    const { batch, show } = await opened(engine, [28, 3, 3]);
    const request = {
      stepMask: Uint8Array.of(0, 1, 1),
      resetMask: Uint8Array.of(1, 0, 0),
      resetSeeds: seeds,
    };
    expect(batch.submit({ ...plain, ...request })).toBeNull();
    const { observations, rewards, finalScores, terminated } = await show();
    expect(observations[OBSERVATION.step]).toBe(0);
    expect(observations[OBSERVATION_SIZE + OBSERVATION.step]).toBe(4);
    expect([rewards[0], finalScores[0], terminated[0]]).toEqual([0, 0, 0]);
  });

  it('masks take any byte but 0 as yes', async () => {
    const [one, other] = [await opened(engine), await opened(engine)];
    one.batch.submit({ ...plain, stepMask: Uint8Array.of(1, 0, 1) });
    other.batch.submit({ ...plain, stepMask: Uint8Array.of(2, 0, 255) });
    expectEqual(await one.see(), await other.see());
  });
});

describe.each(OTHERS)('$name', (engine) => {
  it('long stories of steps and autoresets equal the reference', () =>
    forAllAsync(runsOn(engine, 12), async (random) => {
      const n = random.pick([1, 16, 45]);
      const layout = () => ({ columnMajor: random.chance(0.5), finalObservations: true });
      const expected = await openAsync(REFERENCE, n, { layout: layout() });
      const got = await openAsync(engine, n, { layout: layout() });
      const reset = random.anyReset(n);
      for (const { batch } of [expected, got]) batch.reset(reset);
      for (let t = 0; t < 2 * NUM_STEPS; t++) {
        const words = await expected.batch.save();
        const over = Uint8Array.from({ length: n }, (_, i) =>
          Number(words[i * STATE_WORDS + STATE.step] === NUM_STEPS),
        );
        const request = random.step(over, true);
        expect(got.batch.submit(request)).toBeNull();
        expect(expected.batch.submit(request)).toBeNull();
        expectEqual(await expected.see(), await got.see(), `pass ${t}:`);
      }
    }));

  it('refusals name the same slot, step and code', () =>
    forAllAsync(runsOn(engine, 40), async (random) => {
      const n = random.pick([1, 16, 37]);
      const [reset, run] = [random.anyReset(n), random.run(n)];
      const step = { ...random.step(new Uint8Array(n)), actions: random.bytes(n, 0, 10) };
      const tape = {
        ...random.run(n),
        policy: { kind: 'tape', actions: random.bytes(n * NUM_STEPS, 0, 12) },
      } as const;
      const refusalsOn = async (each: AsyncEngine) => {
        const { batch, see } = await openAsync(each, n);
        batch.reset(reset);
        await batch.run(run);
        const before = await see();
        const refusals = [batch.submit(step), await batch.run(tape)];
        if (refusals[0] !== null && refusals[1] !== null) expectEqual(before, await see());
        return refusals;
      };
      expect(await refusalsOn(engine)).toEqual(await refusalsOn(REFERENCE));
    }));
});
