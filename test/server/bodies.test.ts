/** Tests that bodies are parsed in slices with the values of `JSON.parse`, or refused before they take time or memory. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { InvalidRequestError } from '../../src/server/protocol/errors.js';
import {
  Column,
  keysOf,
  MAX_JSON_ROWS,
  MAX_ROW_BYTES,
  MAX_VALUE_BYTES,
  readFields,
} from '../../src/server/v1/json-columns.js';
import { column } from '../../src/server/v1/schemas.js';
import { runChild } from '../support/child.js';
import { DRAWS, drawsOf } from '../support/random.js';
import { metric, sendRequest, startServer } from '../support/server.js';

const SCHEMA = z.strictObject({ a: column(z.any()), b: column(z.any()).optional(), c: z.any(), ü: z.any() });
const KEYS = keysOf(SCHEMA);

const turn = async () => {};

/** Reads a body, and the rows of its columns. @throws InvalidRequestError. */
async function read(body: Buffer): Promise<unknown> {
  const fields = readFields(body, KEYS);
  for (const [key, value] of Object.entries(fields)) {
    if (!(value instanceof Column)) continue;
    const rows: unknown[] = [];
    await value.forEach(turn, (each, row) => {
      expect(row).toBe(rows.length);
      rows.push(each);
    });
    fields[key] = rows;
  }
  return fields;
}

const rows = fc.oneof(
  fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 6 }),
  fc.array(fc.constantFrom(0, [], 'x', null), { maxLength: 300 }),
);
const names = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom('a', 'b', 'c', 'ü') },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'd') },
);
const bodies = fc
  .tuple(fc.dictionary(names, fc.oneof(rows, fc.jsonValue())), fc.constantFrom(0, 0, 1, '\n\t '))
  .map(([value, space]) => Buffer.from(JSON.stringify(value, null, space)));
/** Bytes of JSON's syntax, and others: 0xff is never in UTF-8, and the last three are a byte order mark. */
const BYTES = [...Buffer.from('[]{},:"\\ \n\t\r\v019.-eEabcu{"a":[]}ü'), 0xff, 0x00, 0xef, 0xbb, 0xbf];
const changes = fc.array(
  fc.tuple(fc.nat(), fc.nat(2), fc.array(fc.constantFrom(...BYTES), { minLength: 1, maxLength: 3 })),
  { maxLength: 3 },
);

/** Replaces or inserts some bytes. */
function mutated(body: Buffer, list: readonly (readonly [number, number, readonly number[]])[]): Buffer {
  let bytes = body;
  for (const [where, out, put] of list) {
    const at = where % (bytes.length + 1);
    bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(at + out)]);
  }
  return bytes;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** Returns whether a value is an object without unknown keys. */
const hasKnownKeys = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).every((key) => KEYS.has(key));

it('reads the same values as JSON.parse, and refuses invalid JSON and unknown or repeated keys', async () => {
  const counts = { accepted: 0, refused: 0 };
  const property = fc.asyncProperty(bodies, fc.oneof(fc.constant([]), changes), async (valid, list) => {
    const body = mutated(valid, list);
    const expected = parsed(body);
    try {
      expect(await read(body)).toEqual(expected);
      expect(hasKnownKeys(expected)).toBe(true);
      counts.accepted++;
    } catch (error) {
      if (!(error instanceof InvalidRequestError)) throw error;
      counts.refused++;
      // JSON.parse accepts a repeated key.
      if (!error.message.includes(' once, got it again'))
        expect(hasKnownKeys(expected), error.message).toBe(false);
    }
  });
  await fc.assert(property, { ...DRAWS, numRuns: drawsOf(4000) });
  // More than an eighth of the bodies are accepted, and more than an eighth are refused. The share is chosen by hand.
  expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(drawsOf(500));
});

