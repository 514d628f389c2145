/** Rows for GRPO: what they show is what a replay reaches, they are diverse, and the same plan gives the same. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  ACTION_NAMES,
  createVecEnv,
  Episode,
  OBSERVATION,
  OBSERVATION_SIZE,
  openLoopActions,
  type PastStep,
  PROFILE_NAMES,
  prompt,
  RHYTHM,
} from '../../../src/index.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { cellsOf } from '../../../src/training/datasets/cells.js';
import { type DatasetOptions, toPlan } from '../../../src/training/datasets/grpo/grpo-options.js';
import { GRPO_ROW, type GrpoRow, grpoRows } from '../../../src/training/datasets/grpo/grpo-rows.js';
import { permutation } from '../../../src/training/datasets/permutation.js';
import { MIX_OF_POLICIES, SHARES } from '../../../src/training/datasets/policy-mix.js';
import { ENGINES, nameAbsent } from '../../support/engines.js';
import { expectRefusal } from '../../support/refusals.js';

nameAbsent();

const rowsOf = (options: DatasetOptions, engine = {}, batchSize?: number): GrpoRow[] => [
  ...[...grpoRows(toPlan(options), engine, batchSize)].flat(),
];
const rows = rowsOf({ rows: 2000, profiles: ['mix', ...PROFILE_NAMES] });
const by = (policy: string) => rows.filter((row) => row.policy === policy);
const codesOf = ({ action_history }: GrpoRow) => action_history.map((name) => ACTION_NAMES.indexOf(name));
const count = <Key>(keys: readonly Key[]): Map<Key, number> => {
  const counts = new Map<Key, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};

/** The row's moment as the readable environment reaches it: what is seen then, and what was seen of every step before. */
function relived({ seed, profile_mode, action_history }: GrpoRow) {
  const episode = new Episode();
  episode.reset(seed, { profile: profile_mode });
  const seen = new Float32Array(OBSERVATION_SIZE);
  const history = action_history.map((name): PastStep => {
    episode.step(ACTION_NAMES.indexOf(name));
    episode.observe(seen);
    const five = (from: number) => seen.slice(from, from + 5);
    const [action, reward] = [seen[OBSERVATION.lastAction], seen[OBSERVATION.reward]];
    return { action, reward, deltas: five(OBSERVATION.deltas), anomalies: five(OBSERVATION.anomalies) };
  });
  episode.observe(seen);
  return { seen, history };
}

describe('rows', () => {
  it('follow their schema', () => {
    for (const row of rows) expect(GRPO_ROW.parse(row)).toEqual(row);
  });

  it('show what the reference sees after their actions', () => {
    for (const row of rows) {
      const { seen, history } = relived(row);
      expect(seen[OBSERVATION.step]).toBe(row.step_index);
      expect(row.messages).toEqual(prompt(seen, history));
    }
  });

  it.each(ENGINES)('are the same on $name, in batches of another size', ({ backend, kernel }) => {
    const options = { rows: 150, profiles: ['mix', ...PROFILE_NAMES] };
    expect(rowsOf(options, { backend, kernel }, 64)).toEqual(rows.slice(0, 150));
  });

  it('are those of this version of their schema', () => {
    // The digest is of rows with the former names of two policies.
    const replays = rows.map(({ messages: _, policy, ...replay }) => ({
      ...replay,
      policy: policy.replace('open-loop', 'blind-tape'),
    }));
    // Another digest means other rows for the same options: raise the version of SCHEMAS.grpoDataset with it.
    expect(createHash('sha256').update(JSON.stringify(replays)).digest('hex')).toBe(
      'd8a0d9e738d03a18faff1aa6b08f823c1b886d56c9e3c8a9521b8728d14decb9',
    );
  });

  it('are others with another seed of the draw', () => {
    const others = rowsOf({ rows: 50, seed: 1 });
    expect(rowsOf({ rows: 50, seed: 0 })).not.toEqual(others);
    expect(rowsOf({ rows: 50, seed: 1 })).toEqual(others);
    // Of one week and time all rows have the same cell: what differs is who plays, and what is drawn for them.
    const inOneCell = { rows: 50, seeds: { first: 100, last: 100 }, steps: { first: 27, last: 27 } };
    const players = (seed: number) => rowsOf({ ...inOneCell, seed }).map(({ policy }) => policy);
    expect(players(0)).not.toEqual(players(1));
    const atRandom = (seed: number) =>
      rowsOf({ ...inOneCell, seed }).filter(({ policy }) => policy === 'random')[0].action_history;
    expect(atRandom(0)).not.toEqual(atRandom(1));
  });
});

