/** Tests requests with many rows, large bodies or large answers. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { metric, metricBecomes, sendRequest, startServer } from '../support/server.js';

const IN_PROGRESS = 'rhythm_vec_batch_requests';

it('a request with an unread answer is in progress until the client disconnects', async () => {
  const server = await startServer({ batchRequests: 1, batchQueue: 0 });
  const pending = request(`${server.url}/v1/rollout`, { method: 'POST' });
  pending.on('error', () => {});
  // About 22 MB: more than the operating system holds for a client that does not read.
  const body = { seeds: [1], group_size: 2048, policy: 'heuristic', arrays: ['observations'] };
  const response = new Promise((resolve) => pending.once('response', resolve));
  pending.end(JSON.stringify(body));
  await response;
  for (let k = 0; k < 20; k++) expect(await metric(server, IN_PROGRESS)).toBe(1);
  expect((await sendRequest(server, 'POST', '/v1/prompts', { seeds: [], action_histories: [] })).status).toBe(
    503,
  );
  pending.destroy();
  await metricBecomes(server, IN_PROGRESS, 0);
  expect((await sendRequest(server, 'POST', '/v1/prompts', { seeds: [], action_histories: [] })).status).toBe(
    200,
  );
});

it('a request is no longer in progress once its answer was read', async () => {
  const server = await startServer({ batchRequests: 1, batchQueue: 0 });
  const columns = { seeds: Array(3000).fill(1), action_histories: Array(3000).fill([]) };
  for (let k = 0; k < 10; k++) {
    const { status } = await sendRequest(server, 'POST', '/v1/prompts', columns);
    expect(status).toBe(200);
  }
});

it('the server writes prompts while the client reads, without buffering all of them', async () => {
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

it('refuses prompts for an invalid row that follows thousands of valid rows', async () => {
  const server = await startServer();
  const rows = 10_000;
  const histories: unknown[] = Array(rows).fill([]);
  histories[rows - 1] = ['fly'];
  const body = { seeds: Array(rows).fill(1), action_histories: histories };
  const answer = await sendRequest(server, 'POST', '/v1/prompts', body);
  expect([answer.status, answer.body.detail[0].msg]).toEqual([
    422,
    expect.stringContaining('action_histories[9999][0]'),
  ]);
});

it('refuses a request for more than 131,072 prompts', async () => {
  const server = await startServer();
  const rows = 2 ** 17 + 1;
  const { status, body } = await sendRequest(server, 'POST', '/v1/prompts', {
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill(0),
  });
  expect([status, body.detail[0].msg]).toEqual([422, expect.stringContaining('at most 131072 rows')]);
});

it('answers all of several large rollouts that are requested together', async () => {
  const server = await startServer();
  const body = { seeds: [1], group_size: 1000, policy: 'heuristic', arrays: ['observations'] };
  const answers = await Promise.all([1, 2, 3].map(() => sendRequest(server, 'POST', '/v1/rollout', body)));
  for (const { status, body: result } of answers) {
    // 1,000 rollouts of 28 steps, with the same number of entries each.
    expect([status, result.arrays.observations.length % 28_000]).toEqual([200, 0]);
  }
  expect(await metric(server, 'rhythm_vec_rollouts_total')).toBe(3000);
});

it('names each of thousands of invalid rows, and scores the other rows', async () => {
  const server = await startServer();
  const isFaulty = (row: number): boolean => row % 7 === 3 || (row > 3000 && row < 7000);
  const rows = Array.from({ length: 10_000 }, (_, row) => row);
  const { body } = await sendRequest(server, 'POST', '/v1/score', {
    seeds: rows,
    action_histories: rows.map(() => []),
    actions: rows.map((row) => (isFaulty(row) ? 'rest' : 'sleep')),
    scores: ['total'],
  });
  const faulty = rows.filter(isFaulty);
  expect(body.faults.map(({ index }: { index: number }) => index)).toEqual(faulty);
  expect(body.faults.at(-1).message).toContain(`actions[${faulty.at(-1)}]`);
  expect(rows.filter((row) => body.scores.total[row] === null)).toEqual(faulty);
});

it.each(['/reset', '/step', '/mcp'])('limits a body of %s to the frame limit', async (path) => {
  const server = await startServer({ frameLimit: 1024 });
  const pending = sendRequest(server, 'POST', path, { more: 'x'.repeat(2000) });
  expect(await pending).toMatchObject({
    status: 413,
    body: { detail: expect.stringContaining('1024 bytes') },
  });
});
