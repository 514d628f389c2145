/** How well planners play, on few seeds and with little search: far enough from the bars to hold them. */
import { describe, expect, it } from 'vitest';
import { createVecEnv, evaluate } from '../src/index.js';
import { meanOf, playWeeks, seedsFrom } from './support/planning.js';

/** Of both conditions of the re-evaluation. */
const seeds = Uint32Array.from([...seedsFrom(0, 12), ...seedsFrom(10000, 6)]);
using env = createVecEnv({ numEnvs: seeds.length, copy: true });

const heuristic = run('heuristic', [0.5, 0.5, 0.5]);
const planner = playWeeks(seeds).result;
const wellbeing = playWeeks(seeds, { objective: 'wellbeing' }).result;
const ignorant = playWeeks(seeds, { inference: false }).result;

function run(policy: 'heuristic', beliefs: number[]) {
  env.reset({ seed: seeds });
  return env.run(policy, { beliefs });
}

/** Of how many weeks one scores more than another. */
const won = (one: Float32Array, other: Float32Array): number =>
  one.filter((score, i) => score > other[i]).length;

describe('a planner for the score', () => {
  it('beats the heuristic with a constant belief, week by week', () => {
    expect(won(planner.finalScores, heuristic.finalScores)).toBeGreaterThanOrEqual(seeds.length - 1);
    expect(meanOf(planner.finalScores)).toBeGreaterThan(0.77);
  });

  it('knows the persons', () => {
    expect(meanOf(planner.beliefMae)).toBeLessThan(0.1);
  });

  it('plays worse without inference', () => {
    expect(meanOf(ignorant.finalScores)).toBeLessThan(meanOf(planner.finalScores) - 0.02);
    expect([...ignorant.beliefMae]).toEqual([...heuristic.beliefMae]);
  });

  it('learns less where it is not curious', () => {
    const bored = playWeeks(seeds, { curiosity: 0 }).result;
    expect(meanOf(planner.beliefMae)).toBeLessThan(meanOf(bored.beliefMae) - 0.005);
  });
});

describe('a planner for wellbeing', () => {
  it("has early means that are at least the heuristic's, where one for the score neglects them", () => {
    const early = meanOf(heuristic.earlyMeans);
    expect(meanOf(wellbeing.earlyMeans)).toBeGreaterThanOrEqual(early);
    expect(meanOf(planner.earlyMeans)).toBeLessThan(early);
  });

  it('beats the heuristic with a constant belief all the same, and knows the persons', () => {
    expect(won(wellbeing.finalScores, heuristic.finalScores)).toBeGreaterThanOrEqual(seeds.length - 1);
    expect(meanOf(wellbeing.beliefMae)).toBeLessThan(0.1);
  });
});

describe('in an evaluation', () => {
  const policies = ['heuristic+inference', 'blind-tape+inference', 'planner-prior', 'planner-oracle'];
  const play = (chunkSize?: number) => evaluate({ seeds: { first: 0, last: 3 }, policies, chunkSize });

  it('every policy has its row, and the oracle is marked', async () => {
    const { rows } = await play();
    expect(rows.map(({ policy, belief, oracle }) => [policy, belief, oracle])).toEqual([
      ['heuristic+inference', 'own', false],
      ['blind-tape+inference', 'own', false],
      ['planner-prior', 'own', false],
      ['planner-oracle', 'own', true],
    ]);
    expect(rows.map(({ tape }) => tape)).toEqual([null, 'v2', null, null]);
    expect(rows[3].beliefMae).toBe(0);
    expect(rows[3].finalScore.mean).toBeGreaterThan(rows[2].finalScore.mean);
  });

  it('chunks change no result', async () => {
    const digests = async (chunkSize?: number) => (await play(chunkSize)).rows.map(({ digest }) => digest);
    expect(await digests(3)).toEqual(await digests());
  });

  it('those that infer act as those that do not', async () => {
    const { rows } = await evaluate({
      seeds: { first: 0, last: 9 },
      policies: ['heuristic', 'heuristic+inference', 'blind-tape', 'blind-tape+inference'],
    });
    for (const k of [0, 2]) {
      const [without, inferring] = [rows[k], rows[k + 1]];
      expect([inferring.earlyMean, inferring.lateMean]).toEqual([without.earlyMean, without.lateMean]);
      expect(inferring.components.progress).toBe(without.components.progress);
      expect(inferring.beliefMae).toBeLessThan(without.beliefMae - 0.05);
    }
  });

  it('is stopped within a step', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const evaluation = evaluate({
      ...{ seeds: { first: 0, last: 20 }, policies: ['planner'], signal: abort.signal },
      onStart: () => void setTimeout(() => abort.abort(reason)),
      onEpisodes: () => expect.unreachable(),
    });
    await expect(evaluation).rejects.toBe(reason);
  });
});
