/** Scores of planners on few seeds with small searches, against bounds with a wide margin. */
import { describe, expect, it } from 'vitest';
import { createVecEnv, type Evaluation, evaluate } from '../../../src/index.js';
import { meanOf, playPlannedEpisodes, seedsFrom } from '../../support/planned-episodes.js';

/** Twelve seeds of the condition in-distribution, and six of ood. */
const seeds = Uint32Array.from([...seedsFrom(0, 12), ...seedsFrom(10000, 6)]);
using env = createVecEnv({ numEnvs: seeds.length, copy: true });

const heuristic = playHeuristic();
const planner = playPlannedEpisodes(seeds).result;
const wellbeing = playPlannedEpisodes(seeds, { objective: 'wellbeing' }).result;
const withPrior = playPlannedEpisodes(seeds, { inference: false }).result;

/** Plays the heuristic with the constant belief. */
function playHeuristic() {
  env.reset({ seed: seeds });
  return env.run('heuristic', { beliefs: [0.5, 0.5, 0.5] });
}

/** Returns the number of episodes in which the first policy scores more. */
const wins = (one: Float32Array, other: Float32Array): number =>
  one.filter((score, i) => score > other[i]).length;

describe('a planner for the score', () => {
  it('beats the heuristic with a constant belief in nearly every episode', () => {
    expect(wins(planner.finalScores, heuristic.finalScores)).toBeGreaterThanOrEqual(seeds.length - 1);
    expect(meanOf(planner.finalScores)).toBeGreaterThan(0.77);
  });

  it('infers the profiles', () => {
    expect(meanOf(planner.beliefMae)).toBeLessThan(0.1);
  });

  it('plays worse without inference', () => {
    expect(meanOf(withPrior.finalScores)).toBeLessThan(meanOf(planner.finalScores) - 0.02);
    expect([...withPrior.beliefMae]).toEqual([...heuristic.beliefMae]);
  });

  it('infers the profiles less accurately without curiosity, a bonus for actions that improve the belief', () => {
    const withoutCuriosity = playPlannedEpisodes(seeds, { curiosity: 0 }).result;
    expect(meanOf(planner.beliefMae)).toBeLessThan(meanOf(withoutCuriosity.beliefMae) - 0.005);
  });
});

describe('a planner for wellbeing', () => {
  it('does not neglect the first half, unlike a planner for the score', () => {
    const firstHalf = meanOf(heuristic.firstHalfMeans);
    expect(meanOf(wellbeing.firstHalfMeans)).toBeGreaterThanOrEqual(firstHalf);
    expect(meanOf(planner.firstHalfMeans)).toBeLessThan(firstHalf);
  });

  it('beats the heuristic with a constant belief in nearly every episode, and infers the profiles', () => {
    expect(wins(wellbeing.finalScores, heuristic.finalScores)).toBeGreaterThanOrEqual(seeds.length - 1);
    expect(meanOf(wellbeing.beliefMae)).toBeLessThan(0.1);
  });
});

describe('in an evaluation', () => {
  const policies = ['heuristic+inference', 'open-loop+inference', 'planner-prior', 'planner-oracle'];
  const play = (chunkSize?: number) => evaluate({ seeds: { first: 0, last: 1 }, policies, chunkSize });
  const whole = play();

  it('every policy has a row, which says whether it is an oracle and for which grader its sequence was found', async () => {
    const { rows } = await whole;
    expect(rows.map(({ policy, belief, oracle }) => [policy, belief, oracle])).toEqual([
      ['heuristic+inference', 'own', false],
      ['open-loop+inference', 'own', false],
      ['planner-prior', 'own', false],
      ['planner-oracle', 'own', true],
    ]);
    expect(rows.map(({ sequenceGrader }) => sequenceGrader)).toEqual([null, 'v2', null, null]);
    expect(rows[3].beliefMae).toBe(0);
    expect(rows[3].finalScore.mean).toBeGreaterThan(rows[2].finalScore.mean);
  });

  it('the chunk size changes no result', async () => {
    const digestsOf = ({ rows }: Evaluation) => rows.map(({ digest }) => digest);
    expect(digestsOf(await play(1))).toEqual(digestsOf(await whole));
  });

  it('inference improves the beliefs of a fixed policy, and changes neither its half means nor its progress', async () => {
    const { rows } = await evaluate({
      seeds: { first: 0, last: 9 },
      policies: ['heuristic', 'heuristic+inference', 'open-loop', 'open-loop+inference'],
    });
    for (const k of [0, 2]) {
      const [without, inferring] = [rows[k], rows[k + 1]];
      expect([inferring.firstHalfMean, inferring.secondHalfMean]).toEqual([
        without.firstHalfMean,
        without.secondHalfMean,
      ]);
      expect(inferring.components.progress).toBe(without.components.progress);
      expect(inferring.beliefMae).toBeLessThan(without.beliefMae - 0.05);
    }
  });

  it('a planner is aborted before its episodes end', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const evaluation = evaluate({
      seeds: { first: 0, last: 20 },
      policies: ['planner'],
      signal: abort.signal,
      onStart: () => void setTimeout(() => abort.abort(reason)),
      onEpisodes: () => expect.unreachable(),
    });
    await expect(evaluation).rejects.toBe(reason);
  });
});
