/** Bodies and messages of many shapes, valid and hostile, that the server is sent to measure what they cost it. */
import { ACTION_NAMES } from '../../dist/index.js';
import { encodeFrame } from '../../dist/server/vec/frame.js';
import { OUTPUT_NAMES, type OutputName } from '../../dist/server/vec/vec-messages.js';
import { NUM_STEPS } from '../../dist/world/fields.js';

export const MIB = 2 ** 20;

export interface Shape {
  readonly what: string;
  readonly path: string;
  /** Made when it is sent: all of them together would be gigabytes. */
  readonly body: (mebibytes: number) => Buffer;
  /** MiB, at most: of a body that can be longer. */
  readonly most: number;
  /** Of a socket: the messages that come before. */
  readonly before?: readonly string[];
  readonly isBinary?: boolean;
}

/** MiB of a body and of a message. */
const LIMITS = { body: 16, message: 1 };

/** As often as it fits. */
function filled(
  head: string,
  unit: string | ((k: number) => string),
  tail: string,
  mebibytes: number,
): Buffer {
  const most = mebibytes * MIB - head.length - tail.length;
  if (typeof unit === 'string')
    return Buffer.from(head + unit.repeat(Math.max(most / unit.length, 1)).slice(0, -1) + tail);
  const units: string[] = [];
  for (let left = most, k = 0; left > 0 || k === 0; k++) {
    const next = unit(k);
    left -= next.length;
    if (left >= 0 || k === 0) units.push(next);
  }
  return Buffer.from(head + units.join('').slice(0, -1) + tail);
}

const fills =
  (head: string, unit: string | ((k: number) => string), tail: string): Shape['body'] =>
  (mebibytes) =>
    filled(head, unit, tail, mebibytes);

const repeated = (text: string, count: number): string => `${text},`.repeat(count).slice(0, -1);
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const keysOf = (count: number): string => Array.from({ length: count }, (_, k) => `"key ${k}":1`).join();

/** Columns of as many rows as fit in the body, or of `rows`. */
function columns(of: Readonly<Record<string, (row: number) => string>>, rows?: number): Shape['body'] {
  const unit = Object.values(of).reduce((sum, entry) => sum + entry(1).length + 1, 0);
  return (mebibytes) => {
    const count = rows ?? Math.max(Math.floor((mebibytes * MIB) / unit), 1);
    const lists = Object.entries(of).map(
      ([name, entry]) => `"${name}":[${Array.from({ length: count }, (_, row) => entry(row)).join()}]`,
    );
    return Buffer.from(`{${lists.join()}}`);
  };
}

const history = (row: number): string =>
  JSON.stringify(
    Array.from({ length: row % NUM_STEPS }, (_, t) => ACTION_NAMES[(row + t) % ACTION_NAMES.length]),
  );
const longHistory = (row: number): string =>
  JSON.stringify(
    Array.from({ length: NUM_STEPS - 1 }, (_, t) => ACTION_NAMES[(row + t) % ACTION_NAMES.length]),
  );
const actionSequence = (row: number): string =>
  `[${Array.from({ length: NUM_STEPS }, (_, t) => (row + t) % 10).join()}]`;
const seed = (row: number): string => String(1000 + (row % 9000));
const answer = (row: number): string =>
  JSON.stringify(
    `<reasoning>${'Rest comes first. '.repeat(5)}</reasoning>\n3 6 5 ${ACTION_NAMES[row % 10].toUpperCase()}`,
  );

