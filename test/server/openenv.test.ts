/**
 * Compares the server with a recording of OpenEnv's own server, exchange by exchange. HTTP_DIFFERENCES and WS_DIFFERENCES
 * list the answers that differ, with the reason. All other answers are equal.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Episode } from '../../src/index.js';
import { OBSERVATION_SCHEMA, RESULT_SCHEMA } from '../../src/server/protocol/observation.js';
import { float32Decimal, float32Decimals } from '../../src/shared/float32-decimal.js';
import { COMPONENT_NAMES, GRADER_NAMES } from '../../src/world/fields.js';
import { connect, sendRequest, startServer } from '../support/server.js';

interface Exchange {
  readonly request: { readonly method: string; readonly path: string; readonly body: unknown };
  readonly response: { readonly status: number; readonly contentType: string; readonly body: unknown };
}
interface Frame {
  readonly send: string;
  readonly receive?: { readonly type: string; readonly data: unknown };
  readonly closed?: string;
}

const recorded = JSON.parse(
  readFileSync(new URL('../golden/openenv-wire.json', import.meta.url), 'utf8'),
) as {
  readonly http: readonly Exchange[];
  readonly ws: readonly Frame[];
};

type Check = (answer: unknown) => void;

/** Checks an answer to a reset or to the first step. The recorded observation is of another environment. */
const ownObservation =
  ({ isReset }: { isReset: boolean }): Check =>
  (answer) => {
    const { observation, reward } = RESULT_SCHEMA.parse(answer);
    expect(Object.keys(observation)).toEqual(Object.keys(OBSERVATION_SCHEMA.shape));
    expect((answer as { done: boolean }).done).toBe(false);
    expect(reward === null).toBe(isReset);
    expect(observation).toHaveProperty('step', isReset ? 0 : 1);
  };

/** Checks only the fields of an answer that `expected` has. */
const matching =
  (expected: object): Check =>
  (answer) =>
    expect(answer).toMatchObject(expected);

const TOOL_LIST = { result: { tools: [{ name: 'start' }, { name: 'act' }, { name: 'grade' }] } };

type Difference = readonly [why: string, check: Check];
const RESET_RESULT: Difference = ['fields of the observation', ownObservation({ isReset: true })];
const STEP_RESULT: Difference = ['fields of the observation', ownObservation({ isReset: false })];

