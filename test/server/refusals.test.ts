/** Refused requests: each error has the status, the type and the place of the fault, over every transport. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { STUDENT_NAMES } from '../../src/agents/student/packaged-students.js';
import { NUM_STEPS } from '../../src/world/fields.js';
import { postFrame, scoreFrame } from '../support/frames.js';
import { connect, metric, sendRequest, startServer } from '../support/server.js';

const SCORE = { seeds: [1], action_histories: [[]], actions: [0] };
const TEXTS = { seeds: [], action_histories: [], completions: [] };
const PROMPTS = { seeds: [1], action_histories: [[]] };
const ROLLOUT = { seeds: [1], group_size: 1, policy: 'random' };
const SEQUENCES = { ...ROLLOUT, policy: 'action_sequences', action_sequences: [Array(28).fill(0)] };
const BELIEFS = { ...SEQUENCES, belief_sequences: [Array(28).fill(null)] };

/** A faulty body of a route, the field with the fault, and the type of the error or a part of its message. */
type Refusal = readonly [what: string, body: unknown, field: string | null, type?: string];
const batches: [path: string, refusals: Refusal[]][] = [
  [
    '/v1/score',
    [
      ['no body', '', null, 'missing'],
      ['a body that is not an object', [], null, 'dict_type'],
      ['a number instead of a column', { ...SCORE, seeds: 1 }, 'seeds', 'list_type'],
      ['columns of different lengths', { ...SCORE, action_histories: [] }, 'action_histories'],
      ['completions and actions', { ...TEXTS, actions: [] }, 'completions', 'got both'],
      ['neither completions nor actions', PROMPTS, 'completions', 'got neither'],
      ['completions and beliefs', { ...TEXTS, beliefs: [] }, 'beliefs'],
      ['fewer belief histories than rows', { ...SCORE, belief_histories: [] }, 'belief_histories', 'got 0'],
      ['a name as belief histories', { ...SCORE, belief_histories: 'x' }, 'belief_histories', 'list_type'],
      ['a misspelled key', { ...SCORE, wieghts: {} }, 'wieghts', 'extra_forbidden'],
      ['an unknown grader', { ...SCORE, grader: 'v4' }, 'grader', 'one of v1, v2, v3'],
      ['a list as grader', { ...SCORE, grader: [1, 0, 0, 0, 0, 0] }, 'grader', 'got an array'],
      ['a weight that is text', { ...SCORE, grader: { name: 'x', weights: { progress: '1' } } }, 'grader'],
      ['an unknown profile', { ...SCORE, profile_modes: 'samplde' }, 'profile_modes', 'Did you mean'],
      ['parsed without completions', { ...SCORE, parsed: true }, 'parsed', 'Leave it out'],
      ['too many rows', { seeds: Array(2 ** 17 + 1).fill(0), action_histories: [] }, 'seeds', 'too_long'],
    ],
  ],
  [
    '/v1/prompts',
    [
      ['columns of different lengths', { ...PROMPTS, action_histories: [] }, 'action_histories'],
      ['too many rows', { ...PROMPTS, seeds: Array(2 ** 17 + 1).fill(1) }, 'seeds', 'at most 131072 rows'],
      [
        'an invalid row of a later slice',
        { seeds: Array(600).fill(1), action_histories: [...Array(599).fill([]), ['fly']] },
        'action_histories',
        'action_histories[599][0]',
      ],
    ],
  ],
  [
    '/v1/parse',
    [
      ['an unknown key', { completions: [], seeds: [] }, 'seeds'],
      [
        'a row of a later slice that is not text',
        { completions: [...Array(3000).fill(''), 7] },
        'completions',
        'a string at completions[3000], got 7',
      ],
    ],
  ],
  [
    '/v1/rollout',
    [
      ['too few profiles', { ...ROLLOUT, seeds: [1, 2], profile_modes: ['sampled'] }, 'profile_modes'],
      ['too many rollouts', { ...ROLLOUT, seeds: [1, 2, 3], group_size: 16384 }, 'group_size'],
      [
        'too many rollouts of a student',
        { ...ROLLOUT, group_size: 1025, policy: 'student-v2' },
        'group_size',
        'at most 1024 rollouts of student-v2',
      ],
      ['no action sequences', { ...SEQUENCES, action_sequences: null }, 'action_sequences'],
      ['a short action sequence', { ...SEQUENCES, action_sequences: [[]] }, 'action_sequences'],
      [
        'an invalid action',
        { ...SEQUENCES, action_sequences: [Array(28).fill('toString')] },
        'action_sequences',
        'action_sequences[0][0], got "toString"',
      ],
      ['no seeds', { ...ROLLOUT, seeds: [] }, null, 'wrong_length'],
      ['an invalid seed', { ...ROLLOUT, seeds: [1, 'x'] }, null, 'bad_seed'],
      ['sequences for a policy', { ...SEQUENCES, policy: 'random' }, 'action_sequences', '"random"'],
      ['policy seeds for another policy', { ...SEQUENCES, policy_seeds: 1 }, 'policy_seeds'],
      ['a belief for a policy', { ...ROLLOUT, belief: [0, 0, 0] }, 'belief'],
      ['beliefs for a policy', { ...ROLLOUT, belief_sequences: [] }, 'belief_sequences', '"random"'],
      ['a belief beside sequences', { ...BELIEFS, belief: [0, 0, 0] }, 'belief_sequences', 'got both'],
      ['too few belief sequences', { ...BELIEFS, belief_sequences: [] }, 'belief_sequences'],
      ['a short belief sequence', { ...BELIEFS, belief_sequences: [[null]] }, 'belief_sequences'],
      [
        'an invalid belief of a sequence',
        { ...BELIEFS, belief_sequences: [[...Array(27).fill(null), [0.5, 1]]] },
        'belief_sequences',
        'belief_sequences[0][27]',
      ],
      ...[5, null, 'randon'].map((policy): Refusal => [`${policy}`, { ...ROLLOUT, policy }, 'policy']),
    ],
  ],
];
it.each(batches)('%s names the field of what it refuses', async (path, refusals) => {
  const server = await startServer();
  for (const [what, request, field, type = ''] of refusals) {
    const { status, body } = await sendRequest(server, 'POST', path, request);
    const [error] = body.detail;
    expect([what, status, error.loc.slice(0, 2)]).toEqual([
      what,
      422,
      field === null ? ['body'] : ['body', field],
    ]);
    expect(`${error.type}: ${error.msg}`, what).toContain(type);
  }
});

