/** Replay scoring has the results of single episodes, whatever the order of the rows. */
import { describe, expect, it } from 'vitest';
import { NODE } from '../../../src/engine/backends/node.js';
import { createVecEnv } from '../../../src/engine/node.js';
import { Episode } from '../../../src/engine/reference/episode.js';
import type { ReplayRow } from '../../../src/rollouts/replay/row-objects.js';
import {
  openReplayBatchOn,
  type ReplayOptions,
  type ReplayScores,
} from '../../../src/rollouts/replay/score-replay.js';
import { REWARD_NAMES, type RewardName } from '../../../src/rollouts/rewards/compute-rewards.js';
import { parseCompletion } from '../../../src/rollouts/text/parse-completions.js';
import { ACTION_NAMES, GRADER_NAMES, NUM_STEPS, PROFILE_NAMES } from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { TWO_ENGINES } from '../../support/engines.js';
import { WORLD } from '../../support/open-batch.js';
import { Random } from '../../support/random.js';
import { anyRows, score, toColumns } from '../../support/replays.js';

/** Returns the results of a row by the reference. */
function expected(row: ReplayRow, grader = 'v2') {
  const { seed, profileMode: profile = 'sampled', actionHistory, action, belief = null, beliefHistory } = row;
  const episode = new Episode({ world: WORLD }).reset(seed, { profile, grader });
  actionHistory.forEach((code, t) => {
    episode.step(code as number, beliefHistory?.[t] ?? null);
  });
  const stateHash = episode.stateHash();
  const stepReward = action === null ? Number.NaN : episode.step(action as number, belief);
  // beliefMae and beliefSkill depend neither on actions nor on the beliefs of the history.
  const beliefOnly = new Episode({ world: WORLD }).reset(seed, { profile });
  beliefOnly.step(0, belief);
  beliefOnly.grade();
  const beliefSkill = belief === null ? -1 : skillOf(beliefOnly.belief, beliefOnly.target);
  return { stateHash, stepReward, beliefMae: beliefOnly.beliefMae, beliefSkill };
}

/** Returns a belief's own term of belief_skill: rule 9 of docs/world.md, clamped to [-1, 1]. */
function skillOf(belief: Float32Array, target: Float32Array): number {
  const { fround } = Math;
  const [a, b, c] = belief.map((x, k) => fround(x - target[k])).map((x) => fround(x * x));
  const q = fround(fround(fround(a + b) + c) * fround(1 / 3));
  return Math.min(Math.max(fround(1 - fround(fround(RHYTHM.constants.beliefSkillScale) * q)), -1), 1);
}

/** Compares the scores of rows with single episodes. */
function expectScores(
  rows: readonly ReplayRow[],
  options: ReplayOptions & { readonly grader?: string },
): void {
  const { stateHashes, stepRewards, beliefMae, beliefSkill, faults } = score(rows, options);
  rows.forEach((row, i) => {
    const found = {
      stateHash: stateHashes[i],
      stepReward: stepRewards[i],
      beliefMae: beliefMae[i],
      beliefSkill: beliefSkill[i],
    };
    expect([i, found]).toEqual([i, expected(row, options.grader)]);
  });
  expect(faults).toEqual([]);
}

/** Draws a row for the last step of an episode with a belief at every step. The beliefs are good, so no score is clamped. */
function lastStep(random: Random, seed = random.seeds(1)[0]): ReplayRow {
  const { target } = new Episode({ world: WORLD }).reset(seed);
  const belief = () => Array.from(target, (x) => x + random.real(-0.2, 0.2));
  return {
    seed,
    actionHistory: Array.from({ length: NUM_STEPS - 1 }, () => random.integer(0, 9)),
    action: random.integer(0, 9),
    belief: belief(),
    beliefHistory: Array.from({ length: NUM_STEPS - 1 }, belief),
  };
}