describe('the schema refuses', () => {
  const [row] = rows;
  it.each([
    ['a history of another length', { step_index: (row.step_index + 1) % 28 }],
    ['an action that there is not', { action_history: Array(row.step_index).fill('fly') }],
    ['a policy that there is not', { policy: 'oracle' }],
    ['messages in another order', { messages: [...row.messages].reverse() }],
    ['a seed that is none', { seed: 2 ** 32 }],
    ['a step after the last', { step_index: 28, action_history: Array(28).fill('sleep') }],
    ['a key of its own', { grade: 1 }],
  ])('%s', (_, change) => {
    expect(GRPO_ROW.safeParse({ ...row, ...change }).success).toBe(false);
  });
});

describe('the mix', () => {
  it('has each policy by its share, and every step as often', () => {
    const policies = count(rows.map(({ policy }) => policy));
    for (const { name, share } of MIX_OF_POLICIES) {
      expect(Math.abs(policies.get(name)! / rows.length - share / SHARES)).toBeLessThan(0.03);
    }
    const steps = count(rows.map(({ step_index }) => step_index));
    expect(steps.size).toBe(RHYTHM.maxEpisodeSteps);
    for (const often of steps.values()) expect(often).toBeGreaterThan(rows.length / 28 / 2);
    const modes = count(rows.map(({ profile_mode }) => profile_mode));
    expect([...modes.keys()].sort()).toEqual(['sampled', 'discrete', ...PROFILE_NAMES].sort());
    for (const often of modes.values()) expect(often).toBeGreaterThan(rows.length / 5 / 2);
  });

  it('shows states that differ: hardly any prompt twice, but at the beginning, where nothing has been seen', () => {
    const asked = (step: (index: number) => boolean) =>
      rows.filter(({ step_index }) => step(step_index)).map(({ messages }) => messages[1].content);
    expect(new Set(asked((step) => step === 0)).size).toBe(1);
    const later = asked((step) => step > 0);
    expect(new Set(later).size).toBeGreaterThan(0.99 * later.length);
  });

  it('plays every action', () => {
    const taken = count(rows.flatMap(({ action_history }) => action_history));
    expect([...taken.keys()].sort()).toEqual([...ACTION_NAMES].sort());
  });

  it('heuristic is what every backend runs by that name', () => {
    const played = by('heuristic');
    const env = createVecEnv({ numEnvs: played.length, profiles: played.map((row) => row.profile_mode) });
    env.reset({ seed: Uint32Array.from(played, ({ seed }) => seed) });
    const { actions } = env.run('heuristic', { trajectory: true }).trajectory!;
    for (const [i, row] of played.entries()) {
      expect(codesOf(row)).toEqual([...actions.subarray(i * 28, i * 28 + row.step_index)]);
    }
    env.close();
  });

  it('open-loop is the action sequence, and deviating from it is rare', () => {
    const sequence = [...openLoopActions('v2')];
    for (const row of by('open-loop')) expect(codesOf(row)).toEqual(sequence.slice(0, row.step_index));
    const deviations = by('open-loop-deviating').flatMap((row) =>
      codesOf(row).map((code, step) => code !== sequence[step]),
    );
    const share = deviations.filter(Boolean).length / deviations.length;
    expect(share).toBeGreaterThan(0.17);
    expect(share).toBeLessThan(0.28);
  });

  it('habits are few, and differ from row to row', () => {
    const kinds = by('habits').map((row) => [...new Set(row.action_history)].sort());
    for (const kind of kinds) expect(kind.length).toBeLessThanOrEqual(3);
    expect(new Set(kinds.map(String)).size).toBeGreaterThan(50);
  });

  it('random plays another action sequence in each row', () => {
    const long = by('random').filter(({ step_index }) => step_index > 8);
    expect(long.length).toBeGreaterThan(100);
    expect(new Set(long.map(({ action_history }) => action_history.slice(0, 8).join())).size).toBe(
      long.length,
    );
  });
});