it('parses rows in slices of limited length', async () => {
  const lengths = Array.from({ length: 3000 }, (_, row) => (row % 500 === 7 ? 900_000 : (row * 37) % 700));
  const values = lengths.map((length) => 'x'.repeat(length));
  const { a } = readFields(Buffer.from(JSON.stringify({ a: values })), KEYS) as { a: Column };
  const slices: number[][] = [];
  const begin = async () => void slices.push([]);
  await a.forEach(begin, (text, row) => {
    expect(text === values[row]).toBe(true);
    slices.at(-1)!.push(lengths[row]);
  });
  expect(slices.flat()).toEqual(lengths);
  // A slice has at most 1,024 rows, and ends with the row that reaches 2^16 bytes.
  for (const slice of slices) {
    const before = slice.slice(0, -1).reduce((sum, length) => sum + length + 3, 0);
    expect([slice.length <= 1024, before < 2 ** 16]).toEqual([true, true]);
  }
  const { a: short } = readFields(Buffer.from(JSON.stringify({ a: Array(2049).fill(1) })), KEYS) as {
    a: Column;
  };
  slices.length = 0;
  await short.forEach(begin, (_, row) => void slices.at(-1)!.push(row));
  expect(slices.map(({ length }) => length)).toEqual([1024, 1024, 1]);
});

const repeated = (text: string, count: number): string => Array(count).fill(text).join();
const keys = (count: number, of: (k: number) => string = (k) => `key ${k}`): string =>
  Array.from({ length: count }, (_, k) => `${JSON.stringify(of(k))}:1`).join();
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

const shapes: [what: string, body: string, message: RegExp][] = [
  ['many keys', `{${keys(50_000)}}`, /Extra inputs are not permitted. Expected keys among/],
  ['integers as keys', `{${keys(50_000, String)}}`, /Extra inputs/],
  ['a long key', `{"${'k'.repeat(100_000)}":1}`, /Extra inputs/],
  ['the key __proto__', `{"__proto__":{${keys(10)}},"seeds":[]}`, /Extra inputs/],
  ['the key constructor', '{"constructor":{"prototype":{"polluted":1}}}', /Extra inputs/],
  ['a repeated key', '{"seeds":[1],"seeds":[2]}', /seeds once, got it again/],
  ['many keys for a column', `{"seeds":{${keys(50_000)}}}`, /at most 4096 lists, objects, keys/],
  ['many keys in a row', `{"seeds":[1,{${keys(50_000)}}]}`, /at most 4096 lists, objects, keys/],
  ['many entries of a row', `{"seeds":[[${repeated('1', 50_000)}]]}`, /at most 4096 lists, objects, keys/],
  ['nesting', `{"seeds":[${deep(50_000)}]}`, /at most 4096 lists, objects, keys/],
  ['many keys in a value', `{"profile_modes":{"x":{${keys(50_000)}}}}`, /at most 4096/],
  [
    'a long value',
    `{"profile_modes":"${'x'.repeat(MAX_VALUE_BYTES)}"}`,
    /65536 bytes of JSON at profile_modes/,
  ],
  ['a long row', `{"seeds":[1,"${'x'.repeat(MAX_ROW_BYTES)}"]}`, /1048576 bytes of JSON at seeds\[1\]/],
  ['long white space', `{"seeds":[1,${' '.repeat(MAX_ROW_BYTES)}1]}`, /1048576 bytes of JSON at seeds\[1\]/],
  ['many rows', `{"seeds":[${repeated('1', MAX_JSON_ROWS + 1)}]}`, /at most 131072 rows, got more/],
  ['many lists', `[${repeated('[]', 50_000)}]`, /valid dictionary/],
  ['a missing end', `{"seeds":[${repeated('1', 50_000)}`, /JSON decode error/],
  ['a wrong closing bracket', `{"seeds":[${repeated('1', 50_000)}}`, /JSON decode error/],
  ['a second value after the end', '{} {}', /JSON decode error/],
];
it('refuses bodies with too many or too long values, unknown or repeated keys, or invalid JSON', async () => {
  const server = await startServer();
  for (const [what, body, message] of shapes) {
    const response = await sendRequest(server, 'POST', '/v1/score', body);
    expect([what, response.status], response.body).toEqual([what, 422]);
    expect(response.body.detail[0].msg, what).toMatch(message);
  }
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
  expect(await metric(server, 'rhythm_vec_failures_total')).toBe(0);
});

/** Posts a body in pieces, without a content-length. @returns null if the connection was cut before the answer was read. */
async function postPieces(url: string, pieces: readonly string[]) {
  const pending = request(`${url}/v1/score`, { method: 'POST' });
  const answered = once(pending, 'response').catch(() => null);
  for (const piece of pieces) pending.write(piece);
  pending.end();
  const [response] = ((await answered) ?? []) as IncomingMessage[];
  return response && { status: response.statusCode, body: JSON.parse(await text(response)) };
}