it('names the valid policies of rollouts, and the nearest one', async () => {
  const { body } = await sendRequest(await startServer(), 'POST', '/v1/rollout', {
    ...ROLLOUT,
    policy: 'randon',
  });
  const names = ['random', 'heuristic', ...STUDENT_NAMES, 'action_sequences'].join(', ');
  expect(body.detail[0].msg).toBe(`Expected one of ${names}, got "randon". Did you mean "random"?`);
});

const STATES = {
  seeds: new Uint32Array(4),
  step_indices: new Uint8Array(4),
  histories: [new Uint8Array(4 * NUM_STEPS), [4, NUM_STEPS]] as const,
};
const ROWS = { ...STATES, actions: new Int8Array(4) };
const [completions, completion_ends] = [new Uint8Array(8), Uint32Array.of(2, 4, 6, 8)];
const WRITTEN = { ...STATES, completions, completion_ends };
const frames: [what: string, frame: Uint8Array<ArrayBuffer>, field: string | null, message?: string][] = [
  ['no bytes', new Uint8Array(), null, 'binary frame'],
  ['JSON', new Uint8Array(Buffer.from('{"seeds":[1]}')), null, 'binary frame'],
  ['a frame without its last bytes', scoreFrame(ROWS).slice(0, -8), null, 'bytes of actions, got'],
  ['another type of message', scoreFrame(ROWS, {}, 'step'), 'type'],
  ['an unknown array', scoreFrame({ ...ROWS, seed: new Uint8Array(4) }), 'seed', 'arrays among seeds'],
  ['no seeds', scoreFrame({ step_indices: new Uint8Array(0) }), 'seeds', 'got none'],
  ['seeds of another type', scoreFrame({ ...ROWS, seeds: new Int32Array(4) }), 'seeds', 'got int32'],
  ['another shape', scoreFrame({ ...ROWS, histories: new Uint8Array(112) }), 'histories', 'and [112]'],
  ['too few rows', scoreFrame({ ...ROWS, actions: new Int8Array(3) }), 'actions', 'shape [4]'],
  ['neither text nor actions', scoreFrame(STATES), 'completions', 'got neither'],
  ['both text and actions', scoreFrame({ ...ROWS, completions, completion_ends }), 'completions', 'got both'],
  ['text with beliefs', scoreFrame({ ...WRITTEN, beliefs: [new Float32Array(12), [4, 3]] }), 'beliefs'],
  ['text without ends', scoreFrame({ ...STATES, completions }), 'completions', 'Send both'],
  [
    'an end before that of the previous row',
    scoreFrame({ ...WRITTEN, completion_ends: Uint32Array.of(2, 1, 6, 8) }),
    'completion_ends',
    '2, at completion_ends[1], got 1',
  ],
  [
    'a last end beyond the text',
    scoreFrame({ ...WRITTEN, completion_ends: Uint32Array.of(2, 4, 6, 9) }),
    'completion_ends',
    '8, at completion_ends[3], got 9',
  ],
  ['a profile without names', scoreFrame({ ...ROWS, profiles: new Uint8Array(4) }), 'profiles', 'got one'],
  ['names without profiles', scoreFrame(ROWS, { profiles: ['sampled'] }), 'profiles', 'the list alone'],
  [
    'a profile beyond the names',
    scoreFrame({ ...ROWS, profiles: Uint8Array.of(0, 0, 1, 0) }, { profiles: ['sampled'] }),
    'profiles',
    'got 1 at profiles[2]',
  ],
  ['an unknown option', scoreFrame(ROWS, { graders: 'v1' }), 'graders', 'not permitted'],
  ['parsed with actions', scoreFrame(ROWS, { parsed: true }), 'parsed'],
];
it('/v1/score names the array of what it refuses in a frame', async () => {
  const server = await startServer();
  for (const [what, frame, field, message = ''] of frames) {
    const { status, data } = await postFrame(server, frame);
    const [error] = data.detail;
    expect([what, status, error.loc.slice(0, 2)]).toEqual([
      what,
      422,
      field === null ? ['body'] : ['body', field],
    ]);
    expect(error.msg, what).toContain(message);
  }
});

