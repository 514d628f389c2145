/** Masks at the backend interface: masked resets, masked steps, and both kinds of autoreset. */
import { describe, expect, it } from 'vitest';
import type { AsyncBatch } from '../../../src/engine/backends/async-backend.js';
import type { RunRequest, StepRequest } from '../../../src/engine/backends/backend.js';
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE, STATE, STATE_WORDS } from '../../../src/world/fields.js';
import {
  ASYNC_ENGINES,
  type AsyncEngine,
  OTHERS,
  REFERENCE,
  reportAbsentEngines,
  runsOn,
} from '../../support/async-engines.js';
import { type Columns, expectEqual, rowsOf, withoutFinalMask } from '../../support/bits.js';
import { forAllAsync, type OpenedAsyncBatch, openAsyncBatch } from '../../support/open-async-batch.js';
import { Random } from '../../support/random.js';

reportAbsentEngines();

const N = 3;
const seeds = Uint32Array.of(11, 12, 13);
const PLAIN_STEP: StepRequest = {
  actions: Uint8Array.of(0, 3, 6),
  beliefs: null,
  given: null,
  stepMask: null,
  resetMask: null,
  resetSeeds: null,
};
/** Resets all environments to `seeds`, with random profiles and graders: the second reset keeps those of the first. */
const resetAll = (batch: AsyncBatch) => {
  batch.reset(new Random('batch masks').reset(N));
  batch.reset({ mask: null, seeds, modes: null, profiles: null, graders: null });
};
const runTo = (stops: number[]): RunRequest => ({
  policy: { kind: 'heuristic' },
  beliefs: null,
  stops: Uint8Array.from(stops),
  trajectory: null,
});

/** Opens a batch of N environments and runs each to the step at which it stops. */
async function openAtSteps(engine: AsyncEngine, stops: number[] = [0, 0, 0]): Promise<OpenedAsyncBatch> {
  const one = await openAsyncBatch(engine, N);
  resetAll(one.batch);
  await one.batch.run(runTo(stops));
  return one;
}

/**
 * Draws a call. A step of all is illegal if an episode has ended. A load loads the current states of `source`.
 * @returns a function that makes the call on the batch `to`. The call may copy from the batch `from`.
 */