/** The HTTP answers that differ, by request. */
const HTTP_DIFFERENCES: Readonly<Record<string, Difference>> = {
  'GET /metadata null': [
    'describes another environment',
    matching({ name: 'rhythm-vec', readme_content: null, author: null, documentation_url: null }),
  ],
  'GET /schema null': [
    'other actions and observations; schemas by another library',
    (answer) => {
      const { action, observation, state } = answer as Record<string, Record<string, unknown>>;
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
  'POST /reset {}': RESET_RESULT,
  'POST /reset {"seed":3,"episode_id":"e1"}': RESET_RESULT,
  'POST /step {"action":{"action_type":"SLEEP"}}': STEP_RESULT,
  'POST /step "not json"': [
    'invalid JSON in the words of another parser',
    matching({ detail: [{ type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {} }] }),
  ],
  'POST /mcp {"jsonrpc":"2.0","method":"tools/list","id":1}': ['has tools', matching(TOOL_LIST)],
  'POST /mcp {}': [
    'a validation error in other words',
    matching({ jsonrpc: '2.0', id: null, error: { code: -32600, data: null } }),
  ],
};

const WS_DIFFERENCES: Readonly<Record<string, Difference>> = {
  '{"type":"reset","data":{"seed":3,"episode_id":"e","zzz":1}}': RESET_RESULT,
  '{"type":"step","data":{"action_type":"SLEEP"}}': STEP_RESULT,
  '{"type":"step","data":{"action_type":"BOOM"}}': [
    'the recorded environment fails at BOOM; this one refuses unknown actions',
    matching({ code: 'VALIDATION_ERROR', errors: [{ loc: ['action_type'], input: 'BOOM' }] }),
  ],
  '{"type":"state"}': [
    'a refused step is not counted; the state names profile and grader',
    (data) =>
      expect(data).toEqual({ episode_id: 'e', step_count: 1, seed: 3, profile: 'sampled', grader: 'v2' }),
  ],
  'not json': [
    'invalid JSON in the words of another parser',
    matching({ code: 'INVALID_JSON', message: expect.stringMatching(/^Invalid JSON: /) }),
  ],
  '{"type":"mcp","data":{"jsonrpc":"2.0","method":"tools/list","id":1}}': ['has tools', matching(TOOL_LIST)],
  '{"type":"reset"}': RESET_RESULT,
  '{"type":"reset","data":{"seed":-1}}': [
    'an invalid seed is refused, not ignored',
    matching({
      message: 'Invalid message',
      code: 'VALIDATION_ERROR',
      errors: [{ type: 'greater_than_equal', loc: ['seed'], input: -1, ctx: { ge: 0 } }],
    }),
  ],
  '[]': [
    'an invalid message in other words',
    matching({ code: 'SESSION_ERROR', message: expect.stringContaining('an array') }),
  ],
};

it('HTTP answers equal the recording', async () => {
  const server = await startServer();
  for (const { request, response } of recorded.http) {
    const key = `${request.method} ${request.path} ${JSON.stringify(request.body)}`;
    const { body, ...answer } = await sendRequest(server, request.method, request.path, request.body);
    expect(answer, key).toEqual({ status: response.status, contentType: response.contentType });
    const [, check] = HTTP_DIFFERENCES[key] ?? [
      '',
      (got: unknown) => expect(got, key).toEqual(response.body),
    ];
    check(body);
    if (key in HTTP_DIFFERENCES) expect(body, key).not.toEqual(response.body);
  }
});

it('WebSocket answers equal the recording, frame by frame in one session', async () => {
  const client = await connect(await startServer());
  for (const { send, receive } of recorded.ws) {
    if (receive === undefined) continue;
    const { type, data } = await client.request(send);
    const [why, check] = WS_DIFFERENCES[send] ?? ['', (got: unknown) => expect(got).toEqual(receive.data)];
    if (why === '' || type === receive.type) expect(type, send).toBe(receive.type);
    else expect(type, why).toBe('error');
    check(data);
    if (send in WS_DIFFERENCES) expect(data, send).not.toEqual(receive.data);
  }
  // The last answered frame, [], ends the session. The recording also ends with code 1000, and so does a close message.
  expect(await client.closed).toEqual({ code: 1000, reason: '' });
});

describe('an episode', () => {
  it.each(GRADER_NAMES)('over a socket equals an episode of the reference, graded by %s', async (grader) => {
    const client = await connect(await startServer());
    await client.request({ type: 'reset', data: { seed: 42, profile: 'workaholic_stoic', grader } });
    const episode = new Episode().reset(42, { profile: 'workaholic_stoic', grader });
    for (let t = 0; t < 28; t++) {
      // A belief is clamped to [0, 1].
      const belief = t % 3 === 0 ? [0.1 * (t % 10), t % 2 ? 1e300 : 0.5, t % 4 ? 0.25 : -1] : null;
      const action_type = ['deep_work', 'Sleep', 'FAMILY-TIME'][t % 3];
      const { data } = await client.request({ type: 'step', data: { action_type, belief } });
      const clamped = belief?.map((value) => Math.min(Math.max(value, 0), 1));
      const reward = episode.step([0, 3, 6][t % 3], clamped ?? null);
      expect([data.reward, data.done]).toEqual([float32Decimal(reward), t === 27]);
      const { observation } = RESULT_SCHEMA.parse(data);
      expect(observation).toMatchObject({
        meters: float32Decimals(episode.meters),
        anomalies: float32Decimals(episode.anomalies),
        final_score: t === 27 ? float32Decimal(episode.finalScore) : null,
      });
      expect(observation.components === null).toBe(t < 27);
      if (t === 27) {
        const components = COMPONENT_NAMES.map((name, k) => [name, float32Decimal(episode.components[k])]);
        expect(Object.entries(observation.components!)).toEqual(components);
        expect(observation.belief_mae).toBe(float32Decimal(episode.beliefMae));
      }
    }
  });

  it('begins again with every reset, with a step count of 0, and refuses a 29th step', async () => {
    const client = await connect(await startServer());
    const step = { type: 'step', data: { action_type: 'sleep' } };
    const grader = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
    for (const [seed, steps] of [
      [0, 3],
      [0, 0],
      [7, 28],
    ]) {
      const data = { seed, episode_id: `e${seed}`, profile: 'discrete', grader };
      expect((await client.request({ type: 'reset', data })).data.observation.step).toBe(0);
      const state = { episode_id: `e${seed}`, seed, profile: 'discrete', grader: 'calm' };
      expect((await client.request({ type: 'state' })).data).toEqual({ ...state, step_count: 0 });
      for (let k = 1; k <= steps; k++) {
        expect((await client.request(step)).data.observation.step).toBe(k);
        expect((await client.request({ type: 'state' })).data).toEqual({ ...state, step_count: k });
      }
    }
    const { data } = await client.request(step);
    expect([data.code, data.message]).toEqual(['EXECUTION_ERROR', expect.stringContaining('after its last')]);
  });

  it('over HTTP begins with the requested seed and profile; invalid settings are refused', async () => {
    const server = await startServer();
    for (const profile of ['sampled', 'workaholic_stoic']) {
      const { body } = await sendRequest(server, 'POST', '/reset', { seed: 0, profile, grader: 'v1' });
      const overSocket = await (await connect(server)).request({ type: 'reset', data: { seed: 0, profile } });
      expect(body).toEqual(overSocket.data);
    }
    for (const invalid of [{ profile: 'nobody' }, { grader: 'v4' }, { episode_id: 'x'.repeat(256) }]) {
      const { status, body } = await sendRequest(server, 'POST', '/reset', invalid);
      expect([status, body.detail[0].loc]).toEqual([422, ['body', Object.keys(invalid)[0]]]);
    }
    expect((await sendRequest(server, 'POST', '/reset', { episode_id: 'x'.repeat(255) })).status).toBe(200);
  });
});

it('a session refuses missing and unknown keys of a message, and answers the next message', async () => {
  const client = await connect(await startServer());
  for (const [message, type] of [
    ['{"type":"mcp"}', 'missing'],
    ['{"type":"step"}', 'missing'],
    ['{"type":"close","data":{}}', 'extra_forbidden'],
    ['{"type":"state","data":{}}', 'extra_forbidden'],
  ]) {
    const { data } = await client.request(message);
    expect([message, data]).toMatchObject([
      message,
      { code: 'VALIDATION_ERROR', errors: [{ type, loc: ['data'] }] },
    ]);
  }
  expect((await client.request('{"type":"state"}')).type).toBe('state');
  client.socket.send('{"type":"close"}');
  expect((await client.closed).code).toBe(1000);
});
