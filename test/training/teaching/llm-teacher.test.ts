/** A language model as a teacher: the seeds that it plays. */
import { expect, it } from 'vitest';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { episodeKey } from '../../../src/rollouts/trajectories/write-line.js';
import { keysOf, teachByModel } from '../../../src/training/teaching/llm-teacher.js';
import { modelOf, startModel } from '../../support/llm.js';

const SEEDS = { first: 100, last: 103 };

it('teachByModel plays only the seeds whose episodes are not stored yet', async () => {
  const { model } = await modelOf(await startModel());
  const keys = keysOf(SEEDS, 'discrete', model.name);
  expect(new Set(keys).size).toBe(4);
  const options = { model, grader: toGrader('v2'), concurrency: 1, seeds: SEEDS, profiles: 'discrete' };
  const played = [];
  for await (const episode of teachByModel(options, (key) => key === keys[0] || key === keys[2])) {
    played.push(episode);
  }
  expect(played.map(({ seed }) => seed)).toEqual([101, 103]);
  expect(played.map(episodeKey)).toEqual([keys[1], keys[3]]);
});
