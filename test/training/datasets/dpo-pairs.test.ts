/** Pairs for DPO: answers to the same state, the better answer of each pair, and the columns of a row. */
import { describe, expect, it } from 'vitest';
import { toGrader } from '../../../src/engine/graders/grader.js';
import type { TrajectoryEpisode } from '../../../src/rollouts/trajectories/trajectory-episode.js';
import { float32Decimal } from '../../../src/shared/float32-decimal.js';
import {
  DPO_COLUMNS,
  type DpoOptions,
  type DpoRow,
  toDpoPlan,
} from '../../../src/training/datasets/dpo/dpo-rows.js';
import { DpoSelection } from '../../../src/training/datasets/dpo/dpo-selection.js';
import { PlayedResults } from '../../../src/training/datasets/replay-results.js';
import { ACTION_NAMES } from '../../../src/world/fields.js';
import {
  changedAt,
  episodeStarts,
  playerOf,
  recordEpisodes,
  TEST_POLICIES,
} from '../../support/trajectories.js';

/** Records a player that takes the actions `codes`, then action 0 until the end. */
const record = (model: string, codes: readonly number[], seeds = [100], grader = 'v2'): TrajectoryEpisode[] =>
  recordEpisodes(episodeStarts(seeds), {
    grader,
    player: playerOf({ model }),
    policy: ({ step, prompt }) => ({
      prompt,
      completion: `<reasoning>${model}, ${step}.</reasoning>\n5 5 5 ${ACTION_NAMES[codes[step] ?? 0].toUpperCase()}`,
    }),
  });

async function open(options: DpoOptions): Promise<DpoSelection> {
  const plan = toDpoPlan(options);
  return new DpoSelection(plan, await PlayedResults.open(plan.grader, {}, { baselines: false }));
}

async function select(episodes: readonly TrajectoryEpisode[], options: DpoOptions = {}) {
  await using selection = await open({ validation: 0, ...options });
  const { mismatched } = await selection.add(episodes);
  return { rows: selection.end().train, mismatched, selection };
}

const modelsOf = (rows: readonly DpoRow[]) =>
  rows.map(({ step_index, chosen_model, rejected_model }) => [step_index, chosen_model, rejected_model]);
const scoreOf = ([{ final }]: readonly TrajectoryEpisode[]): number => final.final_score;

/** a and b begin alike and differ at step 2; c differs from both at step 0. */
const [a, b, c] = [record('a', [3, 4, 0, 6]), record('b', [3, 4, 6, 6]), record('c', [1, 1, 1, 1])];
const ordered = [a, b, c].slice().sort((x, y) => scoreOf(y) - scoreOf(x));
const betterFirst = scoreOf(a) > scoreOf(b) ? ['a', 'b'] : ['b', 'a'];
const nameOf = ([{ model }]: readonly TrajectoryEpisode[]) => model;

