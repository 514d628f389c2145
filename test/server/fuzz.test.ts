/** Tests with random texts and frames: each gets an answer or an error, and no unexpected error occurs. */
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { InputError } from '../../src/index.js';
import { EpisodePool } from '../../src/rollouts/episode-pool.js';
import { OpenEnvSession } from '../../src/server/openenv-session.js';
import { answerTo } from '../../src/server/sockets/connection.js';
import { decodeFrame, encodeFrame } from '../../src/server/vec/frame.js';
import { EnvQuota, VecSession } from '../../src/server/vec/vec-session.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { DRAWS, drawsOf } from '../support/random.js';
import { CheckedSession, sendRequest, startServer } from '../support/server.js';

const episodePool = new EpisodePool({ capacity: 4, backend: 'reference' });
const session = new OpenEnvSession(episodePool);
const envQuota = new EnvQuota(16);
const vec = new VecSession({
  quota: envQuota,
  engine: { backend: 'reference' },
  turn: async () => {},
  onStepped: () => {},
});
afterAll(() => {
  session.end();
  vec.end();
  expect([episodePool.taken, envQuota.environments]).toEqual([0, 0]);
  episodePool.close();
});

const CODES = [
  ...['INVALID_JSON', 'UNKNOWN_TYPE', 'VALIDATION_ERROR'],
  ...['EXECUTION_ERROR', 'SESSION_ERROR', 'CAPACITY_REACHED'],
];
const TYPES = ['observation', 'state', 'mcp', 'created'];

function expectAnswer(frame: string | Uint8Array | null): void {
  if (frame === null || typeof frame !== 'string') return;
  const { type, data } = JSON.parse(frame);
  if (type !== 'error') expect(TYPES).toContain(type);
  else {
    expect(CODES).toContain(data.code);
    expect(data.message).toMatch(/\S/);
  }
}

const values = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(...ACTION_NAMES, 'v1', 'sampled', 0, -1, 2 ** 32, 1e300, []),
);
const keys = [
  ...['seed', 'action_type', 'belief', 'profile', 'grader'],
  ...['num_envs', 'actions', 'mask', 'observation', 'outputs'],
];
const messages = fc.record(
  {
    type: fc.oneof(fc.constantFrom('reset', 'step', 'state', 'mcp', 'create'), values),
    data: fc.oneof(fc.dictionary(fc.constantFrom(...keys), values), values),
  },
  { requiredKeys: [] },
);
const texts = fc.oneof(
  messages.map((message) => JSON.stringify(message)),
  fc.json(),
  fc.string(),
);

it('a session and a vector environment answer any text', async () => {
  const property = fc.asyncProperty(texts, async (text) => {
    for (const each of [session, vec]) expectAnswer((await answerTo(each, Buffer.from(text), false)).frame);
  });
  await fc.assert(property, { ...DRAWS, numRuns: drawsOf(2000) });
});

it('any bytes are decoded as a frame or refused with an InputError', () => {
  const valid = encodeFrame('step', {}, [
    { name: 'actions', values: Uint8Array.of(1, 2, 3), shape: [3] },
    { name: 'beliefs', values: new Float32Array(9), shape: [3, 3] },
  ]);
  const damaged = fc
    .array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 4 })
    .map((changes) => {
      const bytes = Buffer.from(valid);
      for (const [at, byte] of changes) bytes[at] = byte;
      return bytes;
    });
  const cut = fc.nat(valid.length).map((length) => Buffer.from(valid.slice(0, length)));
  const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  const property = fc.property(fc.oneof(damaged, cut, noise), (bytes) => {
    try {
      decodeFrame(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
    }
  });
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(3000) });
});

