/** Tests that prompts refuse invalid observations, histories and options, and import no Node module. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createVecEnv, OBSERVATION, OBSERVATION_SIZE, prompt, prompts } from '../../../src/index.js';
import { ROW_SIZE } from '../../../src/rollouts/text/observation-row.js';
import { put } from '../../support/bad-calls.js';
import { expectRefusal } from '../../support/refusals.js';

const N = 4;
const env = createVecEnv({ numEnvs: N });
env.reset({ seed: 300 });
const observations = env.run('heuristic', { stops: Array(N).fill(5) }).observations.slice();
const histories = Array.from({ length: N }, (_, i) => env.history(i));
const withHistory = createVecEnv({ numEnvs: N, observation: { history: true } });
withHistory.reset({ seed: 300 });
const rows = withHistory.run('heuristic', { stops: Array(N).fill(5) }).observations.slice();

const any = (value: unknown) => value as never;
const changed = (at: number, value: number) => put(Array.from(observations), at, value);

describe('prompts refuse invalid numbers', () => {
  const row2 = 2 * OBSERVATION_SIZE;
  it.each([
    ['step', OBSERVATION.step, 29],
    ['step', OBSERVATION.step, 2.5],
    ['day', OBSERVATION.day, -1],
    ['slot', OBSERVATION.slot, 4],
    ['remaining', OBSERVATION.remaining, Number.NaN],
    ['meters', OBSERVATION.meters + 4, 1.5],
    ['event', OBSERVATION.event, 5],
    ['last_action', OBSERVATION.lastAction, 0.5],
    ['reward', OBSERVATION.reward, Number.POSITIVE_INFINITY],
    ['deltas', OBSERVATION.deltas, -1.5],
    ['anomalies', OBSERVATION.anomalies + 4, Number.NaN],
  ])('%s', (field, at, value) => {
    const where = `observations[${row2 + at}], row 2`;
    expectRefusal(
      () => prompts(changed(row2 + at, value), histories),
      'out_of_range',
      field,
      where,
      String(value),
    );
    const whole = put(Array.from(rows), 2 * ROW_SIZE + at, value);
    expectRefusal(() => prompts(whole), 'out_of_range', field, `observations[${2 * ROW_SIZE + at}], row 2`);
    const one = whole.slice(2 * ROW_SIZE, 3 * ROW_SIZE);
    expectRefusal(() => prompt(one), 'out_of_range', field, `observation[${at}]`);
    expectRefusal(
      () => prompt(one.slice(0, OBSERVATION_SIZE), histories[2]),
      'out_of_range',
      `observation[${at}]`,
    );
  });

  it('in past steps', () => {
    const past = (k: number, change: object) =>
      put([...histories], 1, put([...histories[1]], k, { ...histories[1][k], ...change }));
    for (const change of [{ action: 10 }, { reward: Number.NaN }, { deltas: [0, 0, 2, 0, 0] }]) {
      const call = () => prompts(observations, past(3, change));
      expectRefusal(call, 'out_of_range', 'histories[1]', 'step 6 of the last 7');
    }
    const anomalies = { anomalies: [0, 0, 0, 0, Number.NaN] };
    expectRefusal(
      () => prompts(observations, past(0, anomalies)),
      'out_of_range',
      'anomalies',
      'step 3 of the last 7',
    );
    expectRefusal(
      () => prompts(observations, past(0, { deltas: [0, 0] })),
      'wrong_type',
      'histories[1][0].deltas[2]',
    );
  });
});

describe('prompts refuse rows', () => {
  it('of environments with encoded observations', () => {
    for (const observation of [{ oneHot: true }, { scale: true }, { scale: true, history: true }]) {
      const other = createVecEnv({ numEnvs: N, observation });
      const observed = other.reset({ seed: 1 }).observations;
      expect(() => prompts(observed, histories)).toThrow(/^Expected/);
      expect(() => prompts(observed)).toThrow(/^Expected/);
      other.close();
    }
  });

  it('with more past steps than were taken', () => {
    const start = observations.slice();
    for (let i = 0; i < N; i++) start[i * OBSERVATION_SIZE + OBSERVATION.step] = 4;
    expectRefusal(() => prompts(start, histories), 'out_of_range', 'at most 4 past steps', 'histories[0]');
    const early = rows.slice();
    early[ROW_SIZE + OBSERVATION.step] = 4;
    expectRefusal(() => prompts(early), 'out_of_range', 'at most 4 past steps', 'row 1');
  });

  it('of zeros, which rollouts have for steps not taken, and rows with a wrong day', () => {
    expectRefusal(
      () => prompts(new Float32Array(2 * OBSERVATION_SIZE), [[], []]),
      'out_of_range',
      'remaining 28',
      'row 0',
      'got 0',
    );
    const other = put(Array.from(rows), ROW_SIZE + OBSERVATION.day, 3);
    expectRefusal(
      () => prompts(other),
      'out_of_range',
      'Expected day',
      `observations[${ROW_SIZE + 1}], row 1`,
    );
  });
});

describe('prompts refuse a wrong type or length', () => {
  it('of observations', () => {
    expectRefusal(() => prompt(any(null)), 'wrong_type', 'observation', 'null');
    expectRefusal(() => prompts(any({ length: 0 })), 'wrong_type', 'observations', 'an object');
    expectRefusal(
      () => prompts(any(put(Array.from(rows), 7, '0.5'))),
      'wrong_type',
      'observations[7]',
      '"0.5"',
    );
    expectRefusal(() => prompts(any(new BigInt64Array(ROW_SIZE))), 'wrong_type', 'observations[0]', '0');
  });

  it('of observations that do not fit the histories', () => {
    expectRefusal(
      () => prompt(observations.slice(0, OBSERVATION_SIZE)),
      'wrong_length',
      '106',
      'history',
      '22',
    );
    expectRefusal(() => prompt(rows.slice(0, ROW_SIZE), histories[0]), 'wrong_length', '22', '106');
    expectRefusal(() => prompts(observations), 'wrong_length', '106', '88');
    expectRefusal(() => prompts(observations, histories.slice(1)), 'wrong_length', '3 histories', '88');
  });

  it('of histories', () => {
    const first = observations.slice(0, OBSERVATION_SIZE);
    expectRefusal(() => prompts(observations, any('past')), 'wrong_type', 'histories', '"past"');
    expectRefusal(
      () => prompts(observations, any(put([...histories], 3, null))),
      'wrong_type',
      'histories[3]',
      'null',
    );
    expectRefusal(() => prompt(first, any([4])), 'wrong_type', 'history[0]', '4');
    expectRefusal(() => prompt(first, any([null])), 'wrong_type', 'history[0]', 'null');
    const [step] = histories[0];
    expectRefusal(
      () => prompt(first, any([{ ...step, action: 1n }])),
      'wrong_type',
      'history[0].action',
      '1',
    );
    expectRefusal(
      () => prompt(first, any([{ ...step, reward: null }])),
      'wrong_type',
      'history[0].reward',
      'null',
    );
    expectRefusal(
      () => prompt(first, any([{ ...step, deltas: null }])),
      'wrong_type',
      'history[0].deltas',
      'null',
    );
    expectRefusal(
      () => prompt(first, any([{ ...step, anomalies: null }])),
      'wrong_type',
      'history[0].anomalies',
      'null',
    );
    const anomalies = [0, 0, '0', 0, 0];
    expectRefusal(() => prompt(first, any([{ ...step, anomalies }])), 'wrong_type', 'anomalies[2]', '"0"');
  });
});

it('prompts and parsing import no module of Node', () => {
  const reached = new Set<string>();
  const visit = (url: URL): void => {
    if (reached.has(url.href)) return;
    reached.add(url.href);
    const imports = readFileSync(url, 'utf8').matchAll(/^(?:import|export)(?! type)[^;]*?'([^']+)';/gms);
    for (const [, name] of imports) {
      expect(name).not.toMatch(/^node:/);
      if (name.startsWith('.')) visit(new URL(name.replace(/\.js$/, '.ts'), url));
    }
  };
  for (const name of ['parse-completions', 'prompt'])
    visit(new URL(`../../../src/rollouts/text/${name}.ts`, import.meta.url));
  expect(reached.size).toBeGreaterThan(8);
});

describe('options', () => {
  it('that are null, or have an unknown or invalid grader or an unknown name, are refused', () => {
    expectRefusal(() => prompts([], [], { grader: 'v9' }), 'unknown_name', 'v1, v2, v3', '"v9"');
    expectRefusal(() => prompts([], [], { grader: [1, 1] }), 'bad_grader', 'eight weights', '[1, 1]');
    expectRefusal(() => prompts([], [], any({ graders: 'v2' })), 'unknown_option', 'prompts', 'grader');
    expectRefusal(
      () => prompt(rows.slice(0, ROW_SIZE), undefined, any(null)),
      'wrong_type',
      'prompt',
      'null',
    );
  });
});