async function anyCall(
  random: Random,
  source: OpenedAsyncBatch,
  { numEnvs: n, readOutputs }: OpenedAsyncBatch,
  order: Uint32Array,
): Promise<(from: OpenedAsyncBatch, to: OpenedAsyncBatch) => unknown> {
  const kind = random.pick([
    'step',
    'step',
    'step',
    'step of all',
    'reset',
    'masked reset',
    'gather',
    'run',
    'run from',
    'load',
  ]);
  if (kind === 'gather') return async (from, to) => to.batch.gather(from.batch, order);
  if (kind === 'load') {
    const words = await source.batch.save();
    return (_, to) => to.batch.load(words);
  }
  if (kind === 'reset' || kind === 'masked reset') {
    const mask = kind === 'masked reset' ? random.mask(n, 0.4) : null;
    const request = { ...random.resetAtAnyStep(n), mask };
    // Starts near the end, so that the next calls end episodes.
    if (request.start !== undefined) request.start.steps.fill(NUM_STEPS - 2);
    return (_, to) => to.batch.reset(request);
  }
  if (kind.startsWith('run')) {
    const run = random.run(n);
    // The second part must begin at a multiple of 16 (`part` of RunRequest).
    const first = Math.min(n, 16);
    const parts = [
      { first: 0, end: first },
      { first, end: n },
    ].filter((part) => part.first < part.end);
    return async (from, to) => {
      const origin = { source: from.batch as never, indices: order };
      const request = kind === 'run' || from === to ? run : { ...run, from: origin };
      const refusals: unknown[] = [];
      for (const part of parts) refusals.push(await to.batch.run({ ...request, part }));
      return refusals;
    };
  }
  const { terminated } = await readOutputs();
  const step = kind === 'step' ? random.step(terminated) : { ...PLAIN_STEP, actions: new Uint8Array(n) };
  return (_, to) => to.batch.submit(step);
}

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it('a masked reset changes only the environments of the mask, and clears the final mask', () =>
    forAllAsync(runsOn(engine, 40), async (random) => {
      const n = random.pick([1, 16, 37]);
      const { batch, columns } = await openAsyncBatch(engine, n);
      batch.reset(random.resetAtAnyStep(n));
      await batch.run(random.run(n));
      const before = await columns();
      const fresh = await openAsyncBatch(engine, n);
      const mask = random.mask(n, 0.4);
      const request = random.resetAtAnyStep(n);
      fresh.batch.reset(request);
      batch.reset({ ...request, mask });
      const after = await columns();
      const envs = Array.from(mask.keys());
      const others = envs.filter((i) => mask[i] === 0);
      const masked = envs.filter((i) => mask[i] !== 0);
      expectEqual(
        rowsOf(withoutFinalMask(before), n, others),
        rowsOf(withoutFinalMask(after), n, others),
        'not reset',
      );
      expect(after.finalMask.some(Boolean)).toBe(false);
      expectEqual(rowsOf(await fresh.columns(), n, masked), rowsOf(after, n, masked), 'reset');
    }));

  it('a reset without modes, profiles and graders keeps those of the previous reset', () =>
    forAllAsync(runsOn(engine, 20), async (random) => {
      const { batch, columns } = await openAsyncBatch(engine, 20);
      const request = random.resetAtAnyStep(20);
      batch.reset(request);
      const first = await columns();
      await batch.run(random.run(20));
      batch.reset({ ...request, modes: null, profiles: null, graders: null });
      expectEqual(first, await columns());
    }));

  it('an environment that does not step has reward 0 and is otherwise unchanged', async () => {
    const { batch, columns } = await openAtSteps(engine);
    batch.submit(PLAIN_STEP);
    const before = await columns();
    const request = { ...PLAIN_STEP, stepMask: Uint8Array.of(0, 1, 0), actions: Uint8Array.of(99, 3, 200) };
    expect(batch.submit(request)).toBeNull();
    const after = await columns();
    expect(after.rewards[0]).toBe(0);
    expect(after.rewards[1]).not.toBe(0);
    const rowsWithoutStep = ({ rewards: _, ...rest }: Columns) => rowsOf(rest, N, [0, 2]);
    expectEqual(rowsWithoutStep(before), rowsWithoutStep(after));
  });

  it('same-step autoreset: the reward and grade are those of the ended episode, the observation that of the next', async () => {
    const [one, other] = [await openAtSteps(engine, [27, 27, 5]), await openAtSteps(engine, [27, 27, 5])];
    other.batch.submit(PLAIN_STEP);
    const resetSeeds = Uint32Array.of(101, 102, 103);
    one.batch.submit({ ...PLAIN_STEP, resetMask: Uint8Array.of(1, 0, 0), resetSeeds });
    const autoreset = await one.columns();
    const ended = await other.columns();
    const result = ['finalScores', 'components', 'beliefMae', 'firstHalfMeans', 'secondHalfMeans'] as const;
    for (const name of ['rewards', 'terminated', ...result] as const) {
      expect(autoreset[name]).toEqual(ended[name]);
    }
    expect(autoreset.terminated).toEqual(Uint8Array.of(1, 1, 0));
    other.batch.reset({
      mask: Uint8Array.of(1, 0, 0),
      seeds: resetSeeds,
      modes: null,
      profiles: null,
      graders: null,
    });
    const reset = await other.columns();
    expectEqual(
      { observations: reset.observations, state: reset.state },
      { observations: autoreset.observations, state: autoreset.state },
    );
  });

  it('same-step autoreset: the following step clears the grade of a reset environment, even if it does not step', async () => {
    for (const stepMask of [Uint8Array.of(1, 0, 1), Uint8Array.of(0, 0, 1)]) {
      const { batch, readOutputs } = await openAtSteps(engine, [27, 27, 5]);
      batch.submit({ ...PLAIN_STEP, resetMask: Uint8Array.of(1, 0, 0), resetSeeds: seeds });
      batch.submit({ ...PLAIN_STEP, stepMask });
      const { terminated, finalScores, beliefMae, components, firstHalfMeans, secondHalfMeans } =
        await readOutputs();
      expect(Array.from(terminated)).toEqual([0, 1, 0]);
      expect(
        [finalScores, beliefMae, components, firstHalfMeans, secondHalfMeans].map(([first]) => first),
      ).toEqual(Array(5).fill(0));
      expect(finalScores[1]).toBeGreaterThan(0);
    }
  });

  it('next-step autoreset: a finished environment is reset instead of stepped', async () => {
    const { batch, readOutputs } = await openAtSteps(engine, [28, 3, 3]);
    const request = {
      stepMask: Uint8Array.of(0, 1, 1),
      resetMask: Uint8Array.of(1, 0, 0),
      resetSeeds: seeds,
    };
    expect(batch.submit({ ...PLAIN_STEP, ...request })).toBeNull();
    const { observations, rewards, finalScores, terminated } = await readOutputs();
    expect(observations[OBSERVATION.step]).toBe(0);
    expect(observations[OBSERVATION_SIZE + OBSERVATION.step]).toBe(4);
    expect([rewards[0], finalScores[0], terminated[0]]).toEqual([0, 0, 0]);
  });

  it('any byte except 0 in a step mask selects the environment', async () => {
    const [one, other] = [await openAtSteps(engine), await openAtSteps(engine)];
    one.batch.submit({ ...PLAIN_STEP, stepMask: Uint8Array.of(1, 0, 1) });
    other.batch.submit({ ...PLAIN_STEP, stepMask: Uint8Array.of(2, 0, 255) });
    expectEqual(await one.columns(), await other.columns());
  });
});