const VALID = [
  '{"type":"reset","data":{"seed":3,"episode_id":"e","profile":"sampled","grader":"v1"}}',
  '{"type":"reset","data":{"grader":{"name":"own","weights":{"crash_free":0.5,"progress":0.5}}}}',
  '{"type":"step","data":{"action_type":"sleep","belief":[0.5,0.25,1],"metadata":{"a":1}}}',
  '{"type":"mcp","data":{"jsonrpc":"2.0","method":"tools/list","id":1}}',
  '{"type":"create","data":{"num_envs":3,"observation":{"fields":["meters"]},"outputs":["rewards"]}}',
  '{"type":"reset","data":{"seed":[1,2,3],"mask":[1,0,1]}}',
  '{"type":"step","data":{"actions":[1,2,3],"beliefs":[0,0,0,1,1,1,0.5,0.5,0.5]}}',
];
const INHERITED = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
const ODD_VALUES = ['null', '-1', '1e999', '"__proto__"', '[]', '{"__proto__":{"polluted":1}}', '"\\ud800"'];

/** Valid messages with a character removed, another key, another value, or one more entry. */
const mutated = fc
  .tuple(
    fc.constantFrom(...VALID),
    fc.nat(3),
    fc.nat(),
    fc.constantFrom(...INHERITED),
    fc.constantFrom(...ODD_VALUES),
  )
  .map(([text, kind, at, key, value]) => {
    const matches = Array.from(
      text.matchAll([/./g, /"\w+"(?=:)/g, /(?<=:)("[^"]*"|[\d.]+)/g, /(?<=\{)/g][kind]),
    );
    const { index, 0: match } = matches[at % matches.length];
    const replacement = ['', `"${key}"`, value, `"${key}":${value},`][kind];
    return text.slice(0, index) + replacement + text.slice(index + match.length);
  });

it('mutated messages change no bit of another session, and no prototype', async () => {
  const other = new OpenEnvSession(episodePool);
  const request = async (message: unknown) =>
    JSON.parse((await answerTo(other, Buffer.from(JSON.stringify(message)), false)).frame as string);
  const checked = await new CheckedSession({ request } as never, 77).begin();
  const inherited = Object.getOwnPropertyNames(Object.prototype);
  const property = fc.asyncProperty(fc.array(mutated, { minLength: 8, maxLength: 8 }), async (batch) => {
    for (const text of batch) {
      const [answer] = await Promise.all([answerTo(session, Buffer.from(text), false), checked.step()]);
      expectAnswer(answer.frame);
      expectAnswer((await answerTo(vec, Buffer.from(text), false)).frame);
    }
  });
  // The seed replaces that of DRAWS. It is chosen by hand.
  await fc.assert(property, { ...DRAWS, numRuns: drawsOf(150), seed: 20_000 });
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(inherited);
  other.end();
});

it('OpenEnv routes treat inherited keys like any other unknown key', async () => {
  const server = await startServer();
  const send = (path: string, body: string) => sendRequest(server, 'POST', path, body);
  const expected = await send('/reset', '{"seed":3}');
  for (const key of INHERITED) {
    const entry = `"${key}":{"polluted":1,"seed":5}`;
    expect(await send('/reset', `{"seed":3,${entry}}`)).toEqual(expected);
    const step = await send('/step', `{"action":{"action_type":"sleep",${entry}}}`);
    expect(step.body.detail[0]).toMatchObject({ type: 'extra_forbidden', loc: [key] });
    expect((await send('/step', `{"action":{"action_type":"sleep"},${entry}}`)).status).toBe(200);
    expect((await send('/step', `{${entry}}`)).body.detail[0].loc).toEqual(['body', 'action']);
    expect((await send('/step', `{"action":{"action_type":"${key}"}}`)).status).toBe(422);
    expect((await send('/reset', `{"profile":"${key}"}`)).status).toBe(422);
    expect((await send('/reset', `{"grader":{"name":"g","weights":{${entry}}}}`)).status).toBe(422);
    expect((await send('/mcp', `{"jsonrpc":"2.0","method":"${key}","id":1,${entry}}`)).body.id).toBe(1);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  }
});
