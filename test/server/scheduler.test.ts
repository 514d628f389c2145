/** Tests Scheduler, which runs the batches of /v1 in turns. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { yieldTurn } from '../../src/engine/vec-env/yield-turn.js';
import { LARGE, Scheduler } from '../../src/server/scheduler.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

it('keeps no reference to the result of large work', async () => {
  const scheduler = new Scheduler({ working: 1, waiting: 0, waitMs: 1000 }, 0);
  const work = async () => new WeakRef(await scheduler.runLarge(LARGE, async () => new Uint8Array(8)));
  const result = await work();
  // A WeakRef keeps its object until the end of the turn.
  await yieldTurn();
  collect();
  expect(result.deref()).toBeUndefined();
});