describe.each(TWO_ENGINES)('$name', ({ backend, kernel }) => {
  const on = { backend, kernel };

  it.each(GRADER_NAMES)('scores every row as a single episode, with grader %s', (grader) => {
    const random = new Random(`rows ${grader}`);
    for (const count of [1, 17, 400]) expectScores(anyRows(random, count), { ...on, grader });
  });

  it('keeps rows apart that differ only in the history of beliefs', () => {
    const random = new Random('histories of one state');
    const [first, other] = [lastStep(random, 5), lastStep(random, 5)];
    const histories = [first.beliefHistory!, other.beliefHistory!];
    const ends = histories.map((history, k) => [...history.slice(0, -1), histories[1 - k].at(-1)!]);
    const withNull = histories.map((history) => [null, ...history.slice(1)]);
    const without = [undefined, new Array<null>(27).fill(null)];
    const rows = [...histories, ...ends, ...withNull, ...without, first.beliefHistory].flatMap(
      (beliefHistory) => [0, 1].map((action): ReplayRow => ({ ...first, action, beliefHistory })),
    );
    expectScores(rows, { ...on, grader: 'v3' });
    const { stepRewards } = score(rows, { ...on, grader: 'v3' });
    // Five: two histories, two with the other's last belief, and none. A belief at step 0 has no effect, because the next
    // one replaces it before belief_skill counts.
    expect(new Set(stepRewards.filter((_, i) => i % 2 === 0)).size).toBe(5);
  });

  it('scores groups of rows from one state as single episodes', () => {
    const random = new Random('groups');
    const rows = [1, 15, 16, 17, 33, 300].flatMap((size) => {
      const [state] = anyRows(random, 1);
      return Array.from({ length: size }, () => {
        const [{ action, belief }] = anyRows(random, 1);
        return { ...state, action, belief };
      });
    });
    // Rows with another profile, with another last action in the history, or without the first action of the history.
    const { actionHistory, ...last } = rows[rows.length - 1];
    for (const profileMode of ['discrete', 'sampled', ...PROFILE_NAMES]) {
      rows.push({ ...last, actionHistory, profileMode });
    }
    rows.push({ ...last, actionHistory: [...actionHistory.slice(0, -1), 9] });
    rows.push({ ...last, actionHistory: actionHistory.slice(1) });
    expectScores(rows, on);
  });

  it('scores consecutive steps of episodes, one to three rows each', () => {
    const random = new Random('all steps');
    const rows = Array.from({ length: 20 }, () => lastStep(random)).flatMap((last) => {
      const first = random.integer(0, 3) === 0 ? random.integer(0, 27) : 0;
      return Array.from({ length: NUM_STEPS - first }, (_, k) => {
        const [actionHistory, beliefHistory] = [last.actionHistory, last.beliefHistory!].map((history) =>
          history.slice(0, first + k),
        ) as [number[], Float32Array[]];
        return Array.from({ length: random.integer(1, 3) }, () => ({
          ...last,
          actionHistory,
          beliefHistory,
          action: random.integer(0, 9),
        }));
      }).flat();
    });
    expectScores(rows, { ...on, grader: 'v3' });
  });
});

describe('rows', () => {
  const rows = anyRows(new Random('order'), 300);

  it('have the same scores as columns and as objects', () => {
    expect(score(toColumns(rows))).toEqual(score(rows));
    expect(score([]).stepRewards).toEqual(new Float32Array(0));
    expect(score(toColumns([])).faults).toEqual([]);
  });

  it('have the same scores by action name and by code', () => {
    const nameOf = (code: number | string): string => ACTION_NAMES[code as number];
    const named = rows.map(({ action, actionHistory, ...row }, i) => {
      const name = action === null ? null : nameOf(action);
      return {
        ...row,
        actionHistory: actionHistory.map(nameOf),
        action: i % 2 === 1 && name !== null ? name.toUpperCase() : name,
      };
    });
    expect(score(named)).toEqual(score(rows));
  });

  it('have the same scores with one and with three threads', () => {
    // More than the 8192 rows that are replayed together.
    const many = anyRows(new Random('many'), 9000);
    const scores = score(many, { threads: 1 });
    expect(score(many, { threads: 3 })).toEqual(scores);
    for (const i of [0, 4095, 4096, 8191, 8192, 8999]) {
      expect(scores.stepRewards[i]).toEqual(expected(many[i]).stepReward);
    }
  });

  it('have beliefs in their histories only if the columns contain beliefHistories', () => {
    const { beliefHistories: _, ...columns } = toColumns(rows);
    const without = rows.map(({ beliefHistory, ...row }) => row);
    expect(score(columns, { grader: 'v3' })).toEqual(score(without, { grader: 'v3' }));
    expect(score(columns, { grader: 'v3' })).not.toEqual(score(rows, { grader: 'v3' }));
  });

  it('may have histories of 28 beliefs; those after the last action are ignored', () => {
    const beliefHistory = [[0.1, 0.2, 0.3], null, ...new Array(26).fill('ignored')] as never;
    const short = { seed: 3, actionHistory: [1, 2], action: 3, belief: [0.5, 0.5, 0.5] };
    const scored = (row: ReplayRow) => score([row], { grader: 'v3' });
    expect(scored({ ...short, beliefHistory })).toEqual(
      scored({ ...short, beliefHistory: [[0.1, 0.2, 0.3], null] }),
    );
    expect(scored({ ...short, beliefHistory: null })).toEqual(scored(short));
  });

  it('may have profiles as numbers, and histories at unaligned addresses', () => {
    const columns = toColumns(rows.slice(0, 20));
    const shifted = new Uint8Array(columns.histories.length + 1).subarray(1);
    shifted.set(columns.histories);
    const profiles = new Random('profiles').profiles(20);
    const scores = score({ ...columns, histories: shifted, profiles });
    rows.slice(0, 20).forEach(({ seed, actionHistory, action, belief, beliefHistory }, i) => {
      const episode = new Episode().reset(seed, { profile: profiles.subarray(i * 16, (i + 1) * 16) });
      actionHistory.forEach((code, t) => {
        episode.step(code as number, beliefHistory?.[t] ?? null);
      });
      expect(scores.stateHashes[i]).toBe(episode.stateHash());
      if (action !== null) expect(scores.stepRewards[i]).toBe(episode.step(action as number, belief ?? null));
    });
  });
});

