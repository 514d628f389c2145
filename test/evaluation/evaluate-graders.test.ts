/** Evaluation under custom and built-in graders, the scores under other graders, and `onEpisodes`. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { POLICY_NAMES, policyName } from '../../src/agents/policies/fixed-policies.js';
import { evaluationToJson } from '../../src/evaluation/result-json.js';
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

it('evaluate accepts a custom grader, and results have its name and all eight weights', async () => {
  const { rows, ...run } = await evaluate({ grader: calm, seeds });
  const rest = { progress: 0, connection: 0, adaptation: 0, wellbeing: 0, belief_skill: 0 };
  const weights = { ...calm.weights, ...rest };
  expect(run).toMatchObject({ grader: 'calm', graderWeights: weights });
  for (const { finalScore, components } of rows) {
    const { crashFree, efficiency, beliefAccuracy } = components;
    expect(finalScore.mean).toBeCloseTo(0.5 * crashFree + 0.3 * efficiency + 0.2 * beliefAccuracy, 6);
  }
  const json = evaluationToJson({ rows, ...run }) as { rows: object[] };
  expect(json).toMatchObject({ grader: 'calm', grader_weights: weights });
  expect(rows[0].regraded.map(({ grader }) => grader)).toEqual(['v2', 'v3']);
  const regraded = rows[0].regraded.map(({ grader, finalScore }) => ({ grader, final_score: finalScore }));
  expect(json.rows[0]).toMatchObject({ regraded });
});

it('evaluate gives the same rows for the same weights, whatever the name of the grader', async () => {
  const named = await evaluate({ seeds });
  expect(Object.values(named.graderWeights)).toEqual(RHYTHM.graders.v2);
  const mine = await evaluate({ seeds, grader: { name: 'mine', weights: named.graderWeights } });
  const listed = await evaluate({ seeds, grader: graderWeights('v2') });
  expect(mine.rows).toEqual(named.rows);
  expect([mine.grader, listed.grader]).toEqual(['mine', 'custom']);
  expect(listed.rows).toEqual(named.rows);
});

describe('scores under other graders', () => {
  const policies = ['random', 'heuristic+constant'];

  it('equal the scores of playing for the other grader, if a policy plays the same for both', async () => {
    const [played, other] = await Promise.all(
      ['v2', 'v3'].map((grader) =>
        evaluate({ grader, seeds: { first: 0, last: 99 }, policies, chunkSize: 30 }),
      ),
    );
    for (const [k, row] of played.rows.entries()) {
      expect(row.regraded[0].finalScore).toEqual(other.rows[k].finalScore);
      expect(other.rows[k].regraded[0].finalScore).toEqual(row.finalScore);
    }
  });

  it('are scores of the same episodes, not of episodes that were played for the other grader', async () => {
    const openLoop = { seeds, policies: ['open-loop'] };
    let sum = 0;
    const { rows } = await evaluate({
      ...openLoop,
      onEpisodes: ({ result }) => {
        for (const score of regrade(result.components, 'v3')) sum += score / 20;
      },
    });
    expect(rows[0].regraded[0].finalScore.mean).toBeCloseTo(sum, 12);
  });
});

it('evaluate refuses an invalid grader before the first episode', async () => {
  const bad = { name: 'calm', weights: { crash_fre: 1 } };
  const refusal = evaluate({ grader: bad, onStart: () => expect.unreachable() });
  await expect(refusal).rejects.toThrow(InputError);
  await expect(refusal).rejects.toThrow('got "crash_fre". Did you mean "crash_free"?');
});

it('evaluate calls onEpisodes for each chunk and policy, with the scores of the rows', async () => {
  const played: (Omit<PlayedEpisodes, 'result'> & { scores: Float32Array })[] = [];
  const { rows } = await evaluate({
    conditions: ['ood', 'discrete'],
    episodes: 5,
    chunkSize: 2,
    onEpisodes: async ({ result, ...episodes }) => {
      // Views are valid until the returned promise resolves.
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

it('evaluate calls onEpisodes only for the selected policies, and rejects with the error of the listener', async () => {
  const names = new Set<string>();
  const policies = ['random'];
  await evaluate({ seeds, policies, onEpisodes: (episodes) => names.add(policyName(episodes)) });
  expect([...names]).toEqual(policies);
  const error = new Error('the disk is full');
  await expect(evaluate({ seeds, onEpisodes: () => Promise.reject(error) })).rejects.toBe(error);
});
