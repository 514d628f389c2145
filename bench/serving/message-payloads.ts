/** Messages to the WebSocket routes: valid messages, invalid messages, and hostile messages that are costly to parse. */

import { encodeFrame } from '../../dist/server/vec/frame.js';
import { OUTPUT_NAMES, type OutputName } from '../../dist/server/vec/vec-messages.js';
import { deep, fills, LIMITS, MIB, type Payload, repeated } from './payload.js';

/** Returns the payload of a WebSocket route. */
const message = (path: string, what: string, body: Payload['body'], before?: readonly string[]): Payload => ({
  what,
  path,
  before,
  body,
  maxMib: LIMITS.message,
});

/**
 * Hostile messages: with too many values, or with few but long values. Numbers that are subtracted from a size, such as 50,
 * leave room for the rest of the message.
 */
const messages: readonly Payload[] = ['/ws', '/v1/vec'].flatMap((path) => [
  message(
    path,
    'many keys',
    fills('{"type":"reset","data":{', (k) => `"k${k}":1,`, '}}'),
  ),
  message(
    path,
    'integers as keys',
    fills('{"type":"reset","data":{', (k) => `"${k}":1,`, '}}'),
  ),
  message(path, '2,000 long keys', (mebibytes) => {
    const key = 'k'.repeat(Math.max((mebibytes * MIB) / 2000 - 12, 1));
    const keys = Array.from({ length: 2000 }, (_, k) => `"${key}${k}":1`);
    return Buffer.from(`{"type":"reset","data":{${keys.join()}}}`);
  }),
  message(path, 'nested lists', (mebibytes) =>
    Buffer.from(`{"type":"reset","data":${deep((mebibytes * MIB) / 2 - 20)}}`),
  ),
  message(path, '2,000 nested objects with long whitespace', (mebibytes) => {
    const blank = ' '.repeat(Math.max((mebibytes * MIB) / 2000 - 8, 1));
    return Buffer.from(`{"type":"reset","data":${`{"":${blank}`.repeat(2000)}1${'}'.repeat(2000)}}`);
  }),
  message(path, 'one huge string', (mebibytes) =>
    Buffer.from(`{"type":"reset","data":{"x":"${'x'.repeat(mebibytes * MIB - 50)}"}}`),
  ),
  // The tail begins with the last `c`, because `fills` leaves out the last character before the tail.
  message(path, 'one huge string of escapes', fills('{"type":"reset","data":{"x":"', '\\u20ac', 'c"}}')),
  message(path, 'a huge type', (mebibytes) => Buffer.from(`{"type":"${'x'.repeat(mebibytes * MIB - 50)}"}`)),
  message(path, 'one huge number', (mebibytes) =>
    Buffer.from(`{"type":"reset","data":{"seed":${'1'.repeat(mebibytes * MIB - 50)}}}`),
  ),
  message(path, 'a long list of numbers', fills('{"type":"reset","data":{"seed":[', '1,', ']}}')),
  message(
    path,
    'a long list of long numbers',
    fills('{"type":"step","data":{"actions":[', '0.12345678901234567890,', ']}}'),
  ),
  message(path, 'a long list of strings', fills('{"type":"reset","data":{"profiles":[', '"x",', ']}}')),
]);

const create = (numEnvs: number, outputs: readonly OutputName[] = ['rewards']): string[] => [
  JSON.stringify({ type: 'create', data: { num_envs: numEnvs, outputs } }),
  JSON.stringify({ type: 'reset', data: { seed: 1 } }),
];
/** Numbers of environments whose lists fill a message: lists of digits, of names, and of long decimals. */
const DIGIT_ENVS = 131_000;
const NAME_ENVS = 100_000;
const DECIMAL_ENVS = 16_384;
const stepOf = (numEnvs: number, name: string, list: string) => (): Buffer =>
  Buffer.from(`{"type":"step","data":{"actions":[${repeated('1', numEnvs)}],"${name}":[${list}]}}`);
const resetOf = (name: string, list: () => string) => (): Buffer =>
  Buffer.from(`{"type":"reset","data":{"seed":1,"${name}":[${list()}]}}`);

/** Invalid lists, and lists in places where no list is allowed. */
const MISPLACED: readonly [
  what: string,
  head: string,
  unit: string | ((k: number) => string),
  tail: string,
][] = [
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

/** Messages to vector environments, most of them with lists. Valid messages are first. */
const lists: readonly Payload[] = [
  message(
    '/v1/vec',
    'actions and a mask for 131,000 environments',
    stepOf(DIGIT_ENVS, 'mask', repeated('1', DIGIT_ENVS)),
    create(DIGIT_ENVS),
  ),
  message(
    '/v1/vec',
    'beliefs for 131,000 environments',
    stepOf(DIGIT_ENVS, 'beliefs', repeated('0', 3 * DIGIT_ENVS)),
    create(DIGIT_ENVS),
  ),
  message(
    '/v1/vec',
    'beliefs for 16,384 environments, long decimals',
    stepOf(DECIMAL_ENVS, 'beliefs', repeated('0.12345678901234567', 3 * DECIMAL_ENVS)),
    create(DECIMAL_ENVS),
  ),
  message(
    '/v1/vec',
    'a mask for 131,000 environments, booleans',
    resetOf('mask', () => repeated('true', DIGIT_ENVS)),
    create(DIGIT_ENVS),
  ),
  message(
    '/v1/vec',
    'seeds for 131,000 environments',
    () => Buffer.from(`{"type":"reset","data":{"seed":[${repeated('123456', DIGIT_ENVS)}]}}`),
    create(DIGIT_ENVS),
  ),
  message(
    '/v1/vec',
    'one grader for 131,000 environments',
    () => Buffer.from('{"type":"reset","data":{"seed":1,"graders":"v1"}}'),
    create(DIGIT_ENVS),
  ),
  message(
    '/v1/vec',
    'graders for 131,000 environments',
    resetOf('graders', () => repeated('"v1"', DIGIT_ENVS)),
    create(DIGIT_ENVS),
  ),
  message(
    '/v1/vec',
    'sampled profiles for 100,000 environments',
    resetOf('profiles', () => repeated('"sampled"', NAME_ENVS)),
    create(NAME_ENVS),
  ),
  message(
    '/v1/vec',
    'beliefs for 74,000 environments, one decimal',
    stepOf(74_000, 'beliefs', repeated('0.5', 3 * 74_000)),
    create(74_000),
  ),
  message(
    '/v1/vec',
    'many numbers for one environment',
    fills('{"type":"step","data":{"actions":[', '1,', ']}}'),
    create(1),
  ),
  message(
    '/v1/vec',
    'many names for one environment',
    fills('{"type":"reset","data":{"profiles":[', '"x",', ']}}'),
    create(1),
  ),
  ...MISPLACED.map(([what, head, unit, tail]) =>
    message('/v1/vec', what, fills(head, unit, tail), create(DIGIT_ENVS)),
  ),
];

/** The default of the server's option `vecEnvs`, the maximum number of environments. */
const DEFAULT_VEC_ENVS = 262_144;
const frame = (): Buffer => {
  const [actions, beliefs] = [
    new Uint8Array(DEFAULT_VEC_ENVS).fill(1),
    new Float32Array(3 * DEFAULT_VEC_ENVS).fill(0.5),
  ];
  const arrays = Object.entries({ actions, beliefs, mask: actions });
  const shaped = arrays.map(([name, values]) => ({ name, values, shape: [values.length] }));
  return Buffer.from(encodeFrame('step', {}, shaped));
};
const frames: readonly Payload[] = [
  { ...message('/v1/vec', 'binary: 262,144 environments', frame, create(DEFAULT_VEC_ENVS)), isBinary: true },
  {
    ...message(
      '/v1/vec',
      'binary: 262,144 environments, all outputs',
      frame,
      create(DEFAULT_VEC_ENVS, OUTPUT_NAMES),
    ),
    isBinary: true,
  },
];

export const MESSAGES: readonly Payload[] = [...messages, ...lists, ...frames];
