/** Tests /metrics, /openapi.json, unexpected errors, wrong methods and IPv6 addresses. */
import { expect, it, vi } from 'vitest';
import { toServeSettings } from '../../src/server/server-options.js';
import { BatchRunner } from '../../src/server/v1/batch-runner.js';
import { EnvQuota } from '../../src/server/vec/vec-session.js';
import { type Client, connect, metric, metricBecomes, sendRequest, startServer } from '../support/server.js';

const PREFIX = 'rhythm_vec_';

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

it('counts requests by known route and status, not by unknown paths, and names the allowed methods', async () => {
  const server = await startServer();
  for (const path of ['/made-up', '/made-up/too', '/health']) await sendRequest(server, 'GET', path);
  for (const [method, path, allowed] of [
    ['GET', '/reset', 'POST'],
    ['DELETE', '/health', 'GET'],
  ]) {
    const response = await fetch(server.url + path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
  }
  const requestCount = (route: string, code: number) =>
    metric(server, `${PREFIX}http_request_seconds_count\\{route="${route}",status="${code}"\\}`);
  expect([await requestCount('none', 404), await requestCount('/health', 200)]).toEqual([2, 1]);
  expect(await requestCount('/reset', 405)).toBe(1);
  expect((await sendRequest(server, 'GET', '/metrics')).body).not.toContain('made-up');
});

it('openapi.json describes routes, bodies, answers by status, and whether a token is required', async () => {
  const { paths, ...description } = (await sendRequest(await startServer(), 'GET', '/openapi.json')).body;
  expect(description).not.toHaveProperty('security');
  expect(description.info.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(Object.keys(paths['/state'])).toEqual(['get']);
  const required = (path: string) => paths[path].post.requestBody.required;
  expect(['/reset', '/step', '/v1/score'].map(required)).toEqual([false, true, true]);
  const { responses } = paths['/v1/score'].post;
  expect(Object.keys(responses)).toEqual(['200', '413', '415', '422', '503']);
  expect(Object.keys(paths['/step'].post.responses)).toEqual(['200', '413', '415', '422']);
  expect(Object.keys(paths['/health'].get.responses)).toEqual(['200']);
  const schemaOf = (status: number) => responses[status].content['application/json'].schema.properties;
  expect(Object.keys(schemaOf(200))).toEqual(['rows', 'world_digest', 'scores', 'parsed', 'faults']);
  expect(Object.keys(schemaOf(422).detail.items.properties)).toEqual(['type', 'loc', 'msg', 'input']);
  expect(schemaOf(413).detail.type).toBe('string');
  const text = { 'text/plain': { schema: { type: 'string' } } };
  expect(paths['/metrics'].get.responses[200].content).toEqual(text);
  const token = '0123456789abcdef-secret';
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await sendRequest(await startServer({ token }), 'GET', '/openapi.json', null, headers);
  expect(body.security).toEqual([{ bearer: [] }]);
  expect(body.components.securitySchemes.bearer).toEqual({ type: 'http', scheme: 'bearer' });
});

it('answers unexpected errors without their message, counts them and reports them', async () => {
  const reported: unknown[] = [];
  const server = await startServer({ onFailure: (each) => reported.push(each) });
  const errors = [new Error('of a request'), new Error('of a frame')];
  vi.spyOn(BatchRunner.prototype, 'runBatch').mockRejectedValueOnce(errors[0]);
  expect(await sendRequest(server, 'POST', '/v1/score', {})).toMatchObject({
    status: 500,
    body: { detail: 'Internal Server Error' },
  });
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
