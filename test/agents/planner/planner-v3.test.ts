/**
 * Planners under grader v3: inference and curiosity (the weight of the value of information) raise the score. The seeds are few
 * and the searches small; docs/guides/planner.md has the figures of full searches. The bounds are chosen by hand, with a margin
 * to those figures.
 */
import { describe, expect, it } from 'vitest';
import { repeatActions } from '../../../src/agents/policies/open-loop.js';
import { createVecEnv, Episode, evaluate, openLoopActions, regrade } from '../../../src/index.js';
import { COMPONENT_NAMES } from '../../../src/world/fields.js';
import { meanOf, playPlannedEpisodes, seedsFrom } from '../../support/planned-episodes.js';

const seeds = seedsFrom(61_000, 24);
const grader = 'v3';
const scoresOf = (options: Parameters<typeof playPlannedEpisodes>[1]) =>
  regrade(playPlannedEpisodes(seeds, options).result.components, grader);
const planner = playPlannedEpisodes(seeds, { grader }).result;
const score = meanOf(regrade(planner.components, grader));
const componentOf = ({ components }: Pick<typeof planner, 'components'>, name: string) =>
  meanOf(components.filter((_, k) => k % COMPONENT_NAMES.length === COMPONENT_NAMES.indexOf(name)));

function openLoopScore(): number {
  using env = createVecEnv({ numEnvs: seeds.length, grader });
  env.reset({ seed: seeds });
  const actions = repeatActions(openLoopActions(grader), seeds.length);
  return meanOf(env.run(actions, { beliefs: [0.5, 0.5, 0.5] }).finalScores);
}

describe('under v3, a planner', () => {
  // Without inference, it plans for profiles drawn from the prior.
  const prior = playPlannedEpisodes(seeds, { grader, inference: false }).result;

  it('scores more than 0.2 above the best open-loop sequence, and above a planner without inference', () => {
    expect(score).toBeGreaterThan(0.78);
    expect(score - openLoopScore()).toBeGreaterThan(0.2);
    expect(score - meanOf(regrade(prior.components, grader))).toBeGreaterThan(0.2);
  });

  it('reaches high wellbeing and belief skill; without inference, the belief skill is near 0', () => {
    expect(componentOf(planner, 'wellbeing')).toBeGreaterThan(0.6);
    expect(componentOf(planner, 'belief_skill')).toBeGreaterThan(0.65);
    expect(Math.abs(componentOf(prior, 'belief_skill'))).toBeLessThan(0.2);
  });

  it('has higher belief skill with curiosity than without, and scores more', () => {
    const without = playPlannedEpisodes(seeds, { grader, curiosity: 0 }).result;
    expect(componentOf(planner, 'belief_skill')).toBeGreaterThan(componentOf(without, 'belief_skill') + 0.05);
    expect(score).toBeGreaterThan(meanOf(regrade(without.components, grader)));
  });

  it('with the true profiles scores higher by more than 0.04', () => {
    const profiles = Array.from(seeds).flatMap((seed) => [...new Episode().reset(seed).profile]);
    expect(meanOf(scoresOf({ grader, oracle: Float32Array.from(profiles) }))).toBeGreaterThan(score + 0.04);
  });

  it('scores less if it plans for v2 than for wellbeing or v3', () => {
    const forV2 = meanOf(scoresOf({ grader: 'v2' }));
    expect(meanOf(scoresOf({ grader: 'v2', objective: 'wellbeing' }))).toBeGreaterThan(forV2 + 0.15);
    expect(score).toBeGreaterThan(forV2 + 0.2);
  });
});

it('heuristic+inference has more belief skill under v3, where it states means, than under v2 with medians', async () => {
  const componentsUnder = async (playedGrader: string) => {
    const { rows } = await evaluate({
      grader: playedGrader,
      seeds: { first: 61_000, last: 61_039 },
      policies: ['heuristic+inference'],
    });
    return rows[0].components;
  };
  const [median, mean] = [await componentsUnder('v2'), await componentsUnder('v3')];
  expect(mean.beliefSkill).toBeGreaterThan(median.beliefSkill);
  expect(mean.wellbeing).toBe(median.wellbeing);
});
