/** Tests /metrics, /openapi.json, unexpected errors, wrong methods and IPv6 addresses. */
import { expect, it, vi } from 'vitest';
import { createApp } from '../../src/server/http/app.js';
import { Metrics } from '../../src/server/metrics.js';
import { toServeSettings } from '../../src/server/server-options.js';
import { BatchRunner } from '../../src/server/v1/batch-runner.js';
import { EnvQuota } from '../../src/server/vec/env-quota.js';
import { type Client, connect, metric, metricBecomes, sendRequest, startServer } from '../support/server.js';

const PREFIX = 'rhythm_vec_';
const TOKEN = '0123456789abcdef-secret';

it('counts sockets, sessions, environments, steps, rows, prompts, rollouts and completions', async () => {
  const server = await startServer({ capacity: 9 });
  const values = async (...names: string[]) =>
    Promise.all(names.map((name) => metric(server, PREFIX + name)));
  expect(await values('sessions', 'session_capacity', 'sockets')).toEqual([0, 9, 0]);
  const clients = await Promise.all([1, 2, 3].map(() => connect(server)));
  const all = (message: object) => Promise.all(clients.map((client: Client) => client.request(message)));
  await all({ type: 'reset', data: { seed: 1 } });
  for (let k = 0; k < 5; k++) await all({ type: 'step', data: { action_type: 'sleep' } });
  expect(await values('sessions', 'session_capacity', 'session_steps_total')).toEqual([3, 9, 15]);
  expect(await values('session_step_batch_sum')).toEqual([15]);
  expect(await metric(server, `${PREFIX}session_step_batch_count`)).toBeLessThanOrEqual(15);

  const vec = await connect(server, '/v1/vec');
  await vec.request({ type: 'create', data: { num_envs: 4 } });
  vec.socket.send('{"type":"reset","data":{"seed":1}}');
  await vec.next();
  for (const mask of [undefined, [1, 0, 1, 0], [0, 0, 0, 1]]) {
    vec.socket.send(JSON.stringify({ type: 'step', data: { actions: [0, 0, 0, 0], mask } }));
    await vec.next();
  }
  expect(await values('sockets', 'vec_envs', 'vec_slots', 'vec_steps_total')).toEqual([4, 1, 4, 4 + 2 + 1]);

  const columns = { seeds: [1, 2, 3], action_histories: [[], [], []] };
  await sendRequest(server, 'POST', '/v1/score', { ...columns, actions: [0, 0, 0] });
  await sendRequest(server, 'POST', '/v1/prompts', columns);
  await sendRequest(server, 'POST', '/v1/rollout', { seeds: [1, 2], group_size: 5, policy: 'random' });
  await sendRequest(server, 'POST', '/v1/parse', { completions: ['', ''] });
  expect(await values('scored_rows_total', 'prompts_total', 'rollouts_total')).toEqual([3, 3, 10]);
  expect(await values('parsed_completions_total')).toEqual([2]);

  for (const { socket } of [...clients, vec]) socket.close();
  for (const name of ['sockets', 'sessions', 'vec_envs', 'vec_slots'])
    await metricBecomes(server, PREFIX + name, 0);
});

it('counts requests by known route and status, not by unknown paths', async () => {
  const server = await startServer();
  for (const path of ['/made-up', '/made-up/too', '/health']) await sendRequest(server, 'GET', path);
  const { status, body } = await sendRequest(server, 'GET', '/reset');
  expect([status, body]).toEqual([405, { detail: 'Method Not Allowed' }]);
  const requestCount = (route: string, code: number) =>
    metric(server, `${PREFIX}http_request_seconds_count\\{route="${route}",status="${code}"\\}`);
  expect([await requestCount('none', 404), await requestCount('/health', 200)]).toEqual([2, 1]);
  expect(await requestCount('/reset', 405)).toBe(1);
  expect((await sendRequest(server, 'GET', '/metrics')).body).not.toContain('made-up');
});

