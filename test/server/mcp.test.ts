/** Tests of tools and texts: over HTTP, WebSockets and OpenEnv's actions, beside an environment of texts. */
import { describe, expect, it } from 'vitest';
import { createTextEnv, createVecEnv } from '../../src/index.js';
import { systemText, userText } from '../../src/rollouts/text/prompt-text.js';
import { TEXT_SCHEMA } from '../../src/server/protocol/observation.js';
import { float32Decimal } from '../../src/shared/float32-decimal.js';
import { connect, metricBecomes, sendRequest, startServer } from '../support/server.js';

type Server = Awaited<ReturnType<typeof startServer>>;

const rpc = (method: string, params: object = {}, id: number | string = 1) => ({
  ...{ jsonrpc: '2.0', method, params, id },
});
const post = (server: Server, body: unknown, session?: string) =>
  sendRequest(server, 'POST', '/mcp', body, session === undefined ? {} : { 'mcp-session-id': session });

/** Opens a session as clients of the protocol do. @returns its id. */
async function initialize({ url }: Server): Promise<string> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    body: JSON.stringify(
      rpc('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} }),
    ),
  });
  const { result } = (await response.json()) as { result: Record<string, unknown> };
  expect(result).toMatchObject({ protocolVersion: '2025-03-26', capabilities: { tools: {} } });
  return response.headers.get('mcp-session-id')!;
}

const SEED = 4242;
/** The texts of an episode for tools: after its start, and after deep work with a belief. */
function expectedTexts() {
  const env = createVecEnv({ numEnvs: 1, grader: 'v3' });
  const textOf = ({ observations }: { observations: Float32Array }) =>
    userText(observations, 0, 'new', 'tools');
  const first = textOf(env.reset({ seed: SEED }));
  const outputs = env.step([0], { beliefs: [7 / 9, 0, 1] });
  const reward = float32Decimal(outputs.rewards[0]);
  const second = textOf(outputs);
  for (let step = 2; step <= 28; step++) env.step([3]);
  const score = float32Decimal(env.step([3], { mask: [0] }).finalScores[0]);
  env.close();
  return { first: `${systemText('v3', 'tools')}\n\n${first}`, second, reward, score };
}
const START = { name: 'start', arguments: { seed: SEED, grader: 'v3' } };
const ACT = { name: 'act', arguments: { action: 'Deep_Work', social: 7, morning: 0, work: 9 } };
const GRADE = { name: 'grade' };

interface Called {
  readonly data: string;
  readonly isError: boolean;
  readonly structuredContent: { readonly done: boolean };
}

/** Plays the episode of `expectedTexts` by calls of tools. */
async function playTools(call: (params: object) => Promise<{ result: Called }>): Promise<void> {
  const { first, second, reward, score } = expectedTexts();
  const start = (await call(START)).result;
  expect(start).toMatchObject({ content: [{ type: 'text', text: first }], isError: false, data: first });
  expect((await call({ name: 'act', arguments: { action: 'fly' } })).result).toMatchObject({
    isError: true,
    data: expect.stringMatching(/^Expected an action among DEEP_WORK.*got "fly"/),
  });
  expect((await call({ name: 'act', arguments: { action: 'SLEEP', social: 3 } })).result.isError).toBe(true);
  expect((await call({ name: 'act', arguments: { action: 'SLEEP', social: 12 } })).result).toMatchObject({
    isError: true,
    data: expect.stringContaining('social: Input should be less than or equal to 9'),
  });
  const act = (await call(ACT)).result;
  expect(act).toMatchObject({ isError: false, structuredContent: { text: second, reward, done: false } });
  const grade = (await call(GRADE)).result;
  expect(grade.structuredContent.done).toBe(true);
  expect(JSON.parse(grade.data)).toMatchObject({
    final_score: score,
    components: {},
    belief_mae: expect.any(Number),
  });
  expect((await call(ACT)).result).toMatchObject({
    isError: true,
    data: expect.stringContaining('Call start.'),
  });
  expect((await call({ name: 'act', arguments: { action: 'fly' } })).result.structuredContent.done).toBe(
    true,
  );
  expect((await call(GRADE)).result.structuredContent).toMatchObject({ reward: 0, done: true });
}

