/** Requests of /v1 that ask in few words for very much. */
import { request } from 'node:http';
import { expect, it } from 'vitest';
import { ask, metric, metricBecomes, startServer } from './support/server.js';

const IN_PROGRESS = 'rhythm_vec_batch_requests';

it('an answer that is not read is in progress until the client is gone', async () => {
  const server = await startServer({ batchRequests: 1 });
  const asked = request(`${server.url}/v1/rollout`, { method: 'POST' });
  asked.on('error', () => {});
  // Some 22 MB: more than the system takes for a reader that does not read.
  const body = { seeds: [1], group_size: 2048, policy: 'heuristic', arrays: ['observations'] };
  const answered = new Promise((resolve) => asked.once('response', resolve));
  asked.end(JSON.stringify(body));
  await answered;
  for (let k = 0; k < 20; k++) expect(await metric(server, IN_PROGRESS)).toBe(1);
  expect((await ask(server, 'POST', '/v1/prompts', { seeds: [], action_histories: [] })).status).toBe(503);
  asked.destroy();
  await metricBecomes(server, IN_PROGRESS, 0);
  expect((await ask(server, 'POST', '/v1/prompts', { seeds: [], action_histories: [] })).status).toBe(200);
});

it('an answer that was read is not in progress when the client asks again', async () => {
  const server = await startServer({ batchRequests: 1 });
  const columns = { seeds: Array(3000).fill(1), action_histories: Array(3000).fill([]) };
  for (let k = 0; k < 10; k++) {
    const { status } = await ask(server, 'POST', '/v1/prompts', columns);
    expect(status).toBe(200);
  }
});

it('prompts that would be longer than any text are refused', async () => {
  const server = await startServer();
  const rows = 2 ** 17 + 1;
  const { status, body } = await ask(server, 'POST', '/v1/prompts', {
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill(0),
  });
  expect([status, body.detail[0].msg]).toEqual([422, expect.stringContaining('at most 131072 rows')]);
});

it('large rollouts are played one at a time, and none is lost', async () => {
  const server = await startServer();
  const body = { seeds: [1], group_size: 1000, policy: 'heuristic', arrays: ['observations'] };
  const answers = await Promise.all([1, 2, 3].map(() => ask(server, 'POST', '/v1/rollout', body)));
  for (const { status, body: played } of answers) {
    expect([status, played.arrays.observations.length % 28_000]).toEqual([200, 0]);
  }
  expect(await metric(server, 'rhythm_vec_rollouts_total')).toBe(3000);
});

it('rows at fault by the thousand are named one by one, and the others are scored', async () => {
  const server = await startServer();
  const isFaulty = (row: number): boolean => row % 7 === 3 || (row > 3000 && row < 7000);
  const rows = Array.from({ length: 10_000 }, (_, row) => row);
  const { body } = await ask(server, 'POST', '/v1/score', {
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

it.each(['/reset', '/step', '/mcp'])('what %s is sent is a message, no batch', async (path) => {
  const server = await startServer({ frameLimit: 1024 });
  const asked = ask(server, 'POST', path, { more: 'x'.repeat(2000) });
  expect(await asked).toMatchObject({ status: 413, body: { detail: expect.stringContaining('1024 bytes') } });
});
