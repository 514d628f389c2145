/** Trains a student as the page does by default, and compares it with the planner in the measured episodes. */
import { readFileSync } from 'node:fs';
import { defaultDevice, init } from '@jax-js/jax';
import { expect, it } from 'vitest';
import { Features } from '../../src/agents/student/network.js';
import { StudentPlayer } from '../../src/agents/student/student-player.js';
import { runTraining } from '../../src/training/student/train.js';
import { toTrainRequest } from '../../src/training/student/train-options.js';
import { SCHEDULES } from '../../web/src/sizes.js';
import { measure, unpack } from '../../web/src/training/episodes.js';

const read = (name: string): Buffer =>
  readFileSync(new URL(`../../web/src/training/generated/${name}`, import.meta.url));

it('a student of the stored episodes comes within 0.02 of the planner under v2', async () => {
  await init('wasm');
  defaultDevice('wasm');
  const { episodes, ...schedule } = SCHEDULES.stored;
  const stored = unpack(read('planner-v2.bin'), episodes);
  const request = toTrainRequest({ teacher: 'planner', grader: 'v2', stored, ...schedule });
  const { signal } = new AbortController();
  const hooks = { engine: {}, signal, onCheckpoint: async () => {}, onProgress: () => {} };
  const { network } = await runTraining(request, null, hooks);
  const { finalScore } = await measure(
    ({ world, numEnvs }) => new StudentPlayer(network, new Features(world.words, numEnvs), numEnvs),
    request.grader,
    signal,
  );
  const planner = JSON.parse(read('planner-v2.json').toString()) as { finalScore: number };
  expect(finalScore).toBeGreaterThan(planner.finalScore - 0.02);
});
