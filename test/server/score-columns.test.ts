/** Compares the columns of a /v1/score answer, which are computed when they are written, with the results of scoreReplay. */
import { expect, it } from 'vitest';
import { type ReplayRow, scoreReplay } from '../../src/index.js';
import { SCORE_NAMES } from '../../src/server/v1/score-columns.js';
import { sendRequest, startServer } from '../support/server.js';

const ROWS = 9000;
const weights = { format_valid: 0.3, action_legal: -2, env_reward: 1.7, belief_accuracy: 5 };
const shaping = { repetition: true, exploration: true };

/** Rows with and without an action, with and without a belief, and invalid rows. */
const rows = Array.from({ length: ROWS }, (_, k): ReplayRow => {
  const beliefs = [null, [0.25, 0.5, 1], [1, 1, 1], [0, 0, 0]];
  return {
    seed: 100 + (k % 50),
    actionHistory: k % 97 === 5 ? [10] : Array.from({ length: k % 28 }, (_, t) => (k + t * t) % 10),
    action: k % 5 === 3 ? null : k % 10,
    belief: beliefs[k % 4],
  };
});

const numbers = (values: Float32Array) => Array.from(values, (value) => (Number.isNaN(value) ? null : value));

it.each([{}, { weights, shaping }])('equal the results of scoreReplay with %j', async (terms) => {
  const server = await startServer();
  const columns = {
    seeds: rows.map(({ seed }) => seed),
    action_histories: rows.map(({ actionHistory }) => actionHistory),
    actions: rows.map(({ action }) => action),
    beliefs: rows.map(({ belief }) => belief),
  };
  const { body } = await sendRequest(server, 'POST', '/v1/score', { ...columns, ...terms });
  const { rewards, ...scores } = scoreReplay(rows, {
    shaping: 'shaping' in terms ? shaping : undefined,
    weights:
      'weights' in terms
        ? { formatValid: 0.3, actionLegal: -2, envReward: 1.7, beliefAccuracy: 5 }
        : undefined,
  });
  expect(body.scores).toEqual({
    format_valid: numbers(rewards.formatValid),
    action_legal: numbers(rewards.actionLegal),
    env_reward: numbers(rewards.envReward),
    belief_accuracy: numbers(rewards.beliefAccuracy),
    total: numbers(rewards.total),
    step_reward: numbers(scores.stepRewards),
    belief_mae: numbers(scores.beliefMae),
    state_hash: Array.from(scores.stateHashes, (hash) => hash.toString(16).padStart(16, '0')),
  });
  expect(body.faults).toHaveLength(scores.faults.length);
});

it('returns the requested scores in order, each once', async () => {
  const server = await startServer();
  const columns = { seeds: [1], action_histories: [[]], actions: [0] };
  const namesOf = async (scores: string[], rows: object = columns): Promise<string[]> =>
    Object.keys((await sendRequest(server, 'POST', '/v1/score', { ...rows, scores })).body.scores);
  expect(await namesOf(['total', 'state_hash', 'total'])).toEqual(['total', 'state_hash']);
  expect(await namesOf([])).toEqual([]);
  expect(await namesOf(SCORE_NAMES, { seeds: [], action_histories: [], actions: [] })).toEqual(SCORE_NAMES);
});