describe('the reward beliefSkill', () => {
  const row: ReplayRow = { seed: 8, actionHistory: [], action: 3 };
  const { target } = new Episode().reset(8);
  const mirror = target.map((x) => (x < 0.5 ? 1 : 0));
  const rows = [
    row,
    { ...row, belief: target },
    { ...row, belief: mirror },
    { ...row, action: null, belief: target },
  ];
  const totalOf = ({ rewards }: ReplayScores, names: readonly RewardName[]): Float32Array =>
    rewards.total.map((_, i) => names.reduce((sum, name) => sum + rewards[name][i], 0));
  const withoutSkill = REWARD_NAMES.filter((name) => name !== 'beliefSkill');

  it("is the term of the row's belief, even at step 0: 1 for the truth, at least -1, and -1 without a belief", () => {
    for (const grader of GRADER_NAMES) {
      const { beliefSkill, rewards } = score(rows, { grader });
      expect(beliefSkill).toEqual(Float32Array.of(-1, 1, -1, 1));
      expect(rewards.beliefSkill).toEqual(beliefSkill);
    }
  });

  it('counts in the total if the grader weighs belief_skill, or if the option `weights` has a weight for it', () => {
    const calm = [0.5, 0.5, 0, 0, 0, 0, 0, 0];
    for (const grader of ['v1', 'v2', calm]) {
      const scores = score(rows, { grader });
      expect(scores.rewards.total).toEqual(totalOf(scores, withoutSkill));
      expect(score(rows, { grader, weights: { beliefSkill: 0 } })).toEqual(scores);
    }
    for (const options of [
      { grader: 'v3' },
      { grader: [...calm.slice(0, 5), 0, -0.5, 0.5] },
      { weights: { beliefSkill: 1 } },
    ]) {
      const scores = score(rows, options);
      expect(scores.rewards.total).toEqual(totalOf(scores, REWARD_NAMES));
    }
  });
});

describe('completions', () => {
  const STATE = { seed: 4242, actionHistory: ['sleep', 'deep_work'] };
  const TEXTS = [
    '7 5 4 EXERCISE',
    '<reasoning>EXERCISE</reasoning>\n0 9 3 sleep',
    'SLEEP',
    '5 5 5',
    'no answer',
    '',
    'hm\n5 5 5 SLEEP\n</think>0 9 3 LEARN',
  ];
  const columns = {
    seeds: new Uint32Array(TEXTS.length).fill(STATE.seed),
    stepIndices: new Uint8Array(TEXTS.length).fill(2),
    histories: new Uint8Array(TEXTS.length * 28).map((_, i) =>
      i % 28 === 0 ? ACTION_NAMES.indexOf('sleep') : 0,
    ),
  };

  it.each(['closed', 'open'] as const)('have the scores of their parsed answers, thought %s', (thought) => {
    const parsed = TEXTS.map((text) => {
      const { action, belief, given } = parseCompletion(text, { thought });
      return { ...STATE, action, belief: given ? belief : null };
    });
    const expected = score(parsed as ReplayRow[]);
    const rows = TEXTS.map((completion) => ({ ...STATE, completion }));
    expect(score(rows, { thought })).toEqual(expected);
    expect(score({ ...columns, completions: TEXTS }, { thought })).toEqual(expected);
    // The last text has an answer after a thought in both cases; the third has one only outside of a thought.
    expect([2, 6].map((i) => Number.isNaN(expected.stepRewards[i]))).toEqual([thought === 'open', false]);
    expect(score([...rows.slice(0, 1), parsed[1] as ReplayRow], { thought }).stepRewards).toEqual(
      expected.stepRewards.slice(0, 2),
    );
  });
});

it('opens a batch with the kernel of a large batch, not with the one that steps one environment', () => {
  const batch = openReplayBatchOn(NODE, { threads: 1 });
  using env = createVecEnv({ numEnvs: 1024, threads: 1 });
  expect([batch.backend, batch.kernel]).toEqual([env.backend, env.kernel]);
  batch.close();
});