it.each([
  ['{,"seeds":[1]}', "Expected a key or '}' at position 1"],
  ['{"seeds" [1]}', "Expected ':' at position 9"],
  ['{"seeds":[1] "actions":[1]}', "Expected ',' or '}' at position 13"],
  ['{"seeds":[1],}', 'Expected a key at position 13'],
  ['{},', 'Expected nothing more at position 2'],
  ['{"seeds":[1]', 'Unexpected end of JSON input at position 12'],
])('names the position and the cause of invalid JSON: %s', async (request, error) => {
  const { status, body } = await sendRequest(await startServer(), 'POST', '/v1/score', request);
  const place = { loc: ['body', Number(/\d+$/.exec(error))], input: {}, ctx: { error } };
  expect([status, body.detail]).toEqual([
    422,
    [{ type: 'json_invalid', msg: 'JSON decode error', ...place }],
  ]);
});

it('names the position of invalid JSON in a late row', async () => {
  const many = (row: string, last: string) => `[${`${row},`.repeat(9999)}${last}]`;
  const columns = `"seeds":${many('1', '1')},"action_histories":${many('[]', '[]')}`;
  const request = `{${columns},"actions":${many('0', 'nul')}}`;
  const { status, body } = await sendRequest(await startServer(), 'POST', '/v1/score', request);
  expect([status, body.detail[0].type]).toEqual([422, 'json_invalid']);
  expect(body.detail[0].loc[1]).toBeGreaterThan(request.length - 5000);
});

const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const repeated = (text: string, count: number): string => Array(count).fill(text).join();
const keys = (count: number, of: (k: number) => string): string =>
  Array.from({ length: count }, (_, k) => `"${of(k)}":1`).join();

