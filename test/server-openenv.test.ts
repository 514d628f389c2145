/**
 * OpenEnv's wire protocol, replayed frame by frame against what its own server was recorded to say. Where this server says
 * something else, and why, is the list below: everything that is not on it is equal.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Episode } from '../src/index.js';
import { OBSERVATION_SCHEMA, RESULT_SCHEMA } from '../src/server/protocol/observation.js';
import { ask, connect, startServer } from './support/server.js';

interface Exchange {
  readonly request: { readonly method: string; readonly path: string; readonly body: unknown };
  readonly response: { readonly status: number; readonly contentType: string; readonly body: unknown };
}
interface Frame {
  readonly send: string;
  readonly receive?: { readonly type: string; readonly data: unknown };
  readonly closed?: string;
}

const recorded = JSON.parse(readFileSync(new URL('golden/openenv-wire.json', import.meta.url), 'utf8')) as {
  readonly http: readonly Exchange[];
  readonly ws: readonly Frame[];
};

type Check = (answered: unknown) => void;

/** Whether an answer holds what any observation of ours does, for the stub's observation and reward. */
const ownObservation =
  (done: boolean, begins: boolean): Check =>
  (answered) => {
    const { observation, reward } = RESULT_SCHEMA.parse(answered);
    expect(Object.keys(observation)).toEqual(Object.keys(OBSERVATION_SCHEMA.shape));
    expect((answered as { done: boolean }).done).toBe(done);
    expect(reward === null).toBe(begins);
    expect(observation).toHaveProperty('step', begins ? 0 : 1);
  };

/** What is refused of an action or message, when it is only a text that is worded otherwise. */
const worded =
  (expected: object): Check =>
  (answered) =>
    expect(answered).toMatchObject(expected);

/** By the request, where the answer's body is another. */
const HTTP_DIFFERENCES: Readonly<Record<string, readonly [why: string, check: Check]>> = {
  'GET /metadata null': [
    'the environment is another',
    worded({ name: 'rhythm-vec', readme_content: null, author: null, documentation_url: null }),
  ],
  'GET /schema null': [
    'actions and observations are others, and schemas are made by another library',
    (answered) => {
      const { action, observation, state } = answered as Record<string, Record<string, unknown>>;
      expect(action).toMatchObject({
        type: 'object',
        required: ['action_type'],
        additionalProperties: false,
      });
      expect(observation).toMatchObject({ type: 'object', additionalProperties: false });
      expect(Object.keys(observation.properties as object)).toEqual([
        ...Object.keys(OBSERVATION_SCHEMA.shape),
        ...['done', 'reward', 'metadata'],
      ]);
      expect(state.additionalProperties).not.toBe(false);
      expect(state.properties).toMatchObject({ episode_id: {}, step_count: { type: 'integer', minimum: 0 } });
    },
  ],
  'POST /reset {}': ['fields of the observation', ownObservation(false, true)],
  'POST /reset {"seed":3,"episode_id":"e1"}': ['fields of the observation', ownObservation(false, true)],
  'POST /step {"action":{"action_type":"SLEEP"}}': [
    'fields of the observation',
    ownObservation(false, false),
  ],
  'POST /step "not json"': [
    'what is no JSON is said in the words of another parser',
    worded({ detail: [{ type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {} }] }),
  ],
  'POST /mcp {}': [
    'what is invalid is said in other words',
    worded({ jsonrpc: '2.0', id: null, error: { code: -32600, data: null } }),
  ],
};

const WS_DIFFERENCES: Readonly<Record<string, readonly [why: string, check: Check]>> = {
  '{"type":"reset","data":{"seed":3,"episode_id":"e","zzz":1}}': [
    'fields of the observation',
    (data) => ownObservation(false, true)(data),
  ],
  '{"type":"step","data":{"action_type":"SLEEP"}}': [
    'fields of the observation',
    ownObservation(false, false),
  ],
  '{"type":"step","data":{"action_type":"BOOM"}}': [
    'there is no action that fails: one that is none is refused',
    worded({ code: 'VALIDATION_ERROR', errors: [{ loc: ['action_type'], input: 'BOOM' }] }),
  ],
  '{"type":"state"}': [
    'a step that was refused is not counted, and person and grader are told',
    (data) =>
      expect(data).toEqual({ episode_id: 'e', step_count: 1, seed: 3, profile: 'sampled', grader: 'v2' }),
  ],
  'not json': [
    'what is no JSON is said in the words of another parser',
    worded({ code: 'INVALID_JSON', message: expect.stringMatching(/^Invalid JSON: /) }),
  ],
  '{"type":"reset"}': ['fields of the observation', ownObservation(false, true)],
  '{"type":"reset","data":{"seed":-1}}': [
    'a seed that is none is refused, not taken for none',
    worded({
      message: 'Invalid message',
      code: 'VALIDATION_ERROR',
      errors: [{ type: 'greater_than_equal', loc: ['seed'], input: -1, ctx: { ge: 0 } }],
    }),
  ],
  '[]': [
    'what is no message is said in other words',
    worded({ code: 'SESSION_ERROR', message: expect.stringContaining('an array') }),
  ],
};

