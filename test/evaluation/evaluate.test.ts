/** Tests `evaluate`: results against the golden tables, conditions, progress and refused options. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { POLICIES } from '../../src/agents/policies/fixed-policies.js';
import type { EvaluationRow } from '../../src/evaluation/evaluate.js';
import type { EvaluateOptions } from '../../src/evaluation/evaluate-options.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { evaluationToJson } from '../../src/evaluation/result-json.js';
import * as api from '../../src/index.js';
import { createVecEnv, InputError, PROFILE_NAMES, worldDigest } from '../../src/index.js';
import { CONDITIONS, type ConditionOptions, seedsOf, selectConditions } from '../../src/world/conditions.js';
import { createWorld } from '../../src/world/world.js';
import { TWO_ENGINES } from '../support/engines.js';
import { tables } from '../support/golden.js';

interface JsonRow {
  condition: string;
  policy: string;
  belief: string;
  seeds: string;
  profiles: string;
  episodes: number;
  final_score: { mean: number; low: number; high: number };
  belief_mae: number;
  components: Record<string, number>;
  wins: { won: number; lost: number; tied: number };
  digest: string;
}
const jsonRows = (evaluation: unknown) => (evaluation as { rows: JsonRow[] }).rows;
const playRows = async (options: EvaluateOptions) => (await evaluate(options)).rows;

// every-engine.test.ts compares the other engines with the reference.
describe.each(TWO_ENGINES)('an evaluation on $name', ({ backend, kernel }) => {
  it.each(['v1', 'v2', 'v3'])(
    'has the digests and means of the golden tables under grader %s',
    async (grader) => {
      const rows = jsonRows(evaluationToJson(await evaluate({ backend, kernel, grader })));
      const compared = rows.filter((row) => {
        const golden = tables[`${row.condition}/${row.policy}/${row.belief}/${grader}`];
        if (golden === undefined) return false;
        expect(row.episodes).toBe(golden.n);
        expect(row.digest).toBe(golden.digest);
        const means = { ...row.components, belief_mae: row.belief_mae, final_score: row.final_score.mean };
        for (const [name, mean] of Object.entries(means)) {
          expect(Math.abs(mean - golden[name]), name).toBeLessThan(1e-12);
        }
        return true;
      });
      const golden = Object.keys(tables).filter((key) => key.endsWith(grader) && !key.startsWith('large'));
      expect(compared).toHaveLength(golden.length);
    },
  );
});

it('evaluate plays custom seeds, with the golden results for 20000-29999', async () => {
  // The golden table `large` has no policy with an action sequence.
  const policies = POLICIES.filter(({ sequenceGrader }) => sequenceGrader('v2') === null).map(
    ({ name }) => name,
  );
  const rows = await playRows({ seeds: { first: 20000, last: 29999 }, policies });
  expect(rows).toHaveLength(4);
  for (const row of rows) {
    expect(row.condition).toBe('custom');
    const golden = tables[`large/${row.policy}/${row.belief}/v2`];
    expect(row.digest).toBe(golden.digest);
    expect(Math.abs(row.finalScore.mean - golden.final_score)).toBeLessThan(1e-12);
  }
});

it('evaluate has the same result for every chunkSize', async () => {
  const seeds = { first: 4294967200, last: 4294967295 };
  const whole = await playRows({ seeds, chunkSize: 2 ** 20 });
  for (const chunkSize of [1, 7, 32, 95]) {
    expect(await playRows({ seeds, chunkSize })).toEqual(whole);
  }
});

describe('the condition "discrete"', () => {
  it('pools the episodes of the three named profiles in order', async () => {
    const rows = await playRows({ conditions: ['discrete'] });
    const scores = PROFILE_NAMES.flatMap((profiles) => {
      using env = createVecEnv({ numEnvs: 5 });
      env.reset({ seed: 0, profiles });
      return Array.from(env.run('random').finalScores);
    });
    const random = rows.filter(({ policy, belief }) => policy === 'random' && belief === 'none');
    const pool = random.at(-1)!;
    expect(pool).toMatchObject({ condition: 'discrete', episodes: 15, seeds: '0-4', profiles: 'named' });
    const digest = createHash('sha256').update(Float32Array.from(scores)).digest('hex');
    expect(pool.digest).toBe(digest.slice(0, 16));
    for (const select of [
      (row: EvaluationRow) => row.finalScore.mean,
      (row: EvaluationRow) => row.beliefMae,
      (row: EvaluationRow) => row.components.progress,
    ]) {
      const mean = random.slice(0, 3).reduce((sum, row) => sum + select(row), 0) / 3;
      expect(select(pool)).toBeCloseTo(mean, 14);
    }
  });
});

it('evaluate counts wins against the heuristic on the same seeds, even if the heuristic is not a selected policy', async () => {
  const seeds = { first: 100, last: 299 };
  const [row] = await playRows({ seeds, policies: ['random'], chunkSize: 64 });
  using env = createVecEnv({ numEnvs: 200 });
  env.reset({ seed: 100 });
  const heuristic = env.run('heuristic').finalScores.slice();
  env.reset({ seed: 100 });
  const random = env.run('random').finalScores;
  const wins = { won: 0, lost: 0, tied: 0 };
  for (let i = 0; i < 200; i++) {
    wins[random[i] > heuristic[i] ? 'won' : random[i] < heuristic[i] ? 'lost' : 'tied']++;
  }
  expect(row.wins).toEqual(wins);
  const [heuristicRow] = await playRows({ seeds, policies: ['heuristic'] });
  expect(heuristicRow.wins).toEqual({ won: 0, lost: 0, tied: 200 });
});

it('the JSON of an evaluation has version, world, engine and machine', async () => {
  const json = evaluationToJson(await evaluate({ backend: 'reference', seeds: { first: 3, last: 3 } }));
  expect(json).toMatchObject({
    schema: { name: 'rhythm-vec/evaluation', version: 1 },
    world_digest: worldDigest(createWorld().words),
    ...{ backend: 'reference', kernel: 'reference', threads: 1, grader: 'v2' },
    machine: { arch: process.arch, node: process.version },
  });
  expect(jsonRows(json)[0]).toMatchObject({ seeds: '3-3', final_score: { low: null, high: null } });
  // No key is in camelCase.
  expect(JSON.stringify(json)).not.toMatch(/"[a-z]+[A-Z]\w*":/);
});

it('evaluate reports progress after each chunk, up to the total', async () => {
  const calls: [number, number][] = [];
  await evaluate({
    seeds: { first: 0, last: 9 },
    chunkSize: 4,
    onProgress: (done, total) => calls.push([done, total]),
  });
  // Chunks of 4, 4 and 2 seeds, played by six policies.
  expect(calls).toEqual([
    [24, 60],
    [48, 60],
    [60, 60],
  ]);
});

it('evaluate stops at the next chunk when aborted', async () => {
  const abort = new AbortController();
  const reason = new Error('enough');
  let chunks = 0;
  const evaluation = evaluate({
    seeds: { first: 0, last: 4294967295 },
    chunkSize: 1,
    signal: abort.signal,
    onProgress: () => {
      if (++chunks === 3) abort.abort(reason);
    },
  });
  await expect(evaluation).rejects.toBe(reason);
  expect(chunks).toBe(3);
});

it('evaluate plays other profiles under conditions without profiles of their own, and names them in the rows', async () => {
  const rows = await playRows({ profiles: PROFILE_NAMES[0], policies: ['heuristic'], episodes: 5 });
  expect(rows.map(({ condition, profiles }) => [condition, profiles])).toEqual([
    ['in-distribution', PROFILE_NAMES[0]],
    ['ood', PROFILE_NAMES[0]],
  ]);
  expect(rows[0].digest).toBe(tables[`discrete:${PROFILE_NAMES[0]}/heuristic/none/v2`].digest);
});

describe('conditions', () => {
  const names = (options: ConditionOptions) => selectConditions(options).map(({ name }) => name);
  const discrete = [
    'discrete:introvert_morning',
    'discrete:extrovert_night_owl',
    'discrete:workaholic_stoic',
  ];

  it('default to all conditions, or to "custom" alone if seeds are given', () => {
    expect(names({})).toEqual(CONDITIONS.map(({ name }) => name));
    expect(names({ seeds: { first: 0, last: 1 } })).toEqual(['custom']);
    expect(names({ seeds: { first: 0, last: 1 }, conditions: ['ood'] })).toEqual(['ood', 'custom']);
    expect(names({ conditions: ['ood', 'discrete', 'ood'] })).toEqual(['ood', ...discrete, 'discrete']);
  });

  it('are limited to their first seeds by `episodes`', () => {
    const [condition] = selectConditions({ conditions: ['ood'], episodes: 7 });
    expect(condition.parts).toEqual([{ profile: 'sampled', seeds: { first: 10000, last: 10006 } }]);
  });

  it('have all their seeds if `episodes` is larger', () => {
    const options = {
      conditions: ['in-distribution', 'ood', 'discrete', 'custom'],
      seeds: { first: 7, last: 9 },
    };
    const seeds = selectConditions({ ...options, episodes: 60 }).map(seedsOf);
    expect(seeds).toEqual(['0-59', '10000-10049', ...discrete.map(() => '0-4'), '0-4', '7-9']);
    expect(selectConditions({ episodes: Number.MAX_SAFE_INTEGER })).toEqual(CONDITIONS);
  });
});

it.each<[options: object, message: string]>([
  [{ conditions: ['odd'] }, 'Did you mean "ood"?'],
  [{ conditions: 'ood' }, 'Expected conditions to be a list of at least one name, got "ood".'],
  [{ conditions: [] }, 'Expected conditions to be a list'],
  [{ conditions: ['constructor'] }, 'got "constructor".'],
  [{ policies: ['heuristics'] }, 'Did you mean "heuristic"?'],
  [{ policies: 'random' }, 'or policies by name, { mine: policy }, got "random".'],
  [{ policies: [1n] }, 'Expected policies to be a list'],
  [{ grader: 'v4' }, 'v1, v2, v3, got "v4". Use one of these names.'],
  [{ profiles: 'introvert' }, 'introvert_morning'],
  [{ polices: ['random'] }, 'Did you mean "policies"?'],
  [{ conditions: ['custom'] }, 'Give seeds'],
  [{ conditions: ['ood'], episodes: 0 }, 'of at least 1, got 0'],
  [{ conditions: ['ood'], episodes: 1.5 }, 'got 1.5'],
  [{ conditions: ['discrete'], profiles: 'sampled' }, 'has its own'],
  [{ seeds: null }, 'Expected seeds to be { first, last }, got null.'],
  [{ seeds: { first: 5, last: 4 } }, 'the last seed'],
  [{ seeds: { first: 0, last: 2 ** 32 } }, 'the last seed'],
  [{ chunkSize: 0 }, 'chunkSize'],
  [{ onStart: 1 }, 'Expected onStart to be a function, got 1.'],
  [{ onProgress: {} }, 'Expected onProgress to be a function, got an object.'],
  [{ signal: {} }, 'Expected signal to be an AbortSignal, got an object.'],
])('evaluate refuses the options %o', async (options, message) => {
  const refusal = evaluate(options);
  await expect(refusal).rejects.toThrow(InputError);
  await expect(refusal).rejects.toThrow(message);
});

describe('exported constants are frozen', () => {
  const constants = Object.entries(api).filter(([, value]) => typeof value === 'object');
  it.each(constants)('%s', (_, value) => {
    const isDeeplyFrozen = (part: unknown): boolean =>
      typeof part !== 'object' ||
      part === null ||
      (Object.isFrozen(part) && Object.values(part).every(isDeeplyFrozen));
    expect(isDeeplyFrozen(value)).toBe(true);
  });
});
