/** Vector environments over a socket: they equal createVecEnv bit for bit, in text and in the frames of docs/server.md. */
import { expect, it } from 'vitest';
import { createVecEnv, GRADER_NAMES, type VecEnvOptions } from '../../src/index.js';
import { decodeFrame, encodeFrame, type FrameArray } from '../../src/server/vec/frame.js';
import { EnvQuota, VecSession } from '../../src/server/vec/vec-session.js';
import { camelCase, snakeCase } from '../../src/shared/names.js';
import { PROFILE_CHOICES } from '../../src/world/resolve-names.js';
import { type Columns, expectEqual } from '../support/bits.js';
import { type Client, connect, metric, metricBecomes, startServer } from '../support/server.js';

/** The length of long lists: more entries than a message may have without environments. */
const LONG = 5000;
const MIB = 2 ** 20;

/** The outputs whose fields in `StepResult` have other names. */
const RENAMED: Record<string, string> = { early_means: 'firstHalfMeans', late_means: 'secondHalfMeans' };

const nextResult = async (client: Client) => decodeFrame((await client.next()) as Buffer);

type Fields = Readonly<Record<string, unknown>>;
/** Sends a message. Typed arrays are sent as arrays of a binary frame, and other fields as JSON. */
function send(client: Client, type: string, fields: Fields): void {
  const arrays = Object.entries(fields).filter(([, value]) => ArrayBuffer.isView(value));
  if (arrays.length === 0) client.socket.send(JSON.stringify({ type, data: fields }));
  else {
    const data = Object.fromEntries(Object.entries(fields).filter(([, value]) => !ArrayBuffer.isView(value)));
    const shaped = arrays.map(([name, values]) => {
      const length = (values as Uint8Array).length;
      return { name, values: values as FrameArray, shape: name === 'beliefs' ? [length / 3, 3] : [length] };
    });
    client.socket.send(encodeFrame(type, data, shaped));
  }
}

const snakeKeys = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [snakeCase(key), value]));

const pick = <T>(choices: readonly T[], n: number): T[] =>
  Array.from({ length: n }, (_, i) => choices[i % choices.length]);

it.each<[how: string, numEnvs: number, isBinary: boolean, options: Partial<VecEnvOptions>]>([
  ['typed arrays', 37, true, { autoreset: 'same-step', grader: 'v3', seedRange: [100, 1000] }],
  [
    'short lists',
    4,
    false,
    {
      ...{ profiles: 'discrete', grader: 'v1', seedRange: [50, 1000] },
      observation: { fields: ['meters', 'last_action', 'slot'], oneHot: true, scale: true, history: true },
    },
  ],
  ['long lists', LONG, false, {}],
])('with %s, resets and steps as createVecEnv does', async (_, numEnvs, isBinary, options) => {
  const client = await connect(await startServer(), '/v1/vec');
  using env = createVecEnv({ numEnvs, ...options });
  const { observation } = options;
  const data = {
    ...snakeKeys(options),
    num_envs: numEnvs,
    ...(observation && { observation: snakeKeys(observation) }),
  };
  const created = await client.request({ type: 'create', data });
  expect(created.data).toMatchObject({
    ...{ num_envs: numEnvs, max_episode_steps: 28, autoreset: env.metadata.autoresetMode },
    observation_fields: env.observationFields.map(({ name, offset, size }) => ({ name, offset, size })),
  });
  /** Sends a call, makes it on `env`, and expects the same result. */
  const both = async (type: 'reset' | 'step', fields: Fields): Promise<void> => {
    send(client, type, fields);
    const { actions, ...rest } = fields;
    const result = type === 'reset' ? env.reset(fields) : env.step(actions as Uint8Array, rest);
    const { arrays } = await nextResult(client);
    const expected = Object.keys(arrays).map((name) => {
      const field = RENAMED[name] ?? camelCase(name);
      return [name, result[field as 'rewards'] ?? env[field as 'seeds']];
    });
    expectEqual(Object.fromEntries(expected), arrays as Columns);
    expect(expected).toHaveLength(options.autoreset === undefined ? 14 : 15);
  };
  const steps = async (count: number): Promise<void> => {
    for (let t = 0; t < count; t++) {
      const actions = Uint8Array.from({ length: numEnvs }, (_, i) => (i + t) % 10);
      const beliefs = Float32Array.from({ length: 3 * numEnvs }, (_, k) =>
        // Every third environment states no belief. Lists cannot say so.
        isBinary && k % 9 < 3 ? Number.NaN : ((k + t) % 10) / 9,
      );
      const mask = actions.map((code) => Number(t % 5 > 0 || code > 2));
      const fields = { actions, beliefs, mask };
      const lists = {
        actions: [...actions],
        beliefs: [...beliefs],
        mask: Array.from(mask, (flag) => flag === 1),
      };
      await both('step', isBinary ? fields : lists);
    }
  };
  await both('reset', { seed: 100 });
  await steps(isBinary ? 60 : 2);
  const [profiles, graders] = [pick(PROFILE_CHOICES, numEnvs), pick(GRADER_NAMES, numEnvs)];
  const seed = Array.from({ length: numEnvs }, (_, i) => 4_294_000_000 + 7 * i);
  await both('reset', { seed: options.seedRange ? 555 : seed, profiles, graders });
  await steps(28);
  await both('reset', {
    seed: 300,
    mask: isBinary ? new Uint8Array(numEnvs).fill(1, 2) : pick([1, 0, 0], numEnvs),
  });
});

