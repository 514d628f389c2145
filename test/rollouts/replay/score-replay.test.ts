/** Compares replay scoring with single episodes: every number of every row, in any order. */
import { describe, expect, it } from 'vitest';
import { Episode } from '../../../src/engine/reference/episode.js';
import type { ReplayRow } from '../../../src/rollouts/replay/row-objects.js';
import { ACTION_NAMES, PROFILE_NAMES } from '../../../src/world/fields.js';
import { ENGINES } from '../../support/engines.js';
import { Random } from '../../support/random.js';
import { anyRows, score, toColumns } from '../../support/replays.js';

/** Returns the results of a row by the reference. */
function expected(
  { seed, profileMode = 'sampled', actionHistory, action, belief = null }: ReplayRow,
  grader = 'v2',
) {
  const episode = new Episode().reset(seed, { profile: profileMode, grader });
  for (const code of actionHistory) episode.step(code as number);
  const stateHash = episode.stateHash();
  const stepReward = action === null ? Number.NaN : episode.step(action as number, belief);
  if (action === null && belief !== null) {
    // The belief of an answer without an action counts.
    const other = new Episode().reset(seed, { profile: profileMode });
    other.step(0, belief);
    other.grade();
    return { stateHash, stepReward, beliefMae: other.beliefMae };
  }
  episode.grade();
  return { stateHash, stepReward, beliefMae: episode.beliefMae };
}

describe.each(ENGINES)('$name', ({ backend, kernel }) => {
  const on = { backend, kernel };

  it.each(['v1', 'v2'])('scores every row as a single episode, with grader %s', (grader) => {
    const random = new Random(`rows ${grader}`);
    for (const count of [1, 17, 400]) {
      const rows = anyRows(random, count);
      const scores = score(rows, { ...on, grader });
      rows.forEach((row, i) => {
        const { stateHash, stepReward, beliefMae } = expected(row, grader);
        expect([i, scores.stateHashes[i]]).toEqual([i, stateHash]);
        expect([i, scores.stepRewards[i]]).toEqual([i, stepReward]);
        expect([i, scores.beliefMae[i]]).toEqual([i, beliefMae]);
      });
      expect(scores.faults).toEqual([]);
    }
  });
});

describe.each(ENGINES)('$name', ({ backend, kernel }) => {
  it('scores groups of rows from one state as single episodes', () => {
    const random = new Random('groups');
    const rows = [1, 15, 16, 17, 33, 300].flatMap((size) => {
      const [state] = anyRows(random, 1);
      return Array.from({ length: size }, () => {
        const [{ action, belief }] = anyRows(random, 1);
        return { ...state, action, belief };
      });
    });
    // Rows that differ only in the profile, in one action, or in the length of the history.
    const { actionHistory, ...last } = rows[rows.length - 1];
    for (const profileMode of ['discrete', 'sampled', ...PROFILE_NAMES]) {
      rows.push({ ...last, actionHistory, profileMode });
    }
    rows.push({ ...last, actionHistory: [...actionHistory.slice(0, -1), 9] });
    rows.push({ ...last, actionHistory: actionHistory.slice(1) });
    const scores = score(rows, { backend, kernel });
    rows.forEach((row, i) => {
      const { stateHash, stepReward, beliefMae } = expected(row);
      expect([i, scores.stateHashes[i]]).toEqual([i, stateHash]);
      expect([i, scores.stepRewards[i], scores.beliefMae[i]]).toEqual([i, stepReward, beliefMae]);
    });
  });

  it('scores rows from different steps of one episode', () => {
    const [seed, history] = [31, Array.from({ length: 28 }, (_, t) => (3 * t) % 10)];
    const steps = [3, 4, 5, 27, 0, 3];
    const columns = {
      seeds: new Uint32Array(steps.length).fill(seed),
      stepIndices: Uint8Array.from(steps),
      // All rows have the whole history. Later actions are ignored.
      histories: Uint8Array.from(steps.flatMap(() => history)),
      actions: Int8Array.from(steps, (step) => history[step]),
    };
    const { stateHashes, stepRewards } = score(columns, { backend, kernel });
    steps.forEach((step, i) => {
      const row = { seed, actionHistory: history.slice(0, step), action: history[step] };
      const { stateHash, stepReward } = expected(row);
      expect([i, stateHashes[i], stepRewards[i]]).toEqual([i, stateHash, stepReward]);
    });
  });
});

describe('rows', () => {
  const rows = anyRows(new Random('order'), 300);

  it('have the same scores as columns and as objects', () => {
    expect(score(toColumns(rows))).toEqual(score(rows));
  });

  it('have the same scores by action name and by code', () => {
    const named = rows.map((row, i) => ({
      ...row,
      actionHistory: row.actionHistory.map((code) => ACTION_NAMES[code as number]),
      action:
        row.action === null ? null : ACTION_NAMES[row.action as number][i % 2 ? 'toUpperCase' : 'toString'](),
    }));
    expect(score(named)).toEqual(score(rows));
  });

  it('have scores that do not depend on order or other rows', () => {
    const whole = score(rows);
    const order = new Random('permutation').permutation(rows.length);
    const shuffled = score(Array.from(order, (i) => rows[i]));
    order.forEach((i, k) => {
      expect(shuffled.stateHashes[k]).toBe(whole.stateHashes[i]);
      expect(shuffled.rewards.total[k]).toBe(whole.rewards.total[i]);
    });
    expect(score([rows[7]]).stepRewards[0]).toBe(whole.stepRewards[7]);
  });

  it('may be more than a window, with any number of threads', () => {
    const many = anyRows(new Random('many'), 9000);
    const scores = score(many, { threads: 1 });
    expect(score(many, { threads: 3 })).toEqual(scores);
    for (const i of [0, 4095, 4096, 8191, 8192, 8999]) {
      expect(scores.stepRewards[i]).toEqual(expected(many[i]).stepReward);
    }
  });

  it('may be empty', () => {
    expect(score([]).stepRewards).toEqual(new Float32Array(0));
    expect(score(toColumns([])).faults).toEqual([]);
  });

  it('may have profiles of numbers, and histories at unaligned addresses', () => {
    const columns = toColumns(rows.slice(0, 20));
    const shifted = new Uint8Array(columns.histories.length + 1).subarray(1);
    shifted.set(columns.histories);
    const profiles = new Random('persons').profiles(20);
    const scores = score({ ...columns, histories: shifted, profiles });
    rows.slice(0, 20).forEach(({ seed, actionHistory, action, belief }, i) => {
      const episode = new Episode().reset(seed, { profile: profiles.subarray(i * 16, (i + 1) * 16) });
      for (const code of actionHistory) episode.step(code as number);
      expect(scores.stateHashes[i]).toBe(episode.stateHash());
      if (action !== null) expect(scores.stepRewards[i]).toBe(episode.step(action as number, belief ?? null));
    });
  });
});
