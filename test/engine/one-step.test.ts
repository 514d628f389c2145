/**
 * Single steps: every engine loads a state that one engine reached and takes one step. Outputs and states must agree bit
 * by bit. The name of the column that differs helps to find the wrong rule.
 */
import { describe, expect, it } from 'vitest';
import {
  ASYNC_ENGINES,
  type AsyncEngine,
  enginesFor,
  OTHERS,
  REFERENCE,
  reportAbsentEngines,
  runsOn,
} from '../support/async-engines.js';
import { expectEqual } from '../support/bits.js';
import { forAllAsync, type OpenedAsyncBatch, openAsyncBatch } from '../support/open-async-batch.js';
import type { Random } from '../support/random.js';

reportAbsentEngines();

/** Plays the episodes of a batch to different steps, by runs to random stops and by single steps. */
async function playRandomly(
  random: Random,
  { batch, numEnvs, readOutputs }: OpenedAsyncBatch,
): Promise<void> {
  batch.reset(random.reset(numEnvs));
  for (let calls = random.integer(0, 4); calls > 0; calls--) {
    const { terminated } = await readOutputs();
    const isRun = random.chance(0.5);
    expect(isRun ? await batch.run(random.run(numEnvs)) : batch.submit(random.step(terminated))).toBeNull();
  }
}

/** Compares one step of the engines, from random states that `engine` reached. */
async function compareOneStep(random: Random, engine: AsyncEngine): Promise<void> {
  const n = random.pick([1, 3, 15, 16, 17, 33, 100]);
  const imagination = random.chance(0.3);
  const source = await openAsyncBatch(engine, n, { imagination });
  await playRandomly(random, source);
  const words = await source.batch.save();
  const states = await openAsyncBatch(REFERENCE, n, { imagination });
  states.batch.load(words);
  const loaded = await states.columns();
  const request = random.step(loaded.terminated as Uint8Array);
  expect(states.batch.submit(request)).toBeNull();
  const stepped = await states.columns();
  for (const other of enginesFor(random, OTHERS)) {
    const { batch, columns } = await openAsyncBatch(other, n, { imagination });
    batch.load(words);
    expectEqual(loaded, await columns(), `${other.name} after load:`);
    expect(batch.submit(request)).toBeNull();
    expectEqual(stepped, await columns(), `${other.name} after a step:`);
  }
}

describe.each(ASYNC_ENGINES)('from states that $name reached', (engine) => {
  it('one step is the same on every engine', () =>
    forAllAsync(runsOn(engine, 150), (random) => compareOneStep(random, engine)));
});
