/** `replay` of the backend interface checks histories, and has the same bits on every engine. */
import { describe, expect, it } from 'vitest';
import type { ReplayRequest } from '../../../src/engine/backends/backend.js';
import { toGraders } from '../../../src/engine/validate/profiles.js';
import { MODE, NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { ASYNC_ENGINES, OTHERS, REFERENCE } from '../../support/async-engines.js';
import { type Columns, expectEqual } from '../../support/bits.js';
import { ENGINES, reportAbsentEngines } from '../../support/engines.js';
import { forAllAsync, openAsyncBatch } from '../../support/open-async-batch.js';
import { openBatch, WORLD } from '../../support/open-batch.js';
import type { Random } from '../../support/random.js';

reportAbsentEngines();

const ROWS = 40;

/** Returns a request. @param order the rows to replay: each has a history of one action, 0, and then plays action 0 again. */
function requestOf(order: Uint32Array): ReplayRequest & { readonly histories: Uint8Array } {
  // The memory around the histories has legal codes, so that a wrong read there cannot cause the expected refusal.
  const memory = new Uint8Array(3 * ROWS * NUM_STEPS);
  return {
    order,
    seeds: new Uint32Array(ROWS).fill(7),
    modes: new Uint8Array(ROWS),
    profiles: null,
    grader: toGraders(WORLD, 'v2', 1),
    stops: new Uint8Array(ROWS).fill(1),
    histories: memory.subarray(ROWS * NUM_STEPS, 2 * ROWS * NUM_STEPS),
    actions: new Int8Array(ROWS),
    beliefs: null,
    given: null,
    beliefHistories: null,
    historyGiven: null,
    rewards: new Float32Array(ROWS),
    beliefMae: new Float32Array(ROWS),
    beliefSkill: new Float32Array(ROWS),
    hashes: new BigUint64Array(ROWS),
  };
}

describe.each(ENGINES)('$name', (engine) => {
  const { batch } = openBatch(engine, 1);

  it.each([
    ['the first of several rows', [30, 31, 32], 30],
    ['the last of several rows', [30, 31, 32], 32],
    ['a single row', [39], 39],
  ])('refuses an invalid action in the history of %s, and writes no hash', (_, order, index) => {
    const request = requestOf(Uint32Array.from(order));
    request.histories[index * NUM_STEPS] = NUM_ACTIONS;
    const refusal = { code: 'illegal_action', index, step: 0, value: NUM_ACTIONS };
    expect(batch.replay(request)).toEqual(refusal);
    expect(request.hashes).toEqual(new BigUint64Array(ROWS));
  });

  it('ignores codes after the end of a history, and rows that are not requested', () => {
    const request = requestOf(Uint32Array.of(30, 31));
    request.histories[30 * NUM_STEPS + 1] = 255;
    request.histories[32 * NUM_STEPS] = 255;
    expect(batch.replay(request)).toBeNull();
    const [one, other, third] = request.hashes.slice(30);
    expect(one).toBe(other);
    expect([one === 0n, third]).toEqual([false, 0n]);
  });
});

/** Returns a request for random rows, some of them without a step after their history. */
function randomRequest(random: Random): ReplayRequest {
  const none = { beliefs: null, given: null };
  const inHistories = random.chance(0.7) ? random.beliefs(ROWS * NUM_STEPS, 0.5) : none;
  const atLast = random.chance(0.7) ? random.beliefs(ROWS, 0.5) : none;
  const rows = Array.from({ length: ROWS }, (_, row) => row).filter(() => random.chance(0.8));
  return {
    ...requestOf(Uint32Array.from(rows).reverse()),
    seeds: random.seeds(ROWS),
    modes: random.bytes(ROWS, MODE.sampled, MODE.discrete),
    stops: random.bytes(ROWS, 0, NUM_STEPS - 1),
    histories: random.bytes(ROWS * NUM_STEPS, 0, NUM_ACTIONS - 1),
    actions: Int8Array.from({ length: ROWS }, () => random.integer(-1, NUM_ACTIONS - 1)),
    beliefHistories: inHistories.beliefs,
    historyGiven: inHistories.given,
    ...atLast,
  };
}

const outputsOf = ({ rewards, beliefMae, beliefSkill, hashes }: ReplayRequest): Columns => ({
  ...{ rewards, beliefMae, beliefSkill, hashes },
});

const copyOfOutputs = (request: ReplayRequest): ReplayRequest => ({
  ...request,
  rewards: request.rewards.slice(),
  beliefMae: request.beliefMae.slice(),
  beliefSkill: request.beliefSkill.slice(),
  hashes: request.hashes.slice(),
});

describe.each(OTHERS)('$name', (engine) => {
  it('replays rows with the same bits as the reference', async () => {
    await forAllAsync(40, async (random) => {
      const reference = await openAsyncBatch(REFERENCE, 1);
      const { batch } = await openAsyncBatch(engine, 1);
      const expected = randomRequest(random);
      const request = copyOfOutputs(expected);
      expect(await reference.batch.replay(expected)).toBeNull();
      expect(await batch.replay(request)).toBeNull();
      expectEqual(outputsOf(expected), outputsOf(request));
    });
  });
});

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it('writes no hash if no rows are requested', async () => {
    const { batch } = await openAsyncBatch(engine, 1);
    const request = requestOf(new Uint32Array());
    expect(await batch.replay(request)).toBeNull();
    expect(request.hashes).toEqual(new BigUint64Array(ROWS));
  });
});
