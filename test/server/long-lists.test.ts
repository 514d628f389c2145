/** Long lists of numbers in the text of a message: the same values and errors as those of `JSON.parse`, bit for bit. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createVecEnv } from '../../src/index.js';
import { decodeFrame } from '../../src/server/vec/frame.js';
import { numbersOf, parseLists } from '../../src/server/vec/number-lists.js';
import { DRAWS, drawsOf } from '../support/random.js';
import { connect, startServer } from '../support/server.js';

const LONG = 5000;
const digits = (min: number, max: number) =>
  fc.array(fc.nat(9), { minLength: min, maxLength: max }).map((list) => list.join(''));

/** Numbers as JSON writes them: of any length, around float32's limits, and as `JSON.stringify` writes doubles. */
const written = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      fc.tuple(fc.integer({ min: 1, max: 9 }), digits(0, 25)).map((parts) => parts.join('')),
    ),
    fc.oneof(
      fc.constant(''),
      digits(1, 40).map((text) => `.${text}`),
    ),
    fc.oneof(
      fc.constant(''),
      fc
        .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.oneof(fc.nat(60), fc.nat(400)))
        .map((parts) => parts.join('')),
    ),
  )
  .map((parts) => parts.join(''));
const numbers = fc.oneof(
  written,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer({ min: -1, max: 2 ** 32 }).map(String),
  fc.constantFrom('-0', '0', '-0.0', '-0e5', '1e-45', '1.401298464324817e-45', '7e-46', '1e999', '-1e999'),
  fc.constantFrom('9007199254740993e-3', '9007199254740991', '9007199254740992', '9007199254740993'),
  // Halfway between two float32s as a decimal, and no longer so as a float64.
  fc.constantFrom(
    '1.00000005960464477540',
    '1.00000017881393432616',
    '340282356779733661637539395458142568448',
  ),
);
const spaces = fc.constantFrom('', '', ' ', '\n', '\r\n\t');

/** The drawn entries, repeated until the list is long. */
const long = (entries: readonly string[]): string[] =>
  Array.from({ length: LONG }, (_, k) => entries[k % entries.length]);
const messageOf = (entries: readonly string[], key = 'beliefs'): string =>
  `{"type":"step","data":{"${key}":[${long(entries).join()}],"mask":[1]}}`;

interface Parsed {
  readonly data: Record<string, ArrayLike<number>>;
}

/** Parses it; all lists of its data are then read. @returns the text of the error of invalid JSON. */
function parsed(text: string): Parsed {
  const message = whole(() => parseLists(Buffer.from(text))) as Parsed;
  for (const key in message.data) message.data[key] = numbersOf(message.data[key]);
  return message;
}

function whole(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

const bytesOf = ({ buffer }: Float32Array | Float64Array): Buffer => Buffer.from(buffer);

it('reads every number as JSON.parse and Math.fround do', () => {
  const entry = fc.tuple(spaces, numbers, spaces).map((parts) => parts.join(''));
  const property = fc.property(fc.array(entry, { minLength: 1, maxLength: 40 }), (entries) => {
    const text = messageOf(entries);
    const exact: number[] = JSON.parse(text).data.beliefs;
    const { beliefs } = parsed(text).data;
    expect(beliefs).not.toBeInstanceOf(Array);
    expect(bytesOf(Float64Array.from(beliefs))).toEqual(bytesOf(Float64Array.from(exact)));
    expect(bytesOf(Float32Array.from(beliefs))).toEqual(bytesOf(Float32Array.from(exact, Math.fround)));
  });
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(1000) });
});

it('reads whole numbers into small arrays, and keeps true, false and null', () => {
  for (const [entries, Kind] of [
    [['0', '9999'], Uint16Array],
    [['0', '999999999'], Uint32Array],
    [['0', '4294967295'], Float64Array],
    // Only a later slice does not fit.
    [[...Array(LONG - 1).fill('1'), '65536'], Uint32Array],
    [[...Array(LONG - 1).fill('1'), '-0'], Float64Array],
  ] as const) {
    const numbers = Float64Array.from(long(entries), Number);
    expect(parsed(messageOf(entries)).data.beliefs).toEqual(new Kind(numbers));
  }
  for (const entries of [
    ['true', 'false'],
    ['1', 'null'],
    ['-0.5', '2', 'true'],
  ]) {
    const text = messageOf(entries, 'mask');
    expect(parsed(text).data.mask).toEqual(JSON.parse(text).data.mask);
  }
});

const LISTS = `{"type":"step","data":{"actions":[${long(['1', ' 2'])}],"beliefs":[${long(['0.5', '12', '-1e-7'])}],"more":{"a":[1]}}}`;
const PUT = [
  '',
  ',',
  ']',
  '[',
  '}',
  '"',
  '0',
  '1 ',
  '-',
  '.',
  'e',
  'x',
  'null',
  '\n',
  '\\',
  '\u20ac',
  '[1,2]',
  '"x"',
];