it('answers a wrong method with the allowed methods', async () => {
  const { url } = await startServer();
  expect((await fetch(`${url}/reset`)).headers.get('allow')).toBe('POST');
  expect((await fetch(`${url}/health`, { method: 'DELETE' })).headers.get('allow')).toBe('GET');
});

it('openapi.json describes bodies, errors, and whether a token is required', async () => {
  const { paths, ...description } = (await sendRequest(await startServer(), 'GET', '/openapi.json')).body;
  expect(description).not.toHaveProperty('security');
  const required = (path: string) => paths[path].post.requestBody.required;
  expect(['/reset', '/step', '/v1/score'].map(required)).toEqual([false, true, true]);
  expect(Object.keys(paths['/v1/score'].post.responses)).toEqual(['200', '413', '415', '422', '503']);
  expect(Object.keys(paths['/step'].post.responses)).toEqual(['200', '413', '415', '422']);
  expect(Object.keys(paths['/health'].get.responses)).toEqual(['200']);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { body } = await sendRequest(
    await startServer({ token: TOKEN }),
    'GET',
    '/openapi.json',
    null,
    headers,
  );
  expect(body.security).toEqual([{ bearer: [] }]);
  expect(body.components.securitySchemes.bearer).toEqual({ type: 'http', scheme: 'bearer' });
});

it('answers an unexpected error with 500, and reports it to onFailure only', async () => {
  const reported: unknown[] = [];
  const error = new Error('secret');
  const app = createApp({
    metrics: new Metrics(),
    rejectionOf: () => null,
    bodyLimit: 1024,
    frameLimit: 1024,
    routes: [
      {
        method: 'get',
        path: '/fails',
        summary: '',
        response: 'text/plain',
        handle: () => Promise.reject(error),
      },
    ],
    onFailure: (each) => reported.push(each),
  });
  const response = await app.request('/fails', {}, { incoming: {}, outgoing: { once: () => {} } } as never);
  expect([response.status, await response.json()]).toEqual([500, { detail: 'Internal Server Error' }]);
  expect(reported).toEqual([error]);
});

it('counts and reports unexpected errors of requests and of frames', async () => {
  const reported: unknown[] = [];
  const server = await startServer({ onFailure: (each) => reported.push(each) });
  const errors = [new Error('of a request'), new Error('of a frame')];
  vi.spyOn(BatchRunner.prototype, 'runBatch').mockRejectedValueOnce(errors[0]);
  expect((await sendRequest(server, 'POST', '/v1/score', {})).status).toBe(500);
  expect(await metric(server, `${PREFIX}failures_total`)).toBe(1);
  vi.spyOn(EnvQuota.prototype, 'take').mockImplementationOnce(() => {
    throw errors[1];
  });
  const client = await connect(server, '/v1/vec');
  client.socket.send('{"type":"create","data":{"num_envs":1}}');
  expect(await client.closed).toEqual({ code: 1011, reason: 'internal error' });
  expect(await metric(server, `${PREFIX}failures_total`)).toBe(2);
  expect(reported).toEqual(errors);
});

it('writes unexpected errors to the standard error by default, with their stacks', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { onFailure } = toServeSettings({});
  const error = new TypeError('unexpected');
  onFailure(error);
  onFailure('only text');
  const written = write.mock.calls.map(([text]) => text);
  write.mockRestore();
  expect(written).toEqual([`error: ${error.stack}\n`, 'error: only text\n']);
  expect(written[0]).toMatch(/TypeError: unexpected\n +at .*metrics\.test/);
});

it('listens on IPv6 addresses, with or without brackets, reports the URL, and closes once', async () => {
  for (const host of ['::1', '[::1]']) {
    const server = await startServer({ host });
    expect(server.url).toBe(`http://[::1]:${server.port}`);
    expect((await fetch(`${server.url}/metadata`)).status).toBe(200);
    // Further calls return the same promise.
    expect(server.close()).toBe(server.close());
  }
});
