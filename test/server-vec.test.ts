/** Vector environments over a socket: what createVecEnv computes, bit for bit, in frames that are what the page says. */
import { expect, it } from 'vitest';
import { createVecEnv } from '../src/index.js';
import { decodeFrame, encodeFrame } from '../src/server/vec/frame.js';
import { ask, type Client, connect, startServer } from './support/server.js';

const said = async (client: Client) => decodeFrame((await client.next()) as Buffer);

function send(
  client: Client,
  type: string,
  arrays: Record<string, Uint8Array | Float32Array>,
  data = {},
): void {
  const shaped = Object.entries(arrays).map(([name, values]) => ({ name, values, shape: [values.length] }));
  client.socket.send(encodeFrame(type, data, shaped));
}

it('steps as createVecEnv does: every array, over the end of episodes, with masks and beliefs', async () => {
  const server = await startServer();
  const client = await connect(server, '/v1/vec');
  const numEnvs = 37;
  const created = await client.say({
    type: 'create',
    data: { num_envs: numEnvs, autoreset: 'same-step', grader: 'v1', seed_range: [100, 1000] },
  });
  expect(created.data).toMatchObject({ num_envs: numEnvs, max_episode_steps: 28, autoreset: 'same-step' });
  using env = createVecEnv({ numEnvs, autoreset: 'same-step', grader: 'v1', seedRange: [100, 1000] });
  client.socket.send(JSON.stringify({ type: 'reset', data: { seed: 100 } }));
  let result = env.reset({ seed: 100 });
  for (let t = 0; t < 60; t++) {
    const { arrays } = await said(client);
    expect(arrays.observations).toEqual(result.observations);
    expect(arrays.final_observations).toEqual(result.finalObservations);
    expect(arrays.rewards).toEqual(result.rewards);
    expect(arrays.final_mask).toEqual(result.finalMask);
    expect(arrays.final_scores).toEqual(result.finalScores);
    expect(arrays.components).toEqual(result.components);
    expect(arrays.seeds).toEqual(env.seeds);
    const actions = Uint8Array.from({ length: numEnvs }, (_, i) => (i + t) % 10);
    const beliefs = Float32Array.from({ length: 3 * numEnvs }, (_, k) =>
      k % 9 < 3 ? Number.NaN : (k % 10) / 9,
    );
    const mask = actions.map((code) => Number(code > 2));
    send(client, 'step', { actions, beliefs, mask });
    result = env.step(actions, { beliefs, mask });
  }
});

it('takes lists of numbers in text, and tells only the arrays that were asked for', async () => {
  const client = await connect(await startServer(), '/v1/vec');
  const outputs = ['rewards', 'terminated'];
  await client.say({ type: 'create', data: { num_envs: 2, outputs } });
  client.socket.send(JSON.stringify({ type: 'reset', data: { seed: [7, 8] } }));
  expect(Object.keys((await said(client)).arrays)).toEqual(outputs);
  client.socket.send(JSON.stringify({ type: 'step', data: { actions: [3, 4] } }));
  using env = createVecEnv({ numEnvs: 2 });
  env.reset({ seed: [7, 8] });
  expect((await said(client)).arrays.rewards).toEqual(env.step([3, 4]).rewards);
});

it('a frame is laid out as documented', () => {
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

const refused: [what: string, message: string | Buffer, code: string, says: RegExp][] = [
  ['no JSON', '{', 'INVALID_JSON', /Invalid JSON/],
  ['no message', '[]', 'VALIDATION_ERROR', /Invalid message/],
  ['an unknown type', '{"type":"fly"}', 'UNKNOWN_TYPE', /fly/],
  [
    'a step before anything was created',
    '{"type":"step","data":{"actions":[1]}}',
    'EXECUTION_ERROR',
    /create/,
  ],
  ['a size that is none', '{"type":"create","data":{"num_envs":0}}', 'VALIDATION_ERROR', /Invalid/],
  [
    'more slots than there are',
    '{"type":"create","data":{"num_envs":5000}}',
    'CAPACITY_REACHED',
    /--vec-slots/,
  ],
  ['a frame of no bytes', Buffer.alloc(0), 'VALIDATION_ERROR', /binary frame/],
  [
    'a frame whose header is longer than it',
    Buffer.from([255, 255, 255, 255, 0, 0]),
    'VALIDATION_ERROR',
    /header/,
  ],
  ['a frame of noise', Buffer.from([4, 0, 0, 0, 1, 2, 3, 4]), 'VALIDATION_ERROR', /JSON/],
  [
    'an array that is longer than its frame',
    encodeFrame('step', {}, [{ name: 'actions', values: new Uint8Array(8), shape: [8000] }]) as Buffer,
    'VALIDATION_ERROR',
    /8000 bytes of actions/,
  ],
  [
    'beliefs by column',
    encodeFrame('step', {}, [{ name: 'beliefs', values: new Float32Array(6), shape: [3, 2] }]) as Buffer,
    'VALIDATION_ERROR',
    /beliefs of shape \[n, 3\], got \[3, 2\]/,
  ],
  [
    'an array that is there twice',
    encodeFrame('step', {}, [
      { name: 'mask', values: Uint8Array.of(1, 0, 0), shape: [3] },
      { name: 'mask', values: Uint8Array.of(0, 1, 1), shape: [3] },
    ]) as Buffer,
    'VALIDATION_ERROR',
    /each array once, got "mask" again/,
  ],
];
it.each(refused)('%s is refused, and the next message is answered', async (_, message, code, says) => {
  const client = await connect(await startServer({ vecSlots: 4096 }), '/v1/vec');
  const { type, data } = await client.say(message);
  expect([type, data.code]).toEqual(['error', code]);
  expect(data.message).toMatch(says);
  expect((await client.say({ type: 'create', data: { num_envs: 3 } })).type).toBe('created');
  const early = await client.say({ type: 'step', data: { actions: [0, 0, 0] } });
  expect(early.data).toMatchObject({ code: 'EXECUTION_ERROR', message: expect.stringContaining('reset') });
});

it('an environment goes with its socket', async () => {
  const server = await startServer();
  const client = await connect(server, '/v1/vec');
  await client.say({ type: 'create', data: { num_envs: 1000 } });
  expect((await ask(server, 'GET', '/metrics')).body).toMatch(/^rhythm_vec_vec_slots 1000$/m);
  client.socket.send('{"type":"close"}');
  expect((await client.closed).code).toBe(1000);
  expect((await ask(server, 'GET', '/metrics')).body).toMatch(/^rhythm_vec_vec_slots 0$/m);
});
