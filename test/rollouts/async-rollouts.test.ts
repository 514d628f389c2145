/** Rollouts and replay scores on a backend whose calls return promises have the same bits as on the reference. */
import { expect, it } from 'vitest';
import { scoreReplay, scoreReplayAsync } from '../../src/index.js';
import { expectSameGroups, expectSameReplays } from '../support/async-rollouts.js';
import { STAND_IN_PLATFORM } from '../support/stand-in-batch.js';

const STAND_IN = { platform: STAND_IN_PLATFORM, backend: 'stand-in' };
const ROW = { seed: 3, actionHistory: [1, 2], action: 4, belief: null };

it('replay scores of 150 rows, and faults, equal those of the reference', () =>
  expectSameReplays(STAND_IN, 150));

it('rollouts, and the histories that a policy reads, equal those of the reference', () =>
  expectSameGroups(STAND_IN));

it('scoreReplayAsync has the scores of scoreReplay on a synchronous backend, and rejects with its errors', async () => {
  expect(await scoreReplayAsync([ROW])).toEqual(scoreReplay([ROW]));
  const faulty = scoreReplayAsync([{ ...ROW, seed: -1 }], { onFault: 'throw' });
  await expect(faulty).rejects.toMatchObject({ code: 'bad_seed' });
});

it('scoreReplay refuses webgpu and names the asynchronous function', () => {
  expect(() => scoreReplay([ROW], { backend: 'webgpu' })).toThrow(/return promises.*scoreReplayAsync/);
});