describe('over HTTP', () => {
  it('a session of the protocol plays an episode', async () => {
    const server = await startServer();
    const session = await initialize(server);
    const { status } = await post(server, { jsonrpc: '2.0', method: 'notifications/initialized' }, session);
    expect(status).toBe(202);
    expect((await post(server, rpc('ping', {}, 'p'), session)).body).toEqual({
      jsonrpc: '2.0',
      id: 'p',
      result: {},
    });
    await playTools(async (params) => (await post(server, rpc('tools/call', params), session)).body);
  });

  it("a session of OpenEnv's clients plays an episode, until it is closed", async () => {
    const server = await startServer();
    const send = async (method: string, params: object = {}) =>
      (await post(server, rpc(method, params))).body;
    const { session_id } = (await send('openenv/session/create')).result;
    await playTools((params) => send('tools/call', { ...params, session_id }));
    await metricBecomes(server, 'rhythm_vec_sessions', 1);
    expect((await send('openenv/session/close', { session_id })).result).toEqual({
      session_id,
      closed: true,
    });
    await metricBecomes(server, 'rhythm_vec_sessions', 0);
    for (const method of ['openenv/session/close', 'tools/call']) {
      const { error } = await send(method, { ...GRADE, session_id });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('Unknown session_id') });
    }
  });

  it('simultaneous calls of a session are answered one after the other', async () => {
    const server = await startServer();
    const session = await initialize(server);
    await post(server, rpc('tools/call', START), session);
    const calls = Array.from({ length: 10 }, () => post(server, rpc('tools/call', ACT), session));
    const texts = (await Promise.all(calls)).map(({ body }) => body.result.data as string);
    expect(new Set(texts.map((text) => text.split('\n')[0])).size).toBe(10);
  });

  it('calls that run or wait while their session is closed are answered, and then free it', async () => {
    const server = await startServer({ capacity: 1 });
    const session = await initialize(server);
    await post(server, rpc('tools/call', START), session);
    const calls = Array.from({ length: 4 }, () => post(server, rpc('tools/call', GRADE), session));
    const closing = post(server, rpc('openenv/session/close', { session_id: session }));
    for (const { body } of await Promise.all(calls)) expect(body.result.isError).toBe(false);
    await closing;
    await metricBecomes(server, 'rhythm_vec_sessions', 0);
  });

  it('refuses unknown methods, tools and sessions, and more sessions than fit', async () => {
    const server = await startServer({ capacity: 1 });
    const session = await initialize(server);
    const errorOf = async (body: unknown) => (await post(server, body, session)).body.error;
    expect(await errorOf(rpc('resources/list'))).toMatchObject({ code: -32601 });
    expect(await errorOf(rpc('tools/call', { name: 'fly' }))).toMatchObject({ code: -32602 });
    expect(await errorOf(rpc('tools/call', {}))).toMatchObject({ code: -32600 });
    expect(await errorOf(rpc('openenv/session/create'))).toMatchObject({
      code: -32000,
      message: expect.stringContaining('Expected fewer than 1 open sessions'),
    });
    const begin = rpc('initialize', { protocolVersion: '2025-06-18' });
    expect((await post(server, begin)).body.error).toMatchObject({ code: -32000 });
    expect((await post(server, begin, session)).body.result).toBeDefined();
    expect(await errorOf('')).toMatchObject({ code: -32600 });
    expect(await errorOf(rpc('notifications/initialized'))).toMatchObject({ code: -32601 });
    expect((await post(server, rpc('tools/call', GRADE))).body.error.message).toContain('got none');
    expect((await post(server, rpc('tools/list'), 'unknown')).status).toBe(404);
  });

  it('DELETE ends a session', async () => {
    const server = await startServer();
    const headers = { 'mcp-session-id': await initialize(server) };
    expect((await sendRequest(server, 'DELETE', '/mcp', undefined, headers)).status).toBe(200);
    await metricBecomes(server, 'rhythm_vec_sessions', 0);
    expect((await sendRequest(server, 'DELETE', '/mcp', undefined, headers)).status).toBe(404);
  });

  it('a session that is not used ends', async () => {
    const server = await startServer({ capacity: 1, idleMs: 20 });
    const session = await initialize(server);
    await metricBecomes(server, 'rhythm_vec_sessions', 0);
    expect((await post(server, rpc('tools/list'), session)).status).toBe(404);
  });
});

