/** Compares vector environments over a socket with createVecEnv, bit for bit, in the frames of docs/server.md. */
import { expect, it } from 'vitest';
import { createVecEnv } from '../../src/index.js';
import { LocalQuota } from '../../src/server/quota.js';
import { EnvQuota } from '../../src/server/vec/env-quota.js';
import { decodeFrame, encodeFrame } from '../../src/server/vec/frame.js';
import { VecSession } from '../../src/server/vec/vec-session.js';
import { type Client, connect, sendRequest, startServer } from '../support/server.js';

const nextResult = async (client: Client) => decodeFrame((await client.next()) as Buffer);

function send(
  client: Client,
  type: string,
  arrays: Record<string, Uint8Array | Float32Array>,
  data = {},
): void {
  const shaped = Object.entries(arrays).map(([name, values]) => ({ name, values, shape: [values.length] }));
  client.socket.send(encodeFrame(type, data, shaped));
}

it('steps as createVecEnv does, with masks and beliefs, beyond the end of episodes', async () => {
  const server = await startServer();
  const client = await connect(server, '/v1/vec');
  const numEnvs = 37;
  const created = await client.request({
    type: 'create',
    data: { num_envs: numEnvs, autoreset: 'same-step', grader: 'v3', seed_range: [100, 1000] },
  });
  expect(created.data).toMatchObject({ num_envs: numEnvs, max_episode_steps: 28, autoreset: 'same-step' });
  using env = createVecEnv({ numEnvs, autoreset: 'same-step', grader: 'v3', seedRange: [100, 1000] });
  client.socket.send(JSON.stringify({ type: 'reset', data: { seed: 100 } }));
  let result = env.reset({ seed: 100 });
  for (let t = 0; t < 60; t++) {
    const { arrays } = await nextResult(client);
    expect(arrays.observations).toEqual(result.observations);
    expect(arrays.final_observations).toEqual(result.finalObservations);
    expect(arrays.rewards).toEqual(result.rewards);
    expect(arrays.final_mask).toEqual(result.finalMask);
    expect(arrays.final_scores).toEqual(result.finalScores);
    expect(arrays.components).toEqual(result.components);
    expect(arrays.seeds).toEqual(env.seeds);
    const actions = Uint8Array.from({ length: numEnvs }, (_, i) => (i + t) % 10);
    // Every third environment states no belief.
    const beliefs = Float32Array.from({ length: 3 * numEnvs }, (_, k) =>
      k % 9 < 3 ? Number.NaN : (k % 10) / 9,
    );
    const mask = actions.map((code) => Number(code > 2));
    send(client, 'step', { actions, beliefs, mask });
    result = env.step(actions, { beliefs, mask });
  }
});

it('accepts lists in text frames, and returns only the requested arrays', async () => {
  const client = await connect(await startServer(), '/v1/vec');
  const outputs = ['rewards', 'terminated'];
  await client.request({ type: 'create', data: { num_envs: 2, outputs } });
  client.socket.send(JSON.stringify({ type: 'reset', data: { seed: [7, 8] } }));
  expect(Object.keys((await nextResult(client)).arrays)).toEqual(outputs);
  client.socket.send(JSON.stringify({ type: 'step', data: { actions: [3, 4] } }));
  using env = createVecEnv({ numEnvs: 2 });
  env.reset({ seed: [7, 8] });
  expect((await nextResult(client)).arrays.rewards).toEqual(env.step([3, 4]).rewards);
});

