/** Tests that errors repeat a refused input if it is short, and describe it otherwise. */
import { expect, it } from 'vitest';
import { encodeFrame } from '../../src/server/vec/frame.js';
import { connect, metric, sendRequest, startServer } from '../support/server.js';

const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
/** 4,000 nested lists: almost the 4,096 values that a message may have. */
const DEEP = deep(4000);
const FAILURES = 'rhythm_vec_failures_total';

it.each([
  ['/reset', `{"seed": ${DEEP}}`],
  ['/reset', DEEP],
  // 2,000 objects with a key each: almost the 4,096 values and keys that a message may have.
  ['/reset', `{"grader": ${'{"weights":'.repeat(2000)}1${'}'.repeat(2000)}}`],
  ['/step', `{"action": {"action_type": ${DEEP}}}`],
  ['/step', `{"action": {"action_type": "sleep", "more": ${DEEP}}}`],
  ['/v1/score', `{"seeds": [1], "grader": ${DEEP}}`],
])('POST %s refuses deeply nested input', async (path, body) => {
  const server = await startServer();
  const { status, body: response } = await sendRequest(server, 'POST', path, body);
  expect(status).toBe(422);
  expect(response.detail[0].input).toMatch(/^an (array of 1|object)$/);
});

it.each([
  ['/ws', `{"type": "reset", "data": {"seed": ${DEEP}}}`],
  ['/ws', `{"type": "state", "data": ${DEEP}}`],
  ['/v1/vec', `{"type": "create", "data": {"num_envs": ${DEEP}}}`],
])('a socket of %s stays open after a message of deeply nested lists', async (path, message) => {
  const server = await startServer();
  const client = await connect(server, path);
  expect((await client.request(message)).data).toMatchObject({
    code: 'VALIDATION_ERROR',
    errors: [{ input: 'an array of 1' }],
  });
  expect((await client.request('{"type": "nothing"}')).data.code).toBe('UNKNOWN_TYPE');
  expect(await metric(server, FAILURES)).toBe(0);
});

it('repeats short input, and describes long input', async () => {
  const server = await startServer();
  const quotedInput = async (seed: unknown): Promise<unknown> =>
    (await sendRequest(server, 'POST', '/reset', { seed })).body.detail[0].input;
  for (const short of ['3', -1, [1, [2, { a: 'b' }]], { __proto__: null, a: null }, 'x'.repeat(900)]) {
    expect(await quotedInput(short)).toEqual(short);
  }
  expect(await quotedInput('x'.repeat(5000))).toMatch(/^"x{10,200}\.\.\."$/);
  expect(await quotedInput(Array(4000).fill(0))).toBe('an array of 4000');
  expect(await quotedInput({ ['k'.repeat(5000)]: 0 })).toBe('an object');
  expect(await quotedInput(JSON.parse(deep(30)))).toBe('an array of 1');
});

it('reports at most 100 faults', async () => {
  const server = await startServer();
  const keys = Object.fromEntries(Array.from({ length: 2000 }, (_, k) => [`key ${k}`, k]));
  const { status, body } = await sendRequest(server, 'POST', '/step', {
    action: { action_type: 'sleep', ...keys },
  });
  expect([status, body.detail.length]).toEqual([422, 100]);
  expect(body.detail[7]).toMatchObject({ type: 'extra_forbidden', loc: ['key 7'], input: 7 });
});

it('does not repeat arrays of a binary frame as JSON', async () => {
  const client = await connect(await startServer(), '/v1/vec');
  await client.request({ type: 'create', data: { num_envs: 2 } });
  const values = new Float32Array(500_000);
  const frame = encodeFrame('step', {}, [{ name: 'beliefs', values, shape: [values.length] }]);
  const { data } = await client.request(Buffer.from(frame));
  expect(data.errors[0]).toMatchObject({ loc: ['actions'] });
  expect(JSON.stringify(data).length).toBeLessThan(1000);
});
