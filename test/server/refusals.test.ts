/** Tests which requests are refused, and the statuses, errors and causes in the answers. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { STUDENT_NAMES } from '../../src/agents/student/shipped-students.js';
import { connect, sendRequest, startServer } from '../support/server.js';

it.each([
  ['{:', "Expected a key or '}' at position 1"],
  ['{,"seeds":[1]}', "Expected a key or '}' at position 1"],
  ['{"seeds" 1', "Expected ':' at position 9"],
  ['{"seeds" [1]}', "Expected ':' at position 9"],
  ['{"seeds"}', "Expected ':' at position 8"],
  ['{"seeds":[1]:', "Expected ',' or '}' at position 12"],
  ['{"seeds":[1] "actions":[1]}', "Expected ',' or '}' at position 13"],
  ['{"seeds":[1],:', 'Expected a key at position 13'],
  ['{"seeds":[1],}', 'Expected a key at position 13'],
  ['{"seeds":[1],,', 'Expected a key at position 13'],
  ['{},', 'Expected nothing more at position 2'],
  ['{"seeds":[1]', 'Unexpected end of JSON input at position 12'],
])('names the position and the cause of invalid JSON: %s', async (body, error) => {
  const { status, body: answer } = await sendRequest(await startServer(), 'POST', '/v1/score', body);
  const position = Number(/\d+$/.exec(error));
  expect([status, answer.detail]).toEqual([
    422,
    [{ type: 'json_invalid', loc: ['body', position], msg: 'JSON decode error', input: {}, ctx: { error } }],
  ]);
});

it('refuses two colons after a key', async () => {
  const { status, body } = await sendRequest(await startServer(), 'POST', '/v1/score', '{"seeds"::1}');
  expect([status, body.detail[0].type]).toEqual([422, 'json_invalid']);
});

it.each([
  ['randon', 'got "randon". Did you mean "random"?'],
  ['x', 'got "x". Use one of these names.'],
  [5, 'got 5.'],
  [null, 'got null.'],
])('names the valid policies of rollouts if the policy is %j', async (policy, got) => {
  const body = { seeds: [1], group_size: 1, policy };
  const { body: answer } = await sendRequest(await startServer(), 'POST', '/v1/rollout', body);
  const [{ loc, msg }] = answer.detail;
  expect(loc).toEqual(['body', 'policy']);
  expect(msg).toBe(
    `Expected one of random, heuristic, ${STUDENT_NAMES.join(', ')}, action_sequences, ${got}`,
  );
});

it('the limit on the number of JSON values ignores characters of strings', async () => {
  const server = await startServer();
  const more = '[{,:\\\\\\"'.repeat(2000);
  const { status, body } = await sendRequest(server, 'POST', '/reset', `{"seed":1,"more":"${more}"}`);
  expect([status, body.observation.step]).toEqual([200, 0]);
  for (const path of ['/ws', '/v1/vec']) {
    const { data } = await (await connect(server, path)).request(`{"type":"${more}"}`);
    expect(data.code).toBe('UNKNOWN_TYPE');
  }
});

/** Posts a body in pieces, without a content-length. */
async function postPieces(url: string, pieces: readonly string[]) {
  const pending = request(url, { method: 'POST' });
  const answered = once(pending, 'response');
  for (const piece of pieces) pending.write(piece);
  pending.end();
  const [response] = (await answered) as [IncomingMessage];
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

it('reads a long body without a content-length', async () => {
  const server = await startServer();
  const rows = 50_000;
  const seeds = Array.from({ length: rows }, (_, k) => k % 5000);
  const actions = seeds.map((seed) => seed % 10);
  const columns = { seeds, actions, action_histories: seeds.map(() => []), scores: ['env_reward'] };
  const json = JSON.stringify(columns);
  // The server's first buffer for a body of unknown length has 65,536 bytes (request.ts).
  const pieces = [1, 2, 65_535, 65_536, 65_537, 65_538, 300_000].map((at, k, all) =>
    json.slice(at, all[k + 1]),
  );
  const answer = await postPieces(`${server.url}/v1/score`, [json.slice(0, 1), ...pieces]);
  expect(answer).toEqual({ status: 200, body: (await sendRequest(server, 'POST', '/v1/score', json)).body });
  expect(answer.body.rows).toBe(rows);
});

it('accepts a body as long as the limit, and refuses a longer body, without a content-length', async () => {
  const bodyLimit = 100_001;
  const { url } = await startServer({ bodyLimit });
  const json = '{"seeds":[1],"action_histories":[[]],"actions":[0]}';
  const answer = await postPieces(`${url}/v1/score`, [json, ' '.repeat(bodyLimit - json.length)]);
  expect([answer.status, answer.body.rows]).toEqual([200, 1]);
  const longer = postPieces(`${url}/v1/score`, [json, ' '.repeat(bodyLimit - json.length + 1)]);
  // The connection may be cut before the answer is read.
  expect([413, 'cut off']).toContain(
    await longer.then(
      ({ status }) => status,
      () => 'cut off',
    ),
  );
});

it.each([
  ['/v1/score', 'application/json'],
  ['/v1/score', 'application/octet-stream'],
  ['/step', 'application/json'],
  ['/mcp', 'application/json'],
])('answers 415 to a compressed body of %s of type %s', async (path, type) => {
  const { url } = await startServer();
  const send = (encoding: string, body: string | Uint8Array<ArrayBuffer>) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': type, 'content-encoding': encoding },
      body,
    });
  for (const encoding of ['gzip', 'identity, br']) {
    const response = await send(encoding, gzipSync('{}'));
    expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect(await response.json()).toEqual({
      detail: `Expected a body without Content-Encoding, got "${encoding}". Send the body uncompressed, without this header.`,
    });
  }
  expect((await send('identity', '{}')).status).not.toBe(415);
});

it('openapi.json describes the answers of /v1/score by status, and the text of /metrics', async () => {
  const { paths } = (await sendRequest(await startServer(), 'GET', '/openapi.json')).body;
  const { responses } = paths['/v1/score'].post;
  const schemaOf = (status: number) => responses[status].content['application/json'].schema;
  expect([200, 413, 415, 422, 503].map((status) => responses[status].description)).toEqual([
    'Success',
    expect.stringMatching(/larger than/),
    'The body has a Content-Encoding',
    'Validation errors',
    expect.stringMatching(/waited too long/),
  ]);
  expect(Object.keys(schemaOf(200).properties)).toEqual([
    'rows',
    'world_digest',
    'scores',
    'parsed',
    'faults',
  ]);
  const { detail } = schemaOf(422).properties;
  expect(Object.keys(detail.items.properties)).toEqual(['type', 'loc', 'msg', 'input']);
  for (const status of [413, 415, 503]) expect(schemaOf(status).properties.detail.type).toBe('string');
  const text = { 'text/plain': { schema: { type: 'string' } } };
  expect(paths['/metrics'].get.responses[200].content).toEqual(text);
});