describe('pairs', () => {
  it('come from the first step at which episodes of a seed take different actions', async () => {
    expect(modelsOf((await select([...a, ...b])).rows)).toEqual([[2, ...betterFirst]]);
  });

  it('join the best answer of a state with the worst answer that has another action', async () => {
    const { rows } = await select([...a, ...b, ...c]);
    // At step 0 only c takes another action, so it is in the pair.
    const first = [0, nameOf(ordered[0]), nameOf(ordered[0]) === 'c' ? nameOf(ordered[2]) : 'c'];
    expect(modelsOf(rows)).toEqual([first, [2, ...betterFirst]]);
  });

  it('are all pairs of different actions with allPairs', async () => {
    const { rows } = await select([...a, ...b, ...c], { allPairs: true });
    expect(rows.filter(({ step_index }) => step_index === 0)).toHaveLength(2);
    for (const row of rows) {
      expect(row.chosen_action).not.toBe(row.rejected_action);
      expect(row.chosen_value).toBeGreaterThan(row.rejected_value);
    }
  });

  it('have the prompt, both answers and the players of both', async () => {
    const [row] = (await select([...a, ...b])).rows;
    const [chosen, rejected] = betterFirst[0] === 'a' ? [a[0], b[0]] : [b[0], a[0]];
    expect(row).toEqual({
      prompt: [
        { role: 'system', content: chosen.system },
        { role: 'user', content: chosen.steps[2].prompt },
      ],
      chosen: [{ role: 'assistant', content: chosen.steps[2].completion }],
      rejected: [{ role: 'assistant', content: rejected.steps[2].completion }],
      seed: 100,
      profile_mode: 'sampled',
      step_index: 2,
      chosen_action: chosen.steps[2].action,
      rejected_action: rejected.steps[2].action,
      chosen_value: float32Decimal(chosen.final.final_score),
      rejected_value: float32Decimal(rejected.final.final_score),
      chosen_teacher: 'test',
      rejected_teacher: 'test',
      chosen_model: betterFirst[0],
      rejected_model: betterFirst[1],
    });
    expect(rejected.steps[2].prompt).toBe(chosen.steps[2].prompt);
    expect(Object.keys(row)).toEqual(Object.keys(DPO_COLUMNS));
  });

  it('with `by: "return"` compare the sums of the rewards from their step on', async () => {
    const [row] = (await select([...a, ...b], { by: 'return' })).rows;
    // The rewards are added from the end of the episode, because the order changes the bits of the sum.
    const sums = [a[0], b[0]].map(({ steps }) =>
      steps.slice(2).reduceRight((sum, { reward }) => sum + reward, 0),
    );
    expect([row.chosen_value, row.rejected_value]).toEqual(sums.slice().sort((x, y) => y - x));
  });

  it('leave out differences below minMargin, and equal values', async () => {
    const margin = Math.abs(scoreOf(a) - scoreOf(b));
    expect((await select([...a, ...b], { minMargin: margin })).rows).toHaveLength(1);
    expect((await select([...a, ...b], { minMargin: margin + 1e-9 })).rows).toEqual([]);
    // Under this grader the scores are equal, because all state the same belief.
    const onlyBelief = toGrader([0, 0, 0, 0, 0, 1, 0, 0]);
    expect((await select([...a, ...b, ...c], { grader: onlyBelief })).rows).toEqual([]);
  });

  it('join episodes of the same seed, profile and grader only', async () => {
    expect((await select([...a, ...record('b', [1], [101])])).rows).toEqual([]);
    expect((await select([...a, ...record('b', [1], [100], 'v3')])).rows).toEqual([]);
    const discrete = recordEpisodes(episodeStarts([100], 'custom', 'discrete'));
    expect((await select([...a, ...discrete])).rows).toEqual([]);
  });

  it('come only from the steps of the plan, and from usable answers', async () => {
    expect((await select([...a, ...b], { steps: { first: 0, last: 1 } })).rows).toEqual([]);
    // UTF-8 cannot store an answer with a lone surrogate.
    expect(
      (await select([...a, changedAt(b[0], 'steps.2.completion', (text: string) => `\ud83d${text}`)])).rows,
    ).toEqual([]);
  });

  it('of a seed go to the same split', async () => {
    await using selection = await open({ validation: 0.5 });
    const seeds = Array.from({ length: 20 }, (_, i) => 100 + i);
    await selection.add([...record('a', [3], seeds), ...record('b', [1], seeds)]);
    const { train, validation } = selection.end();
    expect(train.length + validation.length).toBe(20);
    const common = train.filter(({ seed }) => validation.some((row) => row.seed === seed));
    expect([common.length, Math.min(train.length, validation.length) > 0]).toEqual([0, true]);
  });
});

describe('episodes', () => {
  it('are left out if they differ from their replay, have no text or fail a filter', async () => {
    const changed = changedAt(b[0], 'steps.5.reward', (reward: number) => reward + 1);
    const silent = recordEpisodes(episodeStarts([100]), { policy: TEST_POLICIES.constant });
    const oracle = recordEpisodes(episodeStarts([100]), { player: playerOf({ oracle: true }) });
    const { mismatched, selection } = await select([...a, changed, ...silent, ...oracle, ...c], {
      model: ['a', 'b'],
    });
    expect(mismatched.map(({ index }) => index)).toEqual([1]);
    expect(Object.fromEntries(selection.leftOut)).toEqual({
      'not as recorded': 1,
      'another model': 2,
      'used hidden state': 1,
    });
    expect(Object.fromEntries((await select(silent)).selection.leftOut)).toEqual({ 'no text': 1 });
  });
});