describe.each(OTHERS)('$name', (engine) => {
  it('long sequences of steps and autoresets have the outputs of the reference', () =>
    forAllAsync(runsOn(engine, 12), async (random) => {
      const n = random.pick([1, 16, 45]);
      const layout = () => ({ columnMajor: random.chance(0.5), finalObservations: true });
      const expected = await openAsyncBatch(REFERENCE, n, { layout: layout() });
      const got = await openAsyncBatch(engine, n, { layout: layout() });
      const reset = random.resetAtAnyStep(n);
      for (const { batch } of [expected, got]) batch.reset(reset);
      for (let t = 0; t < 2 * NUM_STEPS; t++) {
        const words = await expected.batch.save();
        const finished = Uint8Array.from({ length: n }, (_, i) =>
          Number(words[i * STATE_WORDS + STATE.step] === NUM_STEPS),
        );
        const request = random.step(finished, true);
        expect(got.batch.submit(request)).toBeNull();
        expect(expected.batch.submit(request)).toBeNull();
        expectEqual(await expected.columns(), await got.columns(), `step ${t}:`);
      }
    }));

  it('random call sequences have the refusals and outputs of the reference', () =>
    forAllAsync(runsOn(engine, 60), async (random) => {
      const n = random.pick([1, 3, 19]);
      const layout = { columnMajor: random.chance(0.5), finalObservations: random.chance(0.8) };
      const both = (each: AsyncEngine) =>
        Promise.all([openAsyncBatch(each, n, { layout }), openAsyncBatch(each, n, { layout })]);
      const pairs = [await both(REFERENCE), await both(engine)];
      const order = random.permutation(n);
      for (const at of [0, 1]) {
        const request = random.resetAtAnyStep(n);
        for (const pair of pairs) pair[at].batch.reset(request);
      }
      for (let call = 0; call < 14; call++) {
        const [from, to] = random.pick([
          [0, 1],
          [1, 0],
          [0, 0],
        ]);
        const callOn = await anyCall(random, pairs[0][from], pairs[0][to], order);
        const [expected, got] = [
          await callOn(pairs[0][from], pairs[0][to]),
          await callOn(pairs[1][from], pairs[1][to]),
        ];
        expect(got).toEqual(expected);
        expectEqual(await pairs[0][to].columns(), await pairs[1][to].columns(), `call ${call}:`);
      }
    }));

  it('refusals name the same environment, step and code as on the reference', () =>
    forAllAsync(runsOn(engine, 40), async (random) => {
      const n = random.pick([1, 16, 37]);
      const [reset, run] = [random.resetAtAnyStep(n), random.run(n)];
      const step = { ...random.step(new Uint8Array(n)), actions: random.bytes(n, 0, 10) };
      const sequence = {
        ...random.run(n),
        policy: { kind: 'sequence', actions: random.bytes(n * NUM_STEPS, 0, 12) },
      } as const;
      const refusalsOn = async (each: AsyncEngine) => {
        const { batch, columns } = await openAsyncBatch(each, n);
        batch.reset(reset);
        await batch.run(run);
        const before = await columns();
        const refusals = [batch.submit(step), await batch.run(sequence)];
        if (refusals[0] !== null && refusals[1] !== null) expectEqual(before, await columns());
        return refusals;
      };
      expect(await refusalsOn(engine)).toEqual(await refusalsOn(REFERENCE));
    }));
});