/** Returns a binary frame with this header and no arrays. */
function headerOf(json: string): Buffer {
  const length = Math.ceil((4 + json.length) / 8) * 8 - 4;
  const frame = Buffer.alloc(4 + length, ' ');
  frame.writeUInt32LE(length);
  frame.write(json, 4);
  return frame;
}

/** 4,000 nested lists: almost the 4,096 values that a message may have. */
const DEEP = deep(4000);
const limit = { msg: expect.stringMatching(/at most 4096 lists, objects/), input: null };
const messages: [what: string, data: string, error: object][] = [
  ['too many keys', `{"key":{${keys(5000, (k) => `key ${k}`)}}}`, limit],
  ['too many keys that are numbers', `{${keys(5000, String)}}`, limit],
  ['too many lists', `[${repeated('[]', 5000)}]`, limit],
  ['too many objects', `[${repeated('{}', 5000)}]`, limit],
  ['too many nesting levels', deep(5000), limit],
  ['deeply nested lists', DEEP, { type: 'dict_type', input: 'an array of 1' }],
];
it.each(messages)('refuses %s in every message, and answers the next message', async (_, data, error) => {
  const server = await startServer();
  for (const path of ['/reset', '/step']) {
    const { status, body } = await sendRequest(server, 'POST', path, data);
    expect([path, status, body.detail[0]]).toMatchObject([path, 422, error]);
  }
  for (const [path, message] of [
    ['/ws', `{"type":"reset","data":${data}}`],
    ['/v1/vec', `{"type":"create","data":${data}}`],
    ['/v1/vec', headerOf(`{"type":"create","arrays":[],"data":${data}}`)],
  ] as const) {
    const client = await connect(server, path);
    expect([path, (await client.request(message)).data]).toMatchObject([
      path,
      { code: 'VALIDATION_ERROR', errors: [error] },
    ]);
    expect((await client.request('{"type":"fly"}')).data.code).toBe('UNKNOWN_TYPE');
  }
  if (error === limit)
    expect((await sendRequest(server, 'POST', '/mcp', data)).body.error.message).toMatch(/4096/);
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
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

it('repeats short input, describes long or deep input, and reports at most 100 faults', async () => {
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
  for (const [path, body, input] of [
    // 2,000 objects with a key each: almost the 4,096 values and keys that a message may have.
    ['/reset', `{"grader":${'{"weights":'.repeat(2000)}1${'}'.repeat(2000)}}`, 'an object'],
    ['/step', `{"action":{"action_type":"sleep","more":${DEEP}}}`, 'an array of 1'],
    ['/v1/score', `{"seeds":[],"action_histories":[],"actions":[],"grader":${DEEP}}`, 'an array of 1'],
  ]) {
    const { status, body: answer } = await sendRequest(server, 'POST', path, body);
    expect([path, status, answer.detail[0].input]).toEqual([path, 422, input]);
  }
  const action = JSON.parse(`{"action_type":"sleep",${keys(2000, (k) => `key ${k}`)}}`);
  const { body } = await sendRequest(server, 'POST', '/step', { action });
  expect(body.detail).toHaveLength(100);
  expect(body.detail[7]).toMatchObject({ type: 'extra_forbidden', loc: ['key 7'], input: 1 });
});

it.each(['', '"sleep"', 'null', '[]'])('refuses the body %j, which is no object', async (data) => {
  const { status, body } = await sendRequest(await startServer(), 'POST', '/step', data);
  expect([status, body.detail[0].loc]).toEqual([422, ['body']]);
});

it.each(['/v1/score', '/step', '/mcp'])('answers 415 to a compressed body of %s', async (path) => {
  const { url } = await startServer();
  const send = (type: string, encoding: string) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': `application/${type}`, 'content-encoding': encoding },
      body: encoding === 'identity' ? '{}' : gzipSync('{}'),
    });
  for (const [type, encoding] of [
    ['json', 'gzip'],
    ['octet-stream', 'identity, br'],
  ]) {
    const response = await send(type, encoding);
    expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    const { detail } = (await response.json()) as { detail: string };
    expect(detail).toContain(`without Content-Encoding, got "${encoding}". Send the body uncompressed`);
  }
  expect((await send('json', 'identity')).status).not.toBe(415);
});
