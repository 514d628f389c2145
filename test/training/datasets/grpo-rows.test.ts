/** Rows for GRPO: they have the prompts of a replay, their states are diverse, and the same plan gives the same rows. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  ACTION_NAMES,
  Episode,
  OBSERVATION,
  OBSERVATION_SIZE,
  type PastStep,
  PROFILE_NAMES,
  prompt,
  RHYTHM,
} from '../../../src/index.js';
import { type GrpoState, grpoRows } from '../../../src/training/datasets/grpo/grpo-rows.js';
import { MIX_OF_POLICIES, TOTAL_SHARE } from '../../../src/training/datasets/policy-mix.js';
import { type DatasetOptions, stateKeysOf, toPlan } from '../../../src/training/datasets/state-sampler.js';
import { permutation } from '../../../src/training/permutation.js';
import { ENGINES, reportAbsentEngines } from '../../support/engines.js';

reportAbsentEngines();

const rowsOf = (options: DatasetOptions, engine = {}, batchSize?: number): GrpoState[] =>
  [...grpoRows(toPlan(options), engine, batchSize)].flat();
const rows = rowsOf({ rows: 2000, profiles: ['mix', ...PROFILE_NAMES] });
const countsOf = <Key>(keys: readonly Key[]): Map<Key, number> => {
  const counts = new Map<Key, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};

/** Replays a row with the reference. Returns the observation of its state, and the history of the steps before. */
function replayRow({ seed, profile_mode, action_history }: GrpoState) {
  const episode = new Episode();
  episode.reset(seed, { profile: profile_mode });
  const observation = new Float32Array(OBSERVATION_SIZE);
  const history = action_history.map((name): PastStep => {
    episode.step(ACTION_NAMES.indexOf(name));
    episode.observe(observation);
    const five = (from: number) => observation.slice(from, from + 5);
    const [action, reward] = [observation[OBSERVATION.lastAction], observation[OBSERVATION.reward]];
    return { action, reward, deltas: five(OBSERVATION.deltas), anomalies: five(OBSERVATION.anomalies) };
  });
  episode.observe(observation);
  return { observation, history };
}

describe('rows', () => {
  it('have the prompt of the state that the reference reaches with their actions', () => {
    for (const row of rows) {
      const { observation, history } = replayRow(row);
      expect(observation[OBSERVATION.step]).toBe(row.step_index);
      expect(row.prompt).toEqual(prompt(observation, history));
    }
  });

  it.each(ENGINES)('are the same on $name, with another batch size', ({ backend, kernel }) => {
    const options = { rows: 150, profiles: ['mix', ...PROFILE_NAMES] };
    expect(rowsOf(options, { backend, kernel }, 64)).toEqual(rows.slice(0, 150));
  });

  it('without their prompts have the recorded digest', () => {
    const replays = rows.map(({ prompt: _, ...replay }) => replay);
    // Another digest means that the same options give other rows. Then increase the version of SCHEMAS.grpoDataset.
    expect(createHash('sha256').update(JSON.stringify(replays)).digest('hex')).toBe(
      'd01e02b7d4f1abd7c183c88292ade3d68e00b1b30c06163a1c031e8ce1d7730b',
    );
  });

  it('differ with another seed of the selection', () => {
    const others = rowsOf({ rows: 50, seed: 1 });
    expect(rowsOf({ rows: 50, seed: 0 })).not.toEqual(others);
    expect(rowsOf({ rows: 50, seed: 1 })).toEqual(others);
    // All rows have one state key: the same seed, profile mode and step. Only the policies and their draws differ.
    const oneKey = { rows: 50, seeds: { first: 100, last: 100 }, steps: { first: 27, last: 27 } };
    const policies = (seed: number) => rowsOf({ ...oneKey, seed }).map(({ policy }) => policy);
    expect(policies(0)).not.toEqual(policies(1));
    const randomActions = (seed: number) =>
      rowsOf({ ...oneKey, seed }).filter(({ policy }) => policy === 'random')[0].action_history;
    expect(randomActions(0)).not.toEqual(randomActions(1));
  });
});

describe('the policy mix', () => {
  it('uses each policy by its share, and all steps and profile modes about equally often', () => {
    const policies = countsOf(rows.map(({ policy }) => policy));
    for (const { name, share } of MIX_OF_POLICIES) {
      expect(Math.abs(policies.get(name)! / rows.length - share / TOTAL_SHARE)).toBeLessThan(0.03);
    }
    const steps = countsOf(rows.map(({ step_index }) => step_index));
    expect(steps.size).toBe(RHYTHM.maxEpisodeSteps);
    for (const occurrences of steps.values()) expect(occurrences).toBeGreaterThan(rows.length / 28 / 2);
    const modes = countsOf(rows.map(({ profile_mode }) => profile_mode));
    expect([...modes.keys()].sort()).toEqual(['sampled', 'discrete', ...PROFILE_NAMES].sort());
    for (const occurrences of modes.values()) expect(occurrences).toBeGreaterThan(rows.length / 5 / 2);
  });

  it('gives diverse prompts: over 99 % are unique, except at step 0', () => {
    const promptsWhere = (isIncluded: (step: number) => boolean) =>
      rows.filter(({ step_index }) => isIncluded(step_index)).map(({ prompt }) => prompt[1].content);
    expect(new Set(promptsWhere((step) => step === 0)).size).toBe(1);
    const later = promptsWhere((step) => step > 0);
    expect(new Set(later).size).toBeGreaterThan(0.99 * later.length);
  });
});

describe('state keys', () => {
  it('all occur once before any of them repeats', () => {
    const plan = toPlan({
      rows: 1,
      seeds: { first: 200, last: 212 },
      profiles: ['mix'],
      steps: { first: 3, last: 9 },
    });
    const keyOf = stateKeysOf(plan);
    // 13 seeds, the two profile modes of 'mix' and 7 steps.
    const numKeys = 13 * 2 * 7;
    const textOf = (row: number) => Object.values(keyOf(row)).join();
    const first = Array.from({ length: numKeys }, (_, row) => textOf(row));
    expect(new Set(first).size).toBe(numKeys);
    expect(first).not.toEqual([...first].sort());
    expect(textOf(numKeys + 5)).toBe(first[5]);
  });

  it.each([1, 2, 3, 5, 64, 65, 1000])(
    'are in the order of a permutation, which has each of %i integers once',
    (size) => {
      const order = permutation(size, [7, 9]);
      const all = Array.from({ length: size }, (_, index) => order(index));
      expect([...all].sort((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, index) => index));
    },
  );

  it('cover the range of all u32 seeds', () => {
    const seeds = { first: 0, last: 2 ** 32 - 1 };
    const keyOf = stateKeysOf(
      toPlan({ rows: 1, seeds, allowEvalSeeds: true, profiles: ['mix', ...PROFILE_NAMES] }),
    );
    const drawn = Array.from({ length: 1000 }, (_, row) => keyOf(row).seed);
    expect(new Set(drawn).size).toBe(1000);
    for (const seed of drawn) expect(seed >>> 0).toBe(seed);
    expect(Math.max(...drawn)).toBeGreaterThan(0.98 * 2 ** 32);
    expect(Math.min(...drawn)).toBeLessThan(0.02 * 2 ** 32);
  });
});

it('an option allows evaluation seeds', () => {
  const allowed = rowsOf({ rows: 30, seeds: { first: 0, last: 3 }, allowEvalSeeds: true });
  expect(Math.max(...allowed.map(({ seed }) => seed))).toBe(3);
});
