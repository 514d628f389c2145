/** The checks of histories that `replay` of the backend interface makes. */
import { describe, expect, it } from 'vitest';
import type { ReplayRequest } from '../../../src/engine/backends/backend.js';
import { toGraders } from '../../../src/engine/validate/profiles.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../../src/world/fields.js';
import { ENGINES, reportAbsentEngines } from '../../support/engines.js';
import { openBatch, WORLD } from '../../support/open-batch.js';

reportAbsentEngines();

const ROWS = 40;

/** Returns a request whose rows have a history of one action, 0, and then play action 0 again. */
function requestOf(order: Uint32Array): ReplayRequest & { readonly histories: Uint8Array } {
  // The memory before and after the histories contains legal codes, too.
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
    ['the first row of an order', [30, 31, 32], 30],
    ['the last row of an order', [30, 31, 32], 32],
    ['the only row of an order', [39], 39],
  ])('refuses an invalid action in the history of %s, and writes nothing', (_, order, index) => {
    const request = requestOf(Uint32Array.from(order));
    request.histories[index * NUM_STEPS] = NUM_ACTIONS;
    const refusal = { code: 'illegal_action', index, step: 0, value: NUM_ACTIONS };
    expect(batch.replay(request)).toEqual(refusal);
    expect(request.hashes).toEqual(new BigUint64Array(ROWS));
  });

  it('ignores codes after the end of a history, and rows outside the order', () => {
    const request = requestOf(Uint32Array.of(30, 31));
    request.histories[30 * NUM_STEPS + 1] = 255;
    request.histories[32 * NUM_STEPS] = 255;
    expect(batch.replay(request)).toBeNull();
    const [one, other, third] = request.hashes.slice(30);
    expect(one).toBe(other);
    expect([one === 0n, third]).toEqual([false, 0n]);
  });
});