/** Shapes that no request has: on every route of /v1. */
const hostile = (path: string): Shape[] => {
  const shapes: [string, Shape['body'], number][] = [
    ['an object of many keys', fills('{', (k) => `"k${k}":1,`, '}'), LIMITS.body],
    ['integers as keys', fills('{', (k) => `"${k}":1,`, '}'), LIMITS.body],
    ['an object as a column', fills('{"seeds":{', (k) => `"k${k}":1,`, '}}'), LIMITS.body],
    ['rows of many keys', fills('{"seeds":[', `{${keysOf(2000)}},`, ']}'), LIMITS.body],
    ['rows of nested lists', fills('{"seeds":[', `${deep(4000)},`, ']}'), LIMITS.body],
    ['one wide row', fills('{"seeds":[[', '[],', ']]}'), LIMITS.body],
    ['one deep row', (mebibytes) => Buffer.from(`{"seeds":[${deep((mebibytes * MIB) / 2)}]}`), LIMITS.body],
    [
      'one huge string',
      (mebibytes) => Buffer.from(`{"seeds":["${'x'.repeat(mebibytes * MIB)}"]}`),
      LIMITS.body,
    ],
    ['one huge key', (mebibytes) => Buffer.from(`{"${'k'.repeat(mebibytes * MIB)}":1}`), LIMITS.body],
    ['many strings', fills('{"seeds":[', '"x",', ']}'), LIMITS.body],
    ['many objects', fills('{"seeds":[', '{},', ']}'), LIMITS.body],
    [
      'many long numbers',
      fills('{"seeds":[', '1234567890.123456789012345678901234567890e-10,', ']}'),
      LIMITS.body,
    ],
    ['many lists', fills('[', '[],', ']'), LIMITS.body],
  ];
  return shapes.map(([what, body, most]) => ({ what, path, body, most }));
};

const SCORE = '/v1/score';
const ROLLOUT = '/v1/rollout';
const PROMPTS = '/v1/prompts';

/** Requests that are answered, or refused row by row. */
const batches: readonly Shape[] = [
  {
    ...{ what: 'rows of 7 bytes, scored', path: SCORE, most: 7 },
    body: columns({ seeds: () => '1', action_histories: () => '[]', actions: () => '0' }),
  },
  {
    ...{ what: 'rows of 50 bytes, scored', path: SCORE, most: 16 },
    body: columns({
      seeds: seed,
      action_histories: () => '[1,2,3,4,5]',
      completions: () => '"3 6 5 SLEEP, for now"',
    }),
  },
  {
    ...{ what: 'rows of a trainer, scored', path: SCORE, most: 16 },
    body: columns({ seeds: seed, action_histories: history, completions: answer }),
  },
  {
    ...{ what: 'rows of 7 bytes, all at fault', path: SCORE, most: 1 },
    body: columns({ seeds: () => '-1', action_histories: () => '0', actions: () => '0' }),
  },
  {
    ...{ what: 'rows of many keys, all at fault', path: SCORE, most: 16 },
    body: columns({ seeds: () => '1', action_histories: () => '[]', actions: () => `{${keysOf(2000)}}` }),
  },
  {
    ...{ what: 'rows of nested lists, all at fault', path: SCORE, most: 16 },
    body: columns({ seeds: () => '1', action_histories: () => '[]', actions: () => deep(4000) }),
  },
  {
    ...{ what: 'texts of a MiB, scored', path: SCORE, most: 16 },
    body: columns({
      seeds: seed,
      action_histories: history,
      completions: () => `"${'x'.repeat(MIB - 100)}"`,
    }),
  },
  {
    ...{ what: 'long numbers, one column short', path: SCORE, most: 16 },
    body: (mebibytes) =>
      filled(
        '{"actions":[0],"action_histories":[[]],"seeds":[',
        '1234567890.12345678901234567890e-10,',
        ']}',
        mebibytes,
      ),
  },
  {
    ...{ what: '131,072 prompts, no histories', path: PROMPTS, most: 0.6 },
    body: columns({ seeds: () => '1', action_histories: () => '[]' }),
  },
  {
    ...{ what: 'prompts after full histories', path: PROMPTS, most: 16 },
    body: columns({ seeds: seed, action_histories: longHistory }),
  },
  {
    ...{ what: 'rows of many keys, the last at fault', path: PROMPTS, most: 16 },
    body: columns({ seeds: () => '1', action_histories: () => `[{${keysOf(2000)}}]` }),
  },
  {
    ...{ what: '16,384 rollouts', path: ROLLOUT, most: 0 },
    body: () => Buffer.from('{"seeds":[1],"group_size":16384,"policy":"heuristic"}'),
  },
  {
    ...{ what: '16,384 rollouts, all arrays', path: ROLLOUT, most: 0 },
    body: () =>
      Buffer.from(
        '{"seeds":[1],"group_size":16384,"policy":"random","arrays":["observations","beliefs","actions","rewards","returns","state_hashes"]}',
      ),
  },
  {
    ...{ what: '16,384 groups of one', path: ROLLOUT, most: 0 },
    body: () =>
      Buffer.from(
        `{"group_size":1,"policy":"heuristic","seeds":[${Array.from({ length: 16384 }, (_, k) => k)}]}`,
      ),
  },
  {
    ...{ what: 'rollouts of sequences', path: ROLLOUT, most: 0 },
    body: () =>
      Buffer.from(
        `{"seeds":[1],"group_size":16384,"policy":"action_sequences","belief":[0.1,0.2,0.3],"action_sequences":[${Array.from({ length: 16384 }, (_, k) => actionSequence(k))}]}`,
      ),
  },
];

