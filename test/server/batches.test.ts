/** /v1/prompts and /v1/rollout give the texts and numbers of the library, in slices that the client reads as it likes. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import {
  ACTION_NAMES,
  createVecEnv,
  graderWeights,
  loadStudent,
  prompts,
  rolloutGroups,
} from '../../src/index.js';
import { SLICE } from '../../src/server/http/json-response.js';
import { float32Decimals } from '../../src/shared/float32-decimal.js';
import { metric, sendRequest, startServer } from '../support/server.js';

it('/v1/prompts returns the same texts as prompts()', async () => {
  // More rows than two slices of /v1/prompts.
  const seeds = Array.from({ length: 600 }, (_, i) => (i * 7919) % 9000);
  const modes = seeds.map((_, i) => ['sampled', 'discrete', 'introvert_morning'][i % 3]);
  const histories = seeds.map((_, i) =>
    Array.from({ length: i % 28 }, (_, t) => ACTION_NAMES[(i + 3 * t * t) % 10]),
  );
  const server = await startServer();
  const columns = { seeds, action_histories: histories, profile_modes: modes };
  const { body } = await sendRequest(server, 'POST', '/v1/prompts', columns);
  using env = createVecEnv({ numEnvs: seeds.length, observation: { history: true } });
  env.reset({ seed: seeds, profiles: modes });
  const sequence = histories.flatMap((history) =>
    Array.from({ length: 28 }, (_, t) => Math.max(0, ACTION_NAMES.indexOf(history[t]))),
  );
  const { observations } = env.run(sequence, { stops: histories.map(({ length }) => length) });
  const expected = prompts(observations);
  expect(body.system).toBe(expected[0][0].content);
  expect(body.users).toEqual(expected.map(([, user]) => user.content));
  const v3 = await sendRequest(server, 'POST', '/v1/prompts', { ...columns, grader: 'v3' });
  const { content } = prompts(observations, undefined, { grader: 'v3' })[0][0];
  expect(v3.body).toEqual({ ...body, system: content });
  const none = await sendRequest(server, 'POST', '/v1/prompts', { seeds: [], action_histories: [] });
  expect(none.body).toEqual({ ...body, rows: 0, system: '', users: [] });
});

it('/v1/prompts writes while the client reads, without buffering all prompts', async () => {
  const server = await startServer();
  const rows = 40_000;
  // About 36 MB: more than the operating system holds for a client that does not read.
  const body = { seeds: Array(rows).fill(1), action_histories: Array(rows).fill([]) };
  const pending = request(`${server.url}/v1/prompts`, { method: 'POST' });
  pending.end(JSON.stringify(body));
  const [response] = (await once(pending, 'response')) as [IncomingMessage];
  for (let k = 0; k < 20; k++) expect(await metric(server, 'rhythm_vec_prompts_total')).toBe(0);
  const { users } = JSON.parse(await text(response)) as { users: string[] };
  expect([users.length, new Set(users).size]).toEqual([rows, 1]);
  expect(await metric(server, 'rhythm_vec_prompts_total')).toBe(rows);
});

it('/v1/rollout returns the numbers of the library, for policies of every kind', async () => {
  const server = await startServer();
  const grader = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
  const names = ['returns', 'final_scores', 'components'] as const;
  const request = {
    seeds: [500, 501],
    group_size: 3,
    gamma: 0.9,
    grader,
    arrays: [...names, 'state_hashes'],
  };
  const options = { seeds: [500, 501], groupSize: 3, gamma: 0.9, grader: graderWeights(grader as never) };
  const arraysOf = async (changes: object) =>
    (await sendRequest(server, 'POST', '/v1/rollout', { ...request, ...changes })).body.arrays;
  for (const [policy, more] of [
    ['random', {}],
    ['random', { policy_seeds: 77 }],
    ['heuristic', { belief: null }],
    ['student-v3', {}],
  ] as const) {
    const arrays = await arraysOf({ policy, ...more });
    const played = policy === 'student-v3' ? await loadStudent(policy) : policy;
    const policySeeds = 'policy_seeds' in more ? more.policy_seeds : undefined;
    const rollouts = await rolloutGroups({ ...options, policy: played, policySeeds });
    expect([arrays.returns, arrays.final_scores, arrays.components]).toEqual(
      [rollouts.returns, rollouts.finalScores, rollouts.components].map((values) => float32Decimals(values)),
    );
    expect(arrays.state_hashes[1]).toBe(rollouts.stateHashes[1].toString(16).padStart(16, '0'));
  }
  const sequences = Array.from({ length: 6 }, (_, i) => Array.from({ length: 28 }, (_, t) => (i + t) % 10));
  const sequence = { policy: 'action_sequences', action_sequences: sequences };
  using env = createVecEnv({ numEnvs: 6, grader: options.grader });
  const seed = [500, 500, 500, 501, 501, 501];
  const belief = [0.25, 0.5, 1];
  const modes = ['introvert_morning', 'discrete'];
  env.reset({ seed, profiles: seed.map((each) => modes[each - 500]) });
  const { finalScores } = env.run(sequences.flat(), { beliefs: belief });
  const constant = await arraysOf({ ...sequence, belief, profile_modes: modes });
  expect(constant.final_scores).toEqual(float32Decimals(finalScores));

  // A belief for each step, or null, which the environment takes as NaN.
  const beliefs = sequences.map((actions, i) =>
    actions.map((_, t) => ((i + t) % 3 === 0 ? null : [t / 28, i / 6, 1])),
  );
  const stated = await arraysOf({ ...sequence, belief_sequences: beliefs });
  const given = beliefs.flat().flatMap((each) => each ?? [Number.NaN, Number.NaN, Number.NaN]);
  env.reset({ seed, profiles: 'sampled' });
  const played = env.run(sequences.flat(), { beliefs: Float32Array.from(given) });
  expect(stated.final_scores).toEqual(float32Decimals(played.finalScores));
});

it('/v1/rollout returns all entries of arrays that fill whole slices, of several requests together', async () => {
  const server = await startServer();
  // Large enough to run one at a time (scheduler.ts).
  const groupSize = SLICE / 2;
  const request = { seeds: [500], group_size: groupSize, policy: 'random', arrays: ['actions', 'rewards'] };
  const rollouts = await rolloutGroups({ seeds: [500], groupSize, policy: 'random' });
  expect(rollouts.rewards.length).toBe(14 * SLICE);
  const arrays = { actions: Array.from(rollouts.actions), rewards: float32Decimals(rollouts.rewards) };
  const answers = await Promise.all([1, 2].map(() => sendRequest(server, 'POST', '/v1/rollout', request)));
  for (const { body } of answers) expect(body.arrays).toEqual(arrays);
});

it('/v1/rollout plays as many rollouts as a request may have', async () => {
  const request = { seeds: [500], group_size: 16_384, policy: 'random', arrays: ['final_scores'] };
  const { body } = await sendRequest(await startServer(), 'POST', '/v1/rollout', request);
  expect(body.arrays.final_scores).toHaveLength(16_384);
});

it.each([
  [1, 'at once, with its length', true],
  [5000, 'in pieces, without its length', false],
])('sends the answer to %i rows %s', async (rows, _, atOnce) => {
  const columns = { seeds: Array(rows).fill(1), action_histories: Array(rows).fill([]) };
  const body = JSON.stringify({ ...columns, actions: Array(rows).fill(0) });
  const response = await fetch(`${(await startServer()).url}/v1/score`, { method: 'POST', body });
  const answer = await response.text();
  expect(JSON.parse(answer).rows).toBe(rows);
  expect(response.headers.get('content-length')).toBe(atOnce ? String(answer.length) : null);
});
