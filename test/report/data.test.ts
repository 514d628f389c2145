/** Data of a report: counts, means and chosen episodes, compared with numbers computed by hand. */
import { describe, expect, it } from 'vitest';
import { createVecEnv } from '../../src/engine/node.js';
import {
  disambiguated,
  fileLabels,
  shortened,
  shortPlayerName,
  uniqueNames,
} from '../../src/report/player-names.js';
import { EpisodeChoice, timelineOf } from '../../src/report/player-tally.js';
import { TrajectoryTally } from '../../src/report/result-gatherer.js';
import { costsOfEvaluation, joinCosts, type ScoreRow, withoutRepeats } from '../../src/report/result-rows.js';
import { isFigure } from '../../src/report/section.js';
import { episodesSection } from '../../src/report/sections/episodes.js';
import {
  ActionTally,
  BeliefErrorTally,
  CalibrationTally,
  groupsOf,
  PROFILE_GROUPS,
  SAMPLED_GROUP,
  SpendingTally,
} from '../../src/report/tallies.js';
import type { StoredBelief, TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { NUM_STEPS } from '../../src/world/fields.js';
import { episodeStarts, playerOf, recordEpisodes, TEST_POLICIES } from '../support/trajectories.js';

const scored = (finalScore: number, seed: number): TrajectoryEpisode =>
  ({ ...EPISODE, seed, final: { ...EPISODE.final, final_score: finalScore } }) as TrajectoryEpisode;
const [EPISODE] = recordEpisodes(episodeStarts([5]));

describe('calibration', () => {
  it('summarizes pairs as means by range, a correlation and a mean error', () => {
    const tally = new CalibrationTally();
    for (const [belief, target] of [
      [0.25, 0.5],
      [0.25, 0.25],
      [1, 1],
    ])
      tally.add(belief, target);
    const { bins, count, correlation, mae } = tally.summary()!;
    expect(bins).toEqual([
      { range: 2, belief: 0.25, target: 0.375, count: 2 },
      { range: 9, belief: 1, target: 1, count: 1 },
    ]);
    // Deviations of beliefs: -1/4, -1/4, 1/2; of targets: -1/12, -1/3, 5/12. Products sum to 5/16, squares to 3/8 and 7/24.
    expect(correlation).toBeCloseTo(5 / 16 / Math.sqrt((3 / 8) * (7 / 24)), 12);
    expect([count, mae]).toEqual([3, 1 / 12]);
  });

  it('has no correlation for a constant belief, and is null without pairs', () => {
    const tally = new CalibrationTally();
    expect(tally.summary()).toBeNull();
    for (const target of [0.1, 0.7, 0.9]) tally.add(0.5, target);
    expect(tally.summary()!.correlation).toBeNull();
  });
});

describe('belief errors', () => {
  const beliefsAt = (at: Record<number, StoredBelief>): (StoredBelief | null)[] =>
    Array.from({ length: NUM_STEPS }, (_, step) => at[step] ?? null);

  it('use each belief until the next belief, and 0.5 in each dimension before the first belief', () => {
    const tally = new BeliefErrorTally();
    tally.add(beliefsAt({ 2: [1, 0.5, 0.5], 5: [1, 0.25, 0.75] }), Float32Array.of(1, 0.25, 0.75));
    const { mean, low, high, constant } = tally.summary()!;
    const expectError = (step: number, error: number) => expect(mean[step]).toBeCloseTo(error, 6);
    expectError(0, 1 / 3);
    expectError(1, 1 / 3);
    expectError(2, 1 / 6);
    expectError(4, 1 / 6);
    expectError(5, 0);
    expectError(27, 0);
    expect(constant).toBeCloseTo(1 / 3, 6);
    // One episode has no interval.
    expect([low, high]).toEqual([mean, mean]);
  });

  it('are means with intervals over episodes, and null without any belief', () => {
    const tally = new BeliefErrorTally();
    tally.add(beliefsAt({}), Float32Array.of(0.5, 0.5, 0.5));
    expect(tally.summary()).toBeNull();
    tally.add(beliefsAt({ 0: [1, 0.5, 0.5] }), Float32Array.of(0.5, 0.5, 0.5));
    const { mean, low, high } = tally.summary()!;
    expect(mean[0]).toBeCloseTo(1 / 12, 6);
    expect(low[0]).toBeLessThan(mean[0]);
    expect(high[0]).toBeGreaterThan(mean[0]);
  });
});

describe('actions', () => {
  it('are shares of steps by group of profiles, in a fixed order', () => {
    const tally = new ActionTally();
    tally.add([...new Array(21).fill('sleep'), ...new Array(7).fill('learn')], [SAMPLED_GROUP]);
    tally.add(new Array(28).fill('learn'), ['workaholic_stoic']);
    const rows = tally.summary();
    expect(rows.map(({ name, episodes }) => [name, episodes])).toEqual([
      ['workaholic_stoic (1)', 1],
      [`${SAMPLED_GROUP} (1)`, 1],
    ]);
    expect(Array.from(rows[1].shares)).toEqual([0, 0, 0.25, 0.75, 0, 0, 0, 0, 0, 0]);
  });

  it('are grouped by named profile; all sampled profiles are one group, and are also divided into thirds by each number of the belief target', () => {
    const counts = new Map<string, number>();
    using env = createVecEnv({ numEnvs: 600, backend: 'reference' });
    env.reset({ seed: 50000 });
    const targets = env.beliefTargets();
    for (const [i, seed] of env.seeds.entries()) {
      for (const group of groupsOf('sampled', seed, [...targets.subarray(3 * i, 3 * i + 3)]))
        counts.set(group, (counts.get(group) ?? 0) + 1);
    }
    expect([...counts.keys()].every((group) => PROFILE_GROUPS.includes(group))).toBe(true);
    expect(counts.get(SAMPLED_GROUP)).toBe(600);
    for (const group of PROFILE_GROUPS.filter((name) => name.endsWith('third'))) {
      expect(counts.get(group)).toBeGreaterThan(150);
      expect(counts.get(group)).toBeLessThan(250);
    }
    expect(groupsOf('introvert_morning', 3, [0, 0, 0])).toEqual(['introvert_morning']);
    expect(PROFILE_GROUPS).toContain(groupsOf('discrete', 7, [0, 0, 0])[0]);
  });
});

describe('chosen episodes', () => {
  const chosen = (...scores: number[]) => {
    const choice = new EpisodeChoice();
    for (const [seed, score] of scores.entries()) choice.add(scored(score, seed));
    return choice.chosen().map(({ which, seed }) => `${which} ${seed}`);
  };

  it('are the best, the median and the worst, and the first of episodes with equal scores', () => {
    expect(chosen(0.5, 0.75, 0.25, 0.625, 0.75)).toEqual(['best 1', 'median 3', 'worst 2']);
    expect(chosen(0, 1, 1)).toEqual(['best and median 1', 'worst 0']);
    expect(chosen(0.5, 0.5, 0.5)).toEqual(['best, median and worst 0']);
    expect(chosen(0.5, 0.25)).toEqual(['best 0', 'median and worst 1']);
    expect(chosen(0.5)).toEqual(['only 0']);
    expect(chosen()).toEqual([]);
  });

  it('are drawn for up to four players; for more players only the median is drawn', () => {
    const titlesFor = (count: number, ...scores: number[]) => {
      const choice = new EpisodeChoice();
      for (const [seed, score] of scores.entries()) choice.add(scored(score, seed));
      const player = { name: 'a', source: 'a.jsonl', chosenEpisodes: choice.chosen() };
      const { parts } = episodesSection({ players: Array(count).fill(player) } as never)!;
      return parts.filter(isFigure).map(({ drawing }) => drawing.title.replace(/ under .*/, ''));
    };
    expect(titlesFor(1, 0, 1, 1)).toEqual([
      'a, best and median episode, seed 1: 1.000',
      'a, worst episode, seed 0: 0.000',
    ]);
    expect(titlesFor(5, 0, 1, 1)[4]).toBe('a (5), best and median episode, seed 1: 1.000');
    expect(titlesFor(5, 1, 0)[4]).toBe('a (5), median and worst episode, seed 1: 0.000');
    expect(titlesFor(5, 0, 1, 0.5)[4]).toBe('a (5), median episode, seed 2: 0.500');
    expect(titlesFor(5, 0.5)).toHaveLength(5);
  });

  it('become timelines with the final meters, the rewards and the belief target of the episode', () => {
    const timeline = timelineOf({ ...EPISODE, mode: 'sampled', grader: 'v2', finalScore: 0 } as never);
    expect(timeline.meters).toHaveLength(29 * 5);
    expect(timeline.meters[28 * 5 + 2]).toBe(EPISODE.final.progress);
    expect(timeline.meters[28 * 5 + 4]).toBe(EPISODE.final.connection);
    expect(timeline.rewards).toEqual(EPISODE.steps.map(({ reward }) => reward));
    expect(Array.from(timeline.target!)).toEqual(EPISODE.hidden!.belief_target);
  });
});

it('spending is a total, and a mean over the episodes with usage', () => {
  const tally = new SpendingTally();
  const withoutUsage = { ...EPISODE, usage: undefined };
  tally.add(withoutUsage);
  tally.add({ ...withoutUsage, usage: { requests: 30, prompt_tokens: 100, cost_usd: 0.25 } });
  tally.add({ ...withoutUsage, usage: { requests: 28, prompt_tokens: 300 } });
  const { metered, perEpisode, total, steps, unparsed } = tally.summary();
  expect([metered, steps, unparsed]).toEqual([2, 84, 0]);
  expect(perEpisode).toEqual({ requests: 29, prompt_tokens: 200, completion_tokens: null, cost_usd: 0.25 });
  expect(total).toEqual({ requests: 58, prompt_tokens: 400, completion_tokens: null, cost_usd: 0.25 });
});

it('an episode of two conditions counts twice in scores, and once in actions and calibration', () => {
  const episodes = ['discrete:introvert_morning', 'discrete'].flatMap((condition) =>
    recordEpisodes(episodeStarts([0, 1], condition, 'introvert_morning'), { policy: TEST_POLICIES.constant }),
  );
  const tally = new TrajectoryTally();
  for (const episode of episodes) tally.add(episode);
  const [player] = tally.players('x');
  expect(player.scores.map(({ condition, episodes }) => [condition, episodes])).toEqual([
    ['discrete:introvert_morning', 2],
    ['discrete', 2],
  ]);
  expect([player.episodes, player.actions[0].episodes, player.calibration![0].count]).toEqual([4, 2, 2]);
  const mean = (episodes[0].final.final_score + episodes[1].final.final_score) / 2;
  expect(player.scores[0].finalScore.mean).toBeCloseTo(mean, 12);
});

describe('names', () => {
  it('of players have the teacher or model, the objective, and the mark of an oracle', () => {
    expect(shortPlayerName(playerOf({ teacher: 'llm', model: 'm/1' }))).toBe('llm:m/1');
    expect(
      shortPlayerName(playerOf({ teacher: 'planner-oracle', objective: 'wellbeing', oracle: true })),
    ).toBe('planner-oracle (wellbeing) [oracle]');
    // The names that `eval` uses.
    expect(shortPlayerName(playerOf({ teacher: 'planner', objective: 'score' }))).toBe('planner');
    expect(shortPlayerName(playerOf({ teacher: 'planner-wellbeing', objective: 'wellbeing' }))).toBe(
      'planner-wellbeing',
    );
    expect(shortPlayerName(playerOf({ oracle: true }))).toBe('test [oracle]');
  });

  it('are shortened, printable and unique', () => {
    expect(shortened('x'.repeat(500))).toHaveLength(72);
    expect(shortened('a\u202Eb\u0007')).toBe('a\uFFFDb\uFFFD');
    expect(uniqueNames([{ name: 'a' }, { name: 'a' }, { name: 'a (2)' }]).map(({ name }) => name)).toEqual([
      'a',
      'a (2)',
      'a (2) (2)',
    ]);
    expect(fileLabels(['x/a.json', 'y/a.json', 'z/b.json'])).toEqual(['x/a.json', 'y/a.json', 'b.json']);
    const rows = [
      { name: 'planner', source: 'a' },
      { name: 'planner', source: 'b' },
      { name: 'random', source: 'a' },
    ];
    expect(disambiguated(rows).map(({ name }) => name)).toEqual(['planner · a', 'planner · b', 'random']);
  });
});

it('withoutRepeats omits rows of stored episodes that repeat a row of an evaluation', () => {
  const row = {
    source: 'a',
    fromEpisodes: true,
    condition: 'ood',
    grader: 'v2',
    name: 'random',
    episodes: 3,
    beliefMae: 0.25,
  };
  const rows = [
    { ...row, fromEpisodes: false, finalScore: { mean: 0.5 } },
    { ...row, source: 'b', finalScore: { mean: 0.5 + 1e-12 } },
    { ...row, source: 'e', fromEpisodes: false, finalScore: { mean: 0.5 } },
    { ...row, source: 'c', finalScore: { mean: 0.51 } },
    { ...row, source: 'd', condition: 'custom', finalScore: { mean: 0.5 } },
  ] as ScoreRow[];
  expect(withoutRepeats(rows).map(({ source }) => source)).toEqual(['a', 'e', 'c', 'd']);
});

it('costs come from an evaluation, unless stored episodes have usage', () => {
  const usage = { requests: 90, prompt_tokens: 600, cost_usd: 0.5 };
  const row = { policy: 'llm:m', episodes: 3 };
  const rows = [
    { ...row, unparsed: 0.25, usage },
    { ...row, unparsed: 0.75, episodes: 1, usage: null },
    { ...row, policy: 'random', unparsed: null, usage: null },
  ];
  const costs = costsOfEvaluation('a', { rows } as never);
  expect(costs).toEqual([
    {
      source: 'a',
      name: 'llm:m',
      episodes: 4,
      spending: {
        // steps: 4 * 28; unparsed: 0.25 * 3 * 28 + 0.75 * 28.
        steps: 112,
        unparsed: 42,
        metered: 3,
        perEpisode: { requests: 30, prompt_tokens: 200, completion_tokens: null, cost_usd: 0.5 / 3 },
        total: { requests: 90, prompt_tokens: 600, completion_tokens: null, cost_usd: 0.5 },
      },
    },
  ]);
  const [cost] = costs;
  expect(joinCosts(costs, [{ ...cost, source: 'b' }]).map(({ source }) => source)).toEqual(['b']);
  const unmetered = { ...cost, source: 'b', spending: { ...cost.spending, metered: 0 } };
  expect(joinCosts(costs, [unmetered]).map(({ source }) => source)).toEqual(['a', 'b']);
});