it('creates with profiles, a grader, a seed range and observation options, and resets with every option, as createVecEnv does', async () => {
  const client = await connect(await startServer(), '/v1/vec');
  const fields = ['meters', 'last_action', 'slot'];
  const created = await client.request({
    type: 'create',
    data: {
      num_envs: 4,
      profiles: 'discrete',
      grader: 'v1',
      seed_range: [50, 1000],
      observation: { fields, one_hot: true, scale: true, history: true },
    },
  });
  const options = { profiles: 'discrete', grader: 'v1', seedRange: [50, 1000] } as const;
  const observation = { fields, oneHot: true, scale: true, history: true };
  using env = createVecEnv({ numEnvs: 4, ...options, observation } as never);
  expect(created.data.observation_fields).toEqual(
    env.observationFields.map(({ name, offset, size }) => ({ name, offset, size })),
  );
  const play = async (data: object, reset: object): Promise<void> => {
    client.socket.send(JSON.stringify({ type: 'reset', data }));
    let result = env.reset(reset as never);
    for (let t = 0; t <= 28; t++) {
      const { arrays } = await nextResult(client);
      expect(arrays.observations).toEqual(result.observations);
      expect(arrays.final_scores).toEqual(result.finalScores);
      expect([arrays.seeds, arrays.episode_numbers]).toEqual([env.seeds, env.episodeNumbers]);
      expect(arrays).not.toHaveProperty('final_observations');
      if (t === 28) return;
      client.socket.send(JSON.stringify({ type: 'step', data: { actions: [t % 10, 1, 2, 3] } }));
      result = env.step([t % 10, 1, 2, 3]);
    }
  };
  await play({ seed: 55 }, { seed: 55 });
  const graders = ['v1', 'v2', 'v3', 'v2'];
  const profiles = ['sampled', 'introvert_morning', 'discrete', 'workaholic_stoic'];
  await play({ seed: [51, 52, 53, 54], profiles, graders }, { seed: [51, 52, 53, 54], profiles, graders });
  await play({ seed: 60, mask: [1, 1, 1, 1] }, { seed: 60, mask: [1, 1, 1, 1] });
  client.socket.send(JSON.stringify({ type: 'reset', data: { seed: 70, mask: [1, 0, 0, 1] } }));
  env.reset({ seed: 70, mask: [1, 0, 0, 1] });
  expect((await nextResult(client)).arrays.seeds).toEqual(env.seeds);
});

it('a failed create uses no capacity, and a second create is refused', async () => {
  const server = await startServer({ vecEnvs: 8 });
  const client = await connect(server, '/v1/vec');
  const create = (data: object) => client.request({ type: 'create', data });
  expect((await create({ num_envs: 8, seed_range: [2 ** 32 - 1, 5] })).data.code).toBe('VALIDATION_ERROR');
  const { data } = await create({ num_envs: 9 });
  expect([data.code, data.taken, data.capacity]).toEqual(['CAPACITY_REACHED', 0, 8]);
  expect((await create({ num_envs: 8 })).type).toBe('created');
  expect((await create({ num_envs: 1 })).data.code).toBe('EXECUTION_ERROR');
  const other = await connect(server, '/v1/vec');
  expect((await other.request({ type: 'create', data: { num_envs: 3 } })).data.message).toContain(
    'Expected at most 0 environments, got 3: 8 of 8 are in use',
  );
});

it('encodes a frame as docs/server.md describes it', () => {
  const values = Float32Array.of(1.5, -0, Number.NaN);
  const bytes = Buffer.from(encodeFrame('step', { x: 1 }, [{ name: 'beliefs', values, shape: [1, 3] }]));
  const length = bytes.readUInt32LE();
  expect((4 + length) % 8).toBe(0);
  expect(JSON.parse(bytes.toString('utf8', 4, 4 + length))).toEqual({
    type: 'step',
    data: { x: 1 },
    arrays: [{ name: 'beliefs', dtype: 'float32', shape: [1, 3] }],
  });
  expect(bytes.length).toBe(4 + length + 16);
  expect(bytes.readFloatLE(4 + length)).toBe(1.5);
  expect(Object.is(bytes.readFloatLE(8 + length), -0)).toBe(true);
  expect(decodeFrame(bytes).arrays.beliefs).toEqual(values);
});