it('says what JSON.parse says of invalid text, and parses valid text to the same', () => {
  const start = LISTS.indexOf('"beliefs"');
  const at = fc.oneof(
    fc.nat(LISTS.length - 1),
    fc.nat(150),
    fc.nat(300).map((by) => start - 150 + by),
    fc.nat(150).map((back) => LISTS.length - 1 - back),
  );
  const property = fc.property(at, fc.constantFrom(...PUT), fc.nat(2), (from, put, cut) => {
    const text = LISTS.slice(0, from) + put + LISTS.slice(from + cut);
    const expected = whole(() => JSON.parse(text));
    const got = parsed(text);
    if (typeof expected === 'string') expect(got).toBe(expected);
    else expect(JSON.stringify(got, plain)).toBe(JSON.stringify(expected));
  });
  fc.assert(property, { ...DRAWS, numRuns: drawsOf(3000) });
});

/** Typed arrays as lists. */
const plain = (_: string, value: unknown) => (ArrayBuffer.isView(value) ? Array.from(value as never) : value);

it.each([
  ['in a list', (list: string) => `[[${list}]]`],
  ['as a key', (list: string) => `{"data":{[${list}]:1}}`],
  ['twice', (list: string) => `{"data":{"mask":[${list}],"mask":[1]},"data":{"mask":[true,${list}]}}`],
  ['under the key __proto__', (list: string) => `{"data":{"__proto__":[${list}]}}`],
  ['in objects within the data', (list: string) => `{"data":{"a":{"b":[${list}]}}}`],
  [
    'beside text that is not ASCII',
    (list: string) => `{"data":{"\u20ac":"\ud83d\ude00","mask":[${list}],"\u20ac2":2}}`,
  ],
])('a long list %s is what it is for JSON.parse', (_, textOf) => {
  const text = textOf(long(['7', '0.5']).join());
  expect(JSON.stringify(parsed(text), plain)).toBe(JSON.stringify(whole(() => JSON.parse(text))));
});

it('lists in text give the results of arrays in a frame', async () => {
  const client = await connect(await startServer(), '/v1/vec');
  const numEnvs = LONG;
  await client.request({
    type: 'create',
    data: { num_envs: numEnvs, outputs: ['observations', 'final_scores'] },
  });
  using env = createVecEnv({ numEnvs });
  const said = async (type: string, data: object) => {
    client.socket.send(JSON.stringify({ type, data }));
    return decodeFrame((await client.next()) as Buffer).arrays;
  };
  const seed = Array.from({ length: numEnvs }, (_, i) => 4_294_000_000 + 7 * i);
  const mask = seed.map((_, i) => i % 3 > 0);
  expect((await said('reset', { seed })).observations).toEqual(env.reset({ seed }).observations);
  for (let t = 0; t < 28; t++) {
    const actions = seed.map((_, i) => (i + t) % 10);
    const beliefs = seed.flatMap((_, i) => [i / numEnvs, (i % 7) / 7, (t % 5) / 3]);
    const step = await said('step', { actions, beliefs });
    const result = env.step(actions, { beliefs });
    expect([step.observations, step.final_scores]).toEqual([result.observations, result.finalScores]);
  }
  const masked = { seed: 5, mask };
  expect((await said('reset', masked)).observations).toEqual(env.reset(masked).observations);
});

const LIST_FAULTS: [what: string, type: string, data: object, error: object][] = [
  [
    'an action of true',
    'step',
    { actions: [...Array(LONG - 1).fill(1), true] },
    { message: expect.stringMatching(/at actions\[4999\], got true/) },
  ],
  [
    'an action of 1.5',
    'step',
    { actions: [...Array(LONG - 1).fill(1), 1.5] },
    { message: expect.stringMatching(/at actions\[4999\], got 1.5/) },
  ],
  [
    'a belief of null',
    'step',
    { actions: Array(LONG).fill(1), beliefs: [...Array(3 * LONG - 1).fill(0.5), null] },
    { message: expect.stringMatching(/at beliefs\[14999\], got null/) },
  ],
  [
    'too few seeds',
    'reset',
    { seed: Array(LONG - 1).fill(1) },
    { message: expect.stringMatching(/Expected 5000 entries in seed \(numEnvs\), got 4999/) },
  ],
  [
    'a list of an unknown key',
    'reset',
    { seeds: Array(LONG).fill(1) },
    {
      errors: [
        expect.objectContaining({ type: 'extra_forbidden', loc: ['seeds'], input: 'an array of 5000' }),
      ],
    },
  ],
  [
    'numbers as names',
    'reset',
    { profiles: Array(LONG).fill(1) },
    { errors: [expect.objectContaining({ loc: ['profiles'], input: 'an array of 5000' })] },
  ],
  [
    'a list as data',
    'reset',
    Array(LONG).fill(1),
    { errors: [expect.objectContaining({ type: 'dict_type', loc: [], input: 'an array of 5000' })] },
  ],
];
it.each(LIST_FAULTS)('%s in a long list is refused as in a short one', async (_, type, data, error) => {
  const client = await connect(await startServer(), '/v1/vec');
  await client.request({ type: 'create', data: { num_envs: LONG } });
  client.socket.send('{"type":"reset"}');
  await client.next();
  expect((await client.request({ type, data })).data).toMatchObject(error);
});