it('returns only the requested arrays', async () => {
  const client = await connect(await startServer(), '/v1/vec');
  const outputs = ['rewards', 'terminated'];
  await client.request({ type: 'create', data: { num_envs: 2, outputs } });
  send(client, 'reset', { seed: [7, 8] });
  expect(Object.keys((await nextResult(client)).arrays)).toEqual(outputs);
});

it('a failed create uses no capacity, and a second create is refused', async () => {
  const server = await startServer({ vecEnvs: 8 });
  const client = await connect(server, '/v1/vec');
  const create = (data: object, by = client) => by.request({ type: 'create', data });
  expect((await create({ num_envs: 8, seed_range: [2 ** 32 - 1, 5] })).data.code).toBe('VALIDATION_ERROR');
  const full = { code: 'CAPACITY_REACHED', capacity: 8 };
  expect((await create({ num_envs: 9 })).data).toMatchObject({ ...full, taken: 0 });
  expect((await create({ num_envs: 8 })).type).toBe('created');
  expect((await create({ num_envs: 1 })).data.code).toBe('EXECUTION_ERROR');
  const { data } = await create({ num_envs: 3 }, await connect(server, '/v1/vec'));
  expect(data).toMatchObject({ ...full, taken: 8, message: expect.stringMatching(/at most 0 .*--vec-envs/) });
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

const frameOf = (...arrays: [name: string, values: FrameArray, shape: number[]][]): Buffer =>
  encodeFrame(
    'step',
    {},
    arrays.map(([name, values, shape]) => ({ name, values, shape })),
  ) as Buffer;
const INVALID = 'VALIDATION_ERROR';
const refusals: [what: string, message: string | Buffer, code: string, expected: RegExp][] = [
  ['invalid JSON', '{', 'INVALID_JSON', /Invalid JSON/],
  ['a list instead of a message', '[]', INVALID, /Invalid message/],
  ['an unknown type', '{"type":"fly"}', 'UNKNOWN_TYPE', /fly/],
  ['a type that every object inherits', '{"type":"constructor"}', 'UNKNOWN_TYPE', /constructor/],
  ['a long type', `{"type":"${'x'.repeat(5000)}"}`, 'UNKNOWN_TYPE', /type: x{100}$/],
  ['a step before a create', '{"type":"step","data":{"actions":[1]}}', 'EXECUTION_ERROR', /create/],
  ['a size of 0', '{"type":"create","data":{"num_envs":0}}', INVALID, /Invalid/],
  ['data that is not an object', '{"type":"create","data":5}', INVALID, /Invalid/],
  ['a long text', `{"type":"reset","data":${' '.repeat(MIB)}}`, INVALID, /at most 1048576 bytes/],
  ['a frame of no bytes', Buffer.alloc(0), INVALID, /binary frame/],
  ['a frame that is shorter than its header', Buffer.from([255, 255, 255, 255, 0, 0]), INVALID, /header/],
  ['a header that is not JSON', Buffer.from([4, 0, 0, 0, 1, 2, 3, 4]), INVALID, /JSON/],
  ['an array that is cut off', frameOf(['actions', new Uint8Array(8), [8000]]), INVALID, /8000 bytes of/],
  [
    'column-major beliefs',
    frameOf(['beliefs', new Float32Array(6), [3, 2]]),
    INVALID,
    /\[n, 3\], got \[3, 2\]/,
  ],
  [
    'an array that occurs twice',
    frameOf(['mask', Uint8Array.of(1, 0, 0), [3]], ['mask', Uint8Array.of(0, 1, 1), [3]]),
    INVALID,
    /each array once, got "mask" again/,
  ],
];
it.each(refusals)('refuses %s, and answers the next message', async (_, message, code, expected) => {
  const client = await connect(await startServer(), '/v1/vec');
  const { type, data } = await client.request(message);
  expect([type, data.code, data.message]).toEqual(['error', code, expect.stringMatching(expected)]);
  expect((await client.request({ type: 'create', data: { num_envs: 3 } })).type).toBe('created');
  const early = await client.request({ type: 'step', data: { actions: [0, 0, 0] } });
  expect(early.data).toMatchObject({ code: 'EXECUTION_ERROR', message: expect.stringContaining('reset') });
});

const many = <T, U>(count: number, value: T, last: U): (T | U)[] => [...Array(count - 1).fill(value), last];
const ofList = (key: string) => ({ loc: [key], input: `an array of ${LONG}` });
const listFaults: [what: string, type: string, data: object, message: string | null, error?: object][] = [
  ['an action of true', 'step', { actions: many(LONG, 1, true) }, 'at actions[4999], got true'],
  ['an action of 1.5', 'step', { actions: many(LONG, 1, 1.5) }, 'at actions[4999], got 1.5'],
  ['names as actions', 'step', { actions: many(LONG, 'sleep', 'sleep') }, 'at actions[0], got "sleep"'],
  [
    'a belief of null',
    'step',
    { actions: many(LONG, 1, 1), beliefs: many(3 * LONG, 0.5, null) },
    'at beliefs[14999], got null',
  ],
  [
    'too few seeds',
    'reset',
    { seed: many(LONG - 1, 1, 1) },
    'Expected 5000 entries in seed (numEnvs), got 4999',
  ],
  ['an unknown name', 'reset', { profiles: many(LONG, 'sampled', 'v1') }, 'got "v1"'],
  [
    'too many names',
    'reset',
    { graders: many(LONG + 1, 'v1', 'v1') },
    '5000 names in graders (numEnvs), got 5001',
  ],
  ['short lists', 'step', { actions: Array(8).fill(many(4000, 1, 1)) }, 'Send flat lists'],
  ['a list of an unknown key', 'reset', { seeds: many(LONG, 1, 1) }, null, ofList('seeds')],
  ['numbers as names', 'reset', { profiles: many(LONG, 1, 1) }, null, ofList('profiles')],
  ['names and numbers', 'reset', { graders: many(LONG, 'v1', 1) }, null, ofList('graders')],
  ['a list as data', 'reset', many(LONG, 1, 1), null, { loc: [], input: 'an array of 5000' }],
];
it('refuses invalid lists of thousands of entries', async () => {
  const client = await connect(await startServer(), '/v1/vec');
  await client.request({ type: 'create', data: { num_envs: LONG } });
  send(client, 'reset', {});
  await client.next();
  for (const [what, type, data, message, error = {}] of listFaults) {
    const answer = (await client.request({ type, data })).data;
    expect([what, answer]).toMatchObject([what, { code: INVALID, errors: [error] }]);
    if (message !== null) expect(answer.message, what).toContain(message);
  }
});

it('reports a list of wrong names as one fault, and does not repeat arrays of a binary frame as JSON', async () => {
  const client = await connect(await startServer(), '/v1/vec');
  const long = Array(4000).fill(1);
  for (const data of [{ outputs: long }, { observation: { fields: long } }]) {
    const { data: error } = await client.request({ type: 'create', data: { num_envs: 1, ...data } });
    expect(error.errors.map(({ type }: { type: string }) => type)).toEqual(['too_long']);
  }
  await client.request({ type: 'create', data: { num_envs: 2 } });
  for (const data of [{ profiles: long }, { graders: long }]) {
    const { data: error } = await client.request({ type: 'reset', data });
    expect([error.code, error.errors.length]).toEqual([INVALID, 1]);
  }
  const { data } = await client.request(frameOf(['beliefs', new Float32Array(500_000), [500_000]]));
  expect(data.errors[0]).toMatchObject({ loc: ['actions'] });
  expect(JSON.stringify(data).length).toBeLessThan(1000);
});

it('allows a message 4096 values, and five entries more for each environment', async () => {
  const client = await connect(await startServer(), '/v1/vec');
  const messageOf = async (entries: number): Promise<string> =>
    (await client.request({ type: 'step', data: { actions: Array(entries).fill(0) } })).data.message;
  // The message has two objects, a list and three keys in addition to the entries.
  const limit = 4096 - 6;
  expect(await messageOf(limit)).toContain('Expected an environment');
  expect(await messageOf(limit + 1)).toContain('at most 4096 lists');
  await client.request({ type: 'create', data: { num_envs: 1000 } });
  expect(await messageOf(limit + 5000)).toContain('Expected a reset');
  expect(await messageOf(limit + 5001)).toContain('5 entries for each of 1000 environments');
});

it('limits a frame to 2 MiB plus 20 bytes for each environment that `vecEnvs` allows, or to the body limit', async () => {
  for (const [options, limit] of [
    [{ vecEnvs: 1000 }, 2 * MIB + 20_000],
    [{ bodyLimit: 3000 }, 3000],
  ] as const) {
    const client = await connect(await startServer(options), '/v1/vec');
    expect((await client.request(Buffer.alloc(limit))).data.code).toBe(INVALID);
    await expect(client.request(Buffer.alloc(limit + 1))).rejects.toThrow('closed: 1009');
  }
});

it('creates no environment for a socket that closed while its message waited', async () => {
  const quota = new EnvQuota(8);
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

/**
 * Opens a client that requests a large result and does not read it: about 23 MB of observations. The system buffers less for a
 * client that does not read.
 */
async function unreadResult(server: { readonly port: number }): Promise<Client> {
  const client = await connect(server, '/v1/vec');
  const data = { num_envs: 2 ** 18, outputs: ['observations'] };
  await client.request({ type: 'create', data });
  client.socket.pause();
  send(client, 'reset', { seed: 1 });
  return client;
}
const ENVS = 'rhythm_vec_vec_envs';

it('an environment with an unread result stays counted until the client reads it, even after a close message', async () => {
  const server = await startServer();
  const client = await unreadResult(server);
  client.socket.send('{"type":"close"}');
  for (let k = 0; k < 50; k++) expect(await metric(server, ENVS)).toBe(1);
  client.socket.resume();
  expect((await client.closed).code).toBe(1000);
  for (const name of [ENVS, 'rhythm_vec_vec_slots']) await metricBecomes(server, name, 0);
});

it('stops reading from a client that does not read', async () => {
  const server = await startServer();
  const client = await unreadResult(server);
  const sent = 12;
  for (let k = 0; k < sent; k++) client.socket.send(Buffer.alloc(4 * MIB));
  // Gives the server time to read. The numbers are chosen by hand: half of the 48 MiB must be unsent.
  for (let k = 0; k < 50; k++) await metric(server, ENVS);
  expect(client.socket.bufferedAmount).toBeGreaterThan(24 * MIB);
  client.socket.resume();
  expect((await client.next()).length).toBeGreaterThan(16 * MIB);
  for (let k = 0; k < sent; k++) expect((await client.next()).toString()).toContain(INVALID);
});
