/** Masked steps, masked resets and resets after steps at the backend interface: every engine equals the reference. */
import { describe, expect, it } from 'vitest';
import type { StepRequest } from '../../../src/engine/backends/backend.js';
import { NUM_STEPS, STATE, STATE_WORDS } from '../../../src/world/fields.js';
import {
  ASYNC_ENGINES,
  type AsyncEngine,
  OTHERS,
  REFERENCE,
  reportAbsentEngines,
  runsOn,
} from '../../support/async-engines.js';
import { expectEqual } from '../../support/bits.js';
import { forAllAsync, type OpenedAsyncBatch, openAsyncBatch } from '../../support/open-async-batch.js';
import { Random } from '../../support/random.js';

reportAbsentEngines();

const PLAIN_STEP: Omit<StepRequest, 'actions'> = {
  beliefs: null,
  given: null,
  stepMask: null,
  resetMask: null,
  resetSeeds: null,
};

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
    ...['step', 'step', 'step', 'step of all', 'reset', 'masked reset'],
    ...['gather', 'run', 'run from', 'load'],
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
    // The second part must begin at a multiple of 16 (`slice` of RunRequest).
    const first = Math.min(n, 16);
    const parts = [
      { first: 0, end: first },
      { first, end: n },
    ].filter((part) => part.first < part.end);
    return async (from, to) => {
      const origin = { source: from.batch as never, indices: order };
      const request = kind === 'run' || from === to ? run : { ...run, from: origin };
      const refusals: unknown[] = [];
      for (const part of parts) refusals.push(await to.batch.run({ ...request, slice: part }));
      return refusals;
    };
  }
  const { terminated } = await readOutputs();
  const step = kind === 'step' ? random.step(terminated) : { ...PLAIN_STEP, actions: new Uint8Array(n) };
  return (_, to) => to.batch.submit(step);
}

describe.each(ASYNC_ENGINES)('$name', (engine) => {
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

  it('any byte except 0 in a step mask selects the environment', async () => {
    const [expected, got] = await Promise.all(
      [Uint8Array.of(1, 0, 1), Uint8Array.of(2, 0, 255)].map(async (stepMask) => {
        const { batch, columns } = await openAsyncBatch(engine, 3);
        batch.reset(new Random('masks').reset(3));
        expect(batch.submit({ ...PLAIN_STEP, actions: Uint8Array.of(0, 99, 6), stepMask })).toBeNull();
        return columns();
      }),
    );
    expectEqual(expected, got);
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