const refusals: [what: string, message: string | Buffer, code: string, expected: RegExp][] = [
  ['invalid JSON', '{', 'INVALID_JSON', /Invalid JSON/],
  ['a list instead of a message', '[]', 'VALIDATION_ERROR', /Invalid message/],
  ['an unknown type', '{"type":"fly"}', 'UNKNOWN_TYPE', /fly/],
  ['a step before a create', '{"type":"step","data":{"actions":[1]}}', 'EXECUTION_ERROR', /create/],
  ['a size of 0', '{"type":"create","data":{"num_envs":0}}', 'VALIDATION_ERROR', /Invalid/],
  [
    'more environments than the capacity',
    '{"type":"create","data":{"num_envs":5000}}',
    'CAPACITY_REACHED',
    /--vec-envs/,
  ],
  ['data that is not an object', '{"type":"create","data":5}', 'VALIDATION_ERROR', /Invalid/],
  ['a type that is a property of every object', '{"type":"constructor"}', 'UNKNOWN_TYPE', /constructor/],
  ['a long type', `{"type":"${'x'.repeat(5000)}"}`, 'UNKNOWN_TYPE', /type: x{100}$/],
  [
    'a text that is too long',
    `{"type":"reset","data":${' '.repeat(2 ** 20)}}`,
    'VALIDATION_ERROR',
    /at most 1048576 bytes/,
  ],
  ['a frame of no bytes', Buffer.alloc(0), 'VALIDATION_ERROR', /binary frame/],
  [
    'a frame that is shorter than its header',
    Buffer.from([255, 255, 255, 255, 0, 0]),
    'VALIDATION_ERROR',
    /header/,
  ],
  ['a frame whose header is not JSON', Buffer.from([4, 0, 0, 0, 1, 2, 3, 4]), 'VALIDATION_ERROR', /JSON/],
  [
    'an array beyond the end of its frame',
    encodeFrame('step', {}, [{ name: 'actions', values: new Uint8Array(8), shape: [8000] }]) as Buffer,
    'VALIDATION_ERROR',
    /8000 bytes of actions/,
  ],
  [
    'column-major beliefs',
    encodeFrame('step', {}, [{ name: 'beliefs', values: new Float32Array(6), shape: [3, 2] }]) as Buffer,
    'VALIDATION_ERROR',
    /beliefs of shape \[n, 3\], got \[3, 2\]/,
  ],
  [
    'an array that occurs twice',
    encodeFrame('step', {}, [
      { name: 'mask', values: Uint8Array.of(1, 0, 0), shape: [3] },
      { name: 'mask', values: Uint8Array.of(0, 1, 1), shape: [3] },
    ]) as Buffer,
    'VALIDATION_ERROR',
    /each array once, got "mask" again/,
  ],
];
it.each(refusals)('refuses %s, and answers the next message', async (_, message, code, expected) => {
  const client = await connect(await startServer({ vecEnvs: 4096 }), '/v1/vec');
  const { type, data } = await client.request(message);
  expect([type, data.code]).toEqual(['error', code]);
  expect(data.message).toMatch(expected);
  expect((await client.request({ type: 'create', data: { num_envs: 3 } })).type).toBe('created');
  const early = await client.request({ type: 'step', data: { actions: [0, 0, 0] } });
  expect(early.data).toMatchObject({ code: 'EXECUTION_ERROR', message: expect.stringContaining('reset') });
});

it('creates no environment for a socket that closed while its message waited', async () => {
  const quota = new EnvQuota(new LocalQuota(8));
  let begin = () => {};
  const turn = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const options = { quota, engine: { backend: 'reference' }, turn: () => turn, onStepped: () => {} };
  const session = new VecSession(options);
  const answer = session.answer(Buffer.from('{"type":"create","data":{"num_envs":3}}'), false);
  session.end();
  begin();
  expect(await answer).toEqual({ frame: null });
  expect([quota.vecEnvs, quota.environments]).toEqual([0, 0]);
});

it('closes a vector environment with its socket', async () => {
  const server = await startServer();
  const client = await connect(server, '/v1/vec');
  await client.request({ type: 'create', data: { num_envs: 1000 } });
  expect((await sendRequest(server, 'GET', '/metrics')).body).toMatch(/^rhythm_vec_vec_slots 1000$/m);
  client.socket.send('{"type":"close"}');
  expect((await client.closed).code).toBe(1000);
  expect((await sendRequest(server, 'GET', '/metrics')).body).toMatch(/^rhythm_vec_vec_slots 0$/m);
});