const keyOf = ({ method, path, body }: Exchange['request']): string =>
  `${method} ${path} ${JSON.stringify(body)}`;

describe('HTTP, as recorded', () => {
  it.each(recorded.http.map((exchange) => [keyOf(exchange.request), exchange] as const))(
    '%s',
    async (key, exchange) => {
      const server = await startServer();
      const { request, response } = exchange;
      const { body, ...answered } = await ask(server, request.method, request.path, request.body);
      expect(answered).toEqual({ status: response.status, contentType: response.contentType });
      const [, check] = HTTP_DIFFERENCES[key] ?? ['', (same: unknown) => expect(same).toEqual(response.body)];
      check(body);
      if (key in HTTP_DIFFERENCES) expect(body).not.toEqual(response.body);
    },
  );

  it('the list names nothing that was not recorded', () => {
    const keys = recorded.http.map(({ request }) => keyOf(request));
    expect(keys).toEqual(expect.arrayContaining(Object.keys(HTTP_DIFFERENCES)));
  });
});

it("what OpenEnv's own check asks of a running environment", async () => {
  const server = await startServer();
  const { body: description } = await ask(server, 'GET', '/openapi.json');
  expect(description.info.version).toMatch(/^\d+\.\d+\.\d+$/);
  for (const path of ['/reset', '/step', '/state']) expect(description.paths).toHaveProperty([path]);
  const { body: metadata } = await ask(server, 'GET', '/metadata');
  expect([typeof metadata.name, typeof metadata.description]).toEqual(['string', 'string']);
  const { body: schema } = await ask(server, 'GET', '/schema');
  for (const part of ['action', 'observation', 'state']) expect(schema[part]).toBeTypeOf('object');
  expect(await ask(server, 'POST', '/mcp', {})).toMatchObject({ status: 200, body: { jsonrpc: '2.0' } });
});

describe('WebSocket, as recorded', () => {
  it('frame by frame, in one session', async () => {
    const client = await connect(await startServer());
    for (const { send, receive } of recorded.ws) {
      if (receive === undefined) continue;
      const { type, data } = await client.say(send);
      const [why, check] = WS_DIFFERENCES[send] ?? [
        '',
        (same: unknown) => expect(same).toEqual(receive.data),
      ];
      if (why === '' || type === receive.type) expect(type, send).toBe(receive.type);
      else expect(type, why).toBe('error');
      check(data);
      if (send in WS_DIFFERENCES) expect(data, send).not.toEqual(receive.data);
    }
    // What is no message at all ends the session, as there.
    expect(await client.closed).toEqual({ code: 1000, reason: '' });
  });

  it('close closes with 1000', async () => {
    const client = await connect(await startServer());
    client.socket.send(recorded.ws.at(-1)!.send);
    expect((await client.closed).code).toBe(1000);
  });

  it('the list names nothing that was not recorded', () => {
    const keys = recorded.ws.map(({ send }) => send);
    expect(keys).toEqual(expect.arrayContaining(Object.keys(WS_DIFFERENCES)));
  });
});

describe('an episode', () => {
  it('over a socket is the reference, number by number, and its grade comes at the end', async () => {
    const client = await connect(await startServer());
    await client.say({ type: 'reset', data: { seed: 42, profile: 'workaholic_stoic', grader: 'v1' } });
    const episode = new Episode().reset(42, { profile: 'workaholic_stoic', grader: 'v1' });
    for (let t = 0; t < 28; t++) {
      const belief = t % 3 === 0 ? [0.1 * (t % 10), 0.5, 0.25] : null;
      const { data } = await client.say({
        type: 'step',
        data: { action_type: ['deep_work', 'Sleep', 'FAMILY-TIME'][t % 3], belief },
      });
      const reward = episode.step([0, 3, 6][t % 3], belief);
      expect(data.reward).toBe(reward);
      expect(data.done).toBe(t === 27);
      expect(data.observation.meters).toEqual(Array.from(episode.meters));
      expect(data.observation.anomalies).toEqual(Array.from(episode.anomalies));
      expect(data.observation.final_score).toBe(t === 27 ? episode.finalScore : null);
    }
  });
});