describe('moments', () => {
  it('are all there once before one is there twice', () => {
    const plan = toPlan({
      rows: 1,
      seeds: { first: 200, last: 212 },
      profiles: ['mix'],
      steps: { first: 3, last: 9 },
    });
    const cellOf = cellsOf(plan);
    const cells = 13 * 2 * 7;
    const keyOf = (row: number) => Object.values(cellOf(row)).join();
    const first = Array.from({ length: cells }, (_, row) => keyOf(row));
    expect(new Set(first).size).toBe(cells);
    expect(first).not.toEqual([...first].sort());
    expect(keyOf(cells + 5)).toBe(first[5]);
  });

  it('that come up again are reached by other play', () => {
    const options = { rows: 200, seeds: { first: 500, last: 500 }, steps: { first: 20, last: 20 } };
    expect(new Set(rowsOf(options).map(({ action_history }) => action_history.join())).size).toBeGreaterThan(
      100,
    );
  });

  it.each([1, 2, 3, 5, 64, 65, 1000])('a permutation of %i integers has each of them once', (size) => {
    const order = permutation(size, [7, 9]);
    const all = Array.from({ length: size }, (_, index) => order(index));
    expect([...all].sort((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, index) => index));
  });

  it('all seeds of u32 can be asked for', () => {
    const seeds = { first: 0, last: 2 ** 32 - 1 };
    const cellOf = cellsOf(
      toPlan({ rows: 1, seeds, allowEvalSeeds: true, profiles: ['mix', ...PROFILE_NAMES] }),
    );
    const drawn = Array.from({ length: 1000 }, (_, row) => cellOf(row).seed);
    expect(new Set(drawn).size).toBe(1000);
    for (const seed of drawn) expect(seed >>> 0).toBe(seed);
    expect(Math.max(...drawn)).toBeGreaterThan(0.98 * 2 ** 32);
    expect(Math.min(...drawn)).toBeLessThan(0.02 * 2 ** 32);
  });
});

describe('what cannot be meant is refused', () => {
  const range = (first: number, last: number) => ({ first, last });
  const refusals: [what: string, options: DatasetOptions, code: ErrorCode, ...mentions: string[]][] = [
    [
      'seeds of the evaluation',
      { rows: 1, seeds: range(50, 200) },
      'bad_seed',
      '100-9999',
      '50-99',
      '--allow-eval-seeds',
    ],
    ['seeds of the other', { rows: 1, seeds: range(9000, 10_000) }, 'bad_seed', '10000-10000'],
    ['seeds of both', { rows: 1, seeds: range(0, 20_000) }, 'bad_seed', '0-99 and 10000-20000'],
    ['seeds the wrong way round', { rows: 1, seeds: range(200, 100) }, 'out_of_range', 'the last of seeds'],
    ['steps after the last choice', { rows: 1, steps: range(0, 28) }, 'out_of_range', 'the last of steps'],
    ['no row', { rows: 0 }, 'out_of_range', 'rows'],
    ['half a row', { rows: 0.5 }, 'out_of_range', 'rows'],
    ['a seed that is none', { rows: 1, seed: -1 }, 'out_of_range', 'seed'],
    ['an unknown person', { rows: 1, profiles: ['sampled', 'introvert'] }, 'unknown_name', 'introvert'],
    ['nobody', { rows: 1, profiles: [] }, 'wrong_length', 'profile'],
  ];
  it.each(refusals)('%s', (_, options, code, ...mentions) => {
    expectRefusal(() => toPlan(options), code, ...mentions);
  });

  it('evaluation seeds that are allowed are played', () => {
    const allowed = rowsOf({ rows: 30, seeds: range(0, 3), allowEvalSeeds: true });
    expect(Math.max(...allowed.map(({ seed }) => seed))).toBe(3);
  });
});