describe('over WebSockets', () => {
  it('/mcp plays an episode', async () => {
    const server = await startServer();
    const client = await connect(server, '/mcp');
    expect((await client.request(rpc('initialize', { protocolVersion: '1999-01-01' }))).result).toMatchObject(
      {
        protocolVersion: '2025-06-18',
      },
    );
    expect((await client.request('not JSON')).error.code).toBe(-32700);
    await playTools((params) => client.request(rpc('tools/call', params)));
    const { session_id } = (await client.request(rpc('openenv/session/create'))).result;
    expect((await client.request(rpc('openenv/session/close', { session_id }))).error.code).toBe(-32600);
  });

  it('/ws plays an episode by messages of the type mcp', async () => {
    const client = await connect(await startServer());
    await playTools(async (params) => {
      return (await client.request({ type: 'mcp', data: rpc('tools/call', params) })).data;
    });
  });

  it('/ws lists and calls tools by actions, with the reward of the reset', async () => {
    const client = await connect(await startServer());
    const step = async (data: object) => (await client.request({ type: 'step', data })).data;
    const { tools } = (await step({ type: 'list_tools' })).observation;
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(['start', 'act', 'grade']);
    expect(tools[1].input_schema).toMatchObject({
      required: ['action'],
      properties: { action: { enum: {} } },
    });
    const { second, reward, score } = expectedTexts();
    const act = { type: 'call_tool', tool_name: 'act', arguments: ACT.arguments };
    expect((await step(act)).observation.result).toContain('Call start.');
    await client.request({ type: 'reset', data: { seed: SEED, grader: 'v3', reward: 'both' } });
    expect(await step(act)).toEqual({
      ...{ observation: { tool_name: 'act', result: second, error: null }, reward, done: false },
    });
    const graded = await step({ type: 'call_tool', tool_name: 'grade', arguments: {} });
    const { final_score, episode_return } = JSON.parse(graded.observation.result);
    expect([final_score, graded.done]).toEqual([score, true]);
    expect(graded.reward).toBeCloseTo(episode_return - reward + score, 5);
    const { error } = (await step({ ...act, tool_name: 'fly' })).observation;
    expect(error).toEqual({ error_type: 'tool_not_found', message: 'Tool not found: fly' });
  });
});

describe('an episode in text', () => {
  const ANSWERS: readonly [data: unknown, answer: string][] = [
    [{ message: '3 6 5 SLEEP' }, '3 6 5 SLEEP'],
    [{ action_type: '<think>so</think> 8 8 1 LEARN' }, '8 8 1 LEARN'],
    [{ action_type: 'exercise' }, 'EXERCISE'],
    [{ action_type: 'MEDITATE', belief: [1] }, 'MEDITATE'],
    [{ thoughts: 'none' }, ''],
    [{ message: 'I would rather not.' }, ''],
    ['text', ''],
  ];

  it.each(['final', 'step', 'both'] as const)(
    'pays %s, and plays sleep for malformed answers',
    async (reward) => {
      const client = await connect(await startServer());
      using env = createTextEnv({ reward, grader: 'v3', history: 'new' });
      const [system, user] = env.reset(SEED);
      const { data } = await client.request({
        type: 'reset',
        data: { seed: SEED, grader: 'v3', text: true, reward },
      });
      expect(data).toMatchObject({
        observation: { rules: system.content, prompt: user.content },
        reward: null,
      });
      for (let step = 0; step < 28; step++) {
        const [action, answer] = ANSWERS[step % ANSWERS.length];
        const { data: got } = await client.request({ type: 'step', data: action });
        const expected = env.step(answer);
        expect(TEXT_SCHEMA.parse(got.observation).prompt).toBe(expected.message.content);
        expect(got.done).toBe(expected.done);
        expect(got.reward).toBe(
          reward === 'both' && got.done ? expected.reward : float32Decimal(expected.reward),
        );
      }
    },
  );

  it('over HTTP begins with rules and prompt; an answer in text is an action in every episode', async () => {
    const server = await startServer();
    using env = createTextEnv({ history: 'new' });
    const { body } = await sendRequest(server, 'POST', '/reset', { seed: 3, text: true });
    expect(body.observation.prompt).toBe(env.reset(3)[1].content);
    expect((await sendRequest(server, 'POST', '/reset', { reward: 'all' })).status).toBe(422);
    const step = await sendRequest(server, 'POST', '/step', { action: { message: '1 2 3 LEARN' } });
    expect(step.body.observation).toMatchObject({ step: 1, last_action: 'learn' });
  });
});
