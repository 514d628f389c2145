/** Scorers, planners and searches on WebGPU give the results of the reference. */
import { expect, it } from 'vitest';
import { openBatch } from '../../src/engine/backends/open-batch.js';
import { searchActionSequence } from '../../src/index.js';
import { expectSamePlans } from '../support/async-planner.js';
import { expectSameScores } from '../support/async-scores.js';
import { describeGpu } from '../support/gpu-suite.js';

describeGpu('on WebGPU', () => {
  it('a scorer of action sequences has the scores of the reference', () => expectSameScores(openBatch));

  it.each([{ grader: 'v3' }, { objective: 'wellbeing' }] as const)(
    'a planner decides and explains as on the reference: %j',
    (options) => expectSamePlans(openBatch, { ...options, backend: 'webgpu' }, [0, 27]),
  );

  it('a search finds the sequence of the reference', async () => {
    const search = (backend: string) =>
      searchActionSequence({ seeds: [1, 2] }, { evaluations: 1000, backend });
    expect(await search('webgpu')).toEqual(await search('reference'));
  });
});