const text = (path: string, what: string, message: Shape['body'], before?: readonly string[]): Shape => ({
  ...{ what, path, before, body: message, most: LIMITS.message },
});

/** Messages of more values than a message may have, and of few long ones. */
const messages: readonly Shape[] = ['/ws', '/v1/vec'].flatMap((path) => [
  text(
    path,
    'many keys',
    fills('{"type":"reset","data":{', (k) => `"k${k}":1,`, '}}'),
  ),
  text(
    path,
    'integers as keys',
    fills('{"type":"reset","data":{', (k) => `"${k}":1,`, '}}'),
  ),
  text(path, '2,000 long keys', (mebibytes) => {
    const key = 'k'.repeat(Math.max((mebibytes * MIB) / 2000 - 12, 1));
    const keys = Array.from({ length: 2000 }, (_, k) => `"${key}${k}":1`);
    return Buffer.from(`{"type":"reset","data":{${keys.join()}}}`);
  }),
  text(path, 'nested lists', (mebibytes) =>
    Buffer.from(`{"type":"reset","data":${deep((mebibytes * MIB) / 2 - 20)}}`),
  ),
  text(path, '2,000 nested objects, blank', (mebibytes) => {
    const blank = ' '.repeat(Math.max((mebibytes * MIB) / 2000 - 8, 1));
    return Buffer.from(`{"type":"reset","data":${`{"":${blank}`.repeat(2000)}1${'}'.repeat(2000)}}`);
  }),
  text(path, 'one huge string', (mebibytes) =>
    Buffer.from(`{"type":"reset","data":{"x":"${'x'.repeat(mebibytes * MIB - 50)}"}}`),
  ),
  text(path, 'one huge string of escapes', fills('{"type":"reset","data":{"x":"', '\\u20ac', '0"}}')),
  text(path, 'a huge type', (mebibytes) => Buffer.from(`{"type":"${'x'.repeat(mebibytes * MIB - 50)}"}`)),
  text(path, 'one huge number', (mebibytes) =>
    Buffer.from(`{"type":"reset","data":{"seed":${'1'.repeat(mebibytes * MIB - 50)}}}`),
  ),
  text(path, 'a long list of numbers', fills('{"type":"reset","data":{"seed":[', '1,', ']}}')),
  text(
    path,
    'a long list of long numbers',
    fills('{"type":"step","data":{"actions":[', '0.12345678901234567890,', ']}}'),
  ),
  text(path, 'a long list of strings', fills('{"type":"reset","data":{"profiles":[', '"x",', ']}}')),
]);

const create = (numEnvs: number, outputs: readonly OutputName[] = ['rewards']): string[] => [
  JSON.stringify({ type: 'create', data: { num_envs: numEnvs, outputs } }),
  JSON.stringify({ type: 'reset', data: { seed: 1 } }),
];
/** As many as fit in a message with an action and a belief for each. */
const MANY = 131_000;
const NAMED = 100_000;
const FEWER = 16_384;
const stepOf = (numEnvs: number, name: string, list: string) => (): Buffer =>
  Buffer.from(`{"type":"step","data":{"actions":[${repeated('1', numEnvs)}],"${name}":[${list}]}}`);
const resetOf = (name: string, list: () => string) => (): Buffer =>
  Buffer.from(`{"type":"reset","data":{"seed":1,"${name}":[${list()}]}}`);

/** Lists that are invalid, or where no list belongs. */
const MISPLACED: readonly [string, string, string | ((k: number) => string), string][] = [
  ['numbers as names', '{"type":"reset","data":{"profiles":[', '1,', ']}}'],
  ['numbers as data', '{"type":"step","data":[', '1,', ']}'],
  ['numbers as a type', '{"type":[', '1,', ']}'],
  ['strings as actions', '{"type":"step","data":{"actions":[', '"",', ']}}'],
  ['numbers, the last null', '{"type":"step","data":{"actions":[', '1,', ',null]}}'],
  ['names in an unknown place', '{"type":"reset","data":{"x":{"y":[[', '"v1",', ']]}}}'],
  ['different names', '{"type":"reset","data":{"profiles":[', (k: number) => `"${k}",`, ']}}'],
  ['strings, the last invalid', '{"type":"reset","data":{"profiles":[', '"v1",', ',x]}}'],
  ['numbers, the last invalid', '{"type":"step","data":{"actions":[', '1,', ',01]}}'],
];

/** Lists for vector environments that exist, valid ones first. */
const lists: readonly Shape[] = [
  text('/v1/vec', 'actions and a mask of 131,000', stepOf(MANY, 'mask', repeated('1', MANY)), create(MANY)),
  text('/v1/vec', 'beliefs of 131,000', stepOf(MANY, 'beliefs', repeated('0', 3 * MANY)), create(MANY)),
  text(
    '/v1/vec',
    'beliefs of 16,384, long decimals',
    stepOf(FEWER, 'beliefs', repeated('0.12345678901234567', 3 * FEWER)),
    create(FEWER),
  ),
  text(
    '/v1/vec',
    'a mask of 131,000 booleans',
    resetOf('mask', () => repeated('true', MANY)),
    create(MANY),
  ),
  text(
    '/v1/vec',
    'seeds of 131,000',
    () => Buffer.from(`{"type":"reset","data":{"seed":[${repeated('123456', MANY)}]}}`),
    create(MANY),
  ),
  text(
    '/v1/vec',
    'a grader for 131,000',
    () => Buffer.from('{"type":"reset","data":{"seed":1,"graders":"v1"}}'),
    create(MANY),
  ),
  text(
    '/v1/vec',
    'graders of 131,000',
    resetOf('graders', () => repeated('"v1"', MANY)),
    create(MANY),
  ),
  text(
    '/v1/vec',
    'profiles of 100,000, sampled',
    resetOf('profiles', () => repeated('"sampled"', NAMED)),
    create(NAMED),
  ),
  text(
    '/v1/vec',
    'beliefs of 74,000, one decimal',
    stepOf(74_000, 'beliefs', repeated('0.5', 3 * 74_000)),
    create(74_000),
  ),
  text(
    '/v1/vec',
    'numbers for one environment',
    fills('{"type":"step","data":{"actions":[', '1,', ']}}'),
    create(1),
  ),
  text(
    '/v1/vec',
    'names for one environment',
    fills('{"type":"reset","data":{"profiles":[', '"x",', ']}}'),
    create(1),
  ),
  ...MISPLACED.map(([what, head, unit, tail]) =>
    text('/v1/vec', what, fills(head, unit, tail), create(MANY)),
  ),
];

/** The most environments. */
const MOST = 262_144;
const frame = (): Buffer => {
  const [actions, beliefs] = [new Uint8Array(MOST).fill(1), new Float32Array(3 * MOST).fill(0.5)];
  const arrays = Object.entries({ actions, beliefs, mask: actions });
  const shaped = arrays.map(([name, values]) => ({ name, values, shape: [values.length] }));
  return Buffer.from(encodeFrame('step', {}, shaped));
};
const frames: readonly Shape[] = [
  { ...text('/v1/vec', 'binary: 262,144 environments', frame, create(MOST)), isBinary: true },
  {
    ...text('/v1/vec', 'binary: 262,144 environments, all outputs', frame, create(MOST, OUTPUT_NAMES)),
    isBinary: true,
  },
];

export const SHAPES: readonly Shape[] = [
  ...batches,
  ...[SCORE, ROLLOUT, PROMPTS].flatMap(hostile),
  ...messages,
  ...lists,
  ...frames,
];
