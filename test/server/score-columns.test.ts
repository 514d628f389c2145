/** Compares the columns of /v1/score, which the server computes while it writes the answer, with scoreReplay. */
import { expect, it } from 'vitest';
import { type ReplayRow, scoreReplay } from '../../src/index.js';
import { SCORE_NAMES } from '../../src/server/v1/score-columns.js';
import { float32Decimals } from '../../src/shared/float32-decimal.js';
import { camelCase } from '../../src/shared/letter-case.js';
import { sendRequest, startServer } from '../support/server.js';

/** More than the rows that the server computes at once. */
const ROWS = 9000;
/** The number of rows for all options but the first. */
const FEWER = 1500;
const weights = { format_valid: 0.3, action_legal: -2, env_reward: 1.7, belief_accuracy: 5 };
const shaping = { repetition: true, exploration: true };

/** Rows with and without an action, with and without a belief, and invalid rows. */
const ALL = Array.from({ length: ROWS }, (_, k): ReplayRow => {
  const beliefs = [null, [0.25, 0.5, 1], [1, 1, 1], [0, 0, 0]];
  return {
    seed: 100 + (k % 50),
    actionHistory: k % 97 === 5 ? [10] : Array.from({ length: k % 28 }, (_, t) => (k + t * t) % 10),
    action: k % 5 === 3 ? null : k % 10,
    belief: beliefs[k % 4],
    beliefHistory: k % 3 === 0 ? null : Array.from({ length: k % 28 }, (_, t) => beliefs[(k + t) % 4]),
  };
});

const numbers = (values: Float32Array) =>
  float32Decimals(values).map((value) => (Number.isNaN(value) ? null : value));

it.each([
  {},
  { weights, shaping },
  { grader: 'v3' },
  { grader: 'v3', weights: { belief_skill: -3 } },
  { weights: { belief_skill: 0.5 } },
])(
  'the columns equal the results of scoreReplay with %j',
  async (options: { grader?: string; weights?: object; shaping?: object }) => {
    const server = await startServer();
    const rows = Object.keys(options).length === 0 ? ALL : ALL.slice(0, FEWER);
    const columns = {
      seeds: rows.map(({ seed }) => seed),
      action_histories: rows.map(({ actionHistory }) => actionHistory),
      actions: rows.map(({ action }) => action),
      beliefs: rows.map(({ belief }) => belief),
      belief_histories: rows.map(({ beliefHistory }) => beliefHistory),
    };
    const { body } = await sendRequest(server, 'POST', '/v1/score', { ...columns, ...options });
    const byName = Object.entries(options.weights ?? {}).map(([name, weight]) => [camelCase(name), weight]);
    const { rewards, ...scores } = scoreReplay(rows, { ...options, weights: Object.fromEntries(byName) });
    const expected = {
      format_valid: numbers(rewards.formatValid),
      action_legal: numbers(rewards.actionLegal),
      env_reward: numbers(rewards.envReward),
      belief_accuracy: numbers(rewards.beliefAccuracy),
      belief_skill: numbers(rewards.beliefSkill),
      total: numbers(rewards.total),
      step_reward: numbers(scores.stepRewards),
      belief_mae: numbers(scores.beliefMae),
      state_hash: Array.from(scores.stateHashes, (hash) => hash.toString(16).padStart(16, '0')),
    };
    expect(body.scores).toEqual(expected);
    for (const name of ['total', 'belief_skill'] as const) {
      const alone = await sendRequest(server, 'POST', '/v1/score', {
        ...columns,
        ...options,
        scores: [name],
      });
      expect(alone.body.scores).toEqual({ [name]: expected[name] });
    }
    expect(body.faults).toHaveLength(scores.faults.length);
  },
);

it('returns the requested scores in order, each once', async () => {
  const server = await startServer();
  const columns = { seeds: [1], action_histories: [[]], actions: [0] };
  const namesOf = async (scores: string[], rows: object = columns): Promise<string[]> =>
    Object.keys((await sendRequest(server, 'POST', '/v1/score', { ...rows, scores })).body.scores);
  expect(await namesOf(['total', 'state_hash', 'total'])).toEqual(['total', 'state_hash']);
  expect(await namesOf([])).toEqual([]);
  expect(await namesOf(SCORE_NAMES, { seeds: [], action_histories: [], actions: [] })).toEqual(SCORE_NAMES);
});