it('reads a long body without a content-length', async () => {
  const server = await startServer();
  const seeds = Array.from({ length: 50_000 }, (_, k) => k % 5000);
  const actions = seeds.map((seed) => seed % 10);
  const columns = { seeds, actions, action_histories: seeds.map(() => []), scores: ['env_reward'] };
  const json = JSON.stringify(columns);
  // The first buffer for a body of unknown length has 65,536 bytes (request.ts).
  const pieces = [0, 1, 2, 65_535, 65_536, 65_537, 65_538, 300_000].map((at, k, all) =>
    json.slice(at, all[k + 1]),
  );
  const { body } = await sendRequest(server, 'POST', '/v1/score', json);
  expect(await postPieces(server.url, pieces)).toEqual({ status: 200, body });
});

it('accepts a body as long as the limit, and refuses a longer body, with or without a content-length', async () => {
  const bodyLimit = 100_001;
  const server = await startServer({ bodyLimit, frameLimit: 1024 });
  const json = '{"seeds":[1],"action_histories":[[]],"actions":[0]}';
  const filled = (length: number) => json + ' '.repeat(length - json.length);
  expect(await postPieces(server.url, [json, filled(bodyLimit).slice(json.length)])).toMatchObject({
    status: 200,
  });
  expect((await postPieces(server.url, [filled(bodyLimit + 1)]))?.status ?? 413).toBe(413);
  const large = await startServer();
  expect((await sendRequest(large, 'POST', '/v1/score', filled(2 ** 23))).status).toBe(200);
  const { status, body } = await sendRequest(large, 'POST', '/v1/score', filled(2 ** 23 + 1));
  expect([status, body.detail]).toEqual([413, expect.stringContaining('or a binary frame')]);
  for (const [path, limit] of [
    ['/v1/score', bodyLimit],
    ['/reset', 1024],
    ['/mcp', 1024],
  ] as const) {
    expect((await sendRequest(server, 'POST', path, filled(limit))).status).not.toBe(413);
    const { status, body } = await sendRequest(server, 'POST', path, filled(limit + 1));
    expect([status, body.detail]).toEqual([413, expect.stringContaining(`at most ${limit} bytes`)]);
  }
});

it('a server with 50 MB of heap answers large bodies of every kind', () => {
  const { status, output, stderr } = runChild(
    `
    import { openServer } from './dist/server/open-server.js';
    const server = await openServer({ port: 0 });
    const maxBytes = 4 * 2 ** 20;
    const filled = (head, unit, tail) => head + unit.repeat((maxBytes - head.length) / unit.length) + tail;
    const keys = ['{"k":1'];
    for (let k = 0, length = 0; length < maxBytes; k++) length += keys[keys.push(',"key ' + k + '":1') - 1].length;
    const rows = 10_000;
    const list = (row) => '[' + (row + ',').repeat(rows - 1) + row + ']';
    const bodies = [
      keys.join('') + '}',
      '{"seeds":{"x":1,' + keys.join('').slice(1) + '}}',
      filled('{"seeds":[[', '[],', '[]]]}'),
      filled('{"scores":[', '"x",', '"x"]}'),
      filled('{"seeds":[', '"x",', '1]}'),
      filled('[', '[],', '[]]'),
      '{"seeds":' + list('1') + ',"action_histories":' + list('[]') + ',"actions":' + list('0') + '}',
      '{"seeds":' + list('-1') + ',"action_histories":' + list('0') + ',"actions":' + list('0') + '}',
    ];
    keys.length = 0;
    const statuses = [];
    while (bodies.length > 0) {
      const response = await fetch(server.url + '/v1/score', { method: 'POST', body: Buffer.from(bodies.shift()) });
      statuses.push(response.status);
      for await (const piece of response.body) piece.length;
    }
    await server.close();
    print(statuses);
    `,
    {},
    ['--max-old-space-size=50'],
  );
  expect([status, output], stderr).toEqual([0, [422, 422, 422, 422, 422, 422, 200, 200]]);
});
