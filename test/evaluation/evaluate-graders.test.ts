/** Evaluation under custom graders, and the results of single episodes. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { POLICY_NAMES, policyName } from '../../src/agents/policies/policies.js';
import { evaluationToJson } from '../../src/evaluation/evaluation-json.js';
import {
  evaluate,
  graderWeights,
  InputError,
  type PlayedEpisodes,
  RHYTHM,
  regrade,
} from '../../src/index.js';

const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
const seeds = { first: 0, last: 19 };

it('accepts a grader, and results have its name and all six weights', async () => {
  const { rows, ...run } = await evaluate({ grader: calm, seeds });
  const weights = { ...calm.weights, progress: 0, connection: 0, adaptation: 0 };
  expect(run).toMatchObject({ grader: 'calm', graderWeights: weights });
  for (const { finalScore, components } of rows) {
    const { crashFree, efficiency, beliefAccuracy } = components;
    expect(finalScore.mean).toBeCloseTo(0.5 * crashFree + 0.3 * efficiency + 0.2 * beliefAccuracy, 6);
  }
  const json = evaluationToJson({ rows, ...run });
  expect(json).toMatchObject({ grader: 'calm', grader_weights: weights });
});

it('returns the weights of built-in graders', async () => {
  for (const grader of ['v1', 'v2'] as const) {
    const run = await evaluate({ grader, seeds: { first: 0, last: 0 } });
    expect(run.grader).toBe(grader);
    expect(Object.values(run.graderWeights)).toEqual(RHYTHM.graders[grader]);
  }
});

it('gives the same rows for the same weights, whatever the name of the grader', async () => {
  const named = await evaluate({ seeds });
  const mine = await evaluate({ seeds, grader: { name: 'mine', weights: named.graderWeights } });
  const listed = await evaluate({ seeds, grader: graderWeights('v2') });
  expect(mine.rows).toEqual(named.rows);
  expect([mine.grader, listed.grader]).toEqual(['mine', 'custom']);
  expect(listed.rows).toEqual(named.rows);
});

it('refuses an invalid grader before the first episode', async () => {
  const bad = { name: 'calm', weights: { crash_fre: 1 } };
  const started: unknown[] = [];
  const refusal = evaluate({ grader: bad, onStart: (info) => started.push(info) });
  await expect(refusal).rejects.toThrow(InputError);
  await expect(refusal).rejects.toThrow('got "crash_fre". Did you mean "crash_free"?');
  await expect(evaluate({ grader: null as never })).rejects.toThrow('Expected grader to be a name, got null');
  expect(started).toEqual([]);
});

it('calls onEpisodes for each chunk and policy, with the scores of the rows', async () => {
  const played: (Omit<PlayedEpisodes, 'result'> & { scores: Float32Array })[] = [];
  const { rows } = await evaluate({
    conditions: ['ood', 'discrete'],
    episodes: 5,
    chunkSize: 2,
    onEpisodes: async ({ result, ...episodes }) => {
      // Views are valid until the promise is resolved.
      await new Promise((resolve) => setImmediate(resolve));
      expect(regrade(result.components, 'v2')).toEqual(result.finalScores);
      played.push({ ...episodes, scores: result.finalScores.slice() });
    },
  });
  expect(played.slice(0, 6).map(policyName).sort()).toEqual([...POLICY_NAMES].sort());
  expect(played[0]).toMatchObject({
    condition: 'ood',
    profile: 'sampled',
    seeds: Uint32Array.of(10000, 10001),
  });
  for (const row of rows) {
    const rowEpisodes = played.filter(
      (episodes) => episodes.condition === row.condition && policyName(episodes) === policyName(row),
    );
    const hash = createHash('sha256');
    for (const { scores } of rowEpisodes) hash.update(scores);
    expect(hash.digest('hex').slice(0, 16)).toBe(row.digest);
    expect(rowEpisodes.every(({ sequenceGrader }) => sequenceGrader === row.sequenceGrader)).toBe(true);
  }
});

it('calls onEpisodes only for the selected policies, and rejects with the error of the listener', async () => {
  const names = new Set<string>();
  const policies = ['random'];
  await evaluate({ seeds, policies, onEpisodes: (episodes) => names.add(policyName(episodes)) });
  expect([...names]).toEqual(policies);
  const error = new Error('the disk is full');
  await expect(evaluate({ seeds, onEpisodes: () => Promise.reject(error) })).rejects.toBe(error);
});
