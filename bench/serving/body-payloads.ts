/** Request bodies for /v1/score, /v1/rollout and /v1/prompts: valid, invalid and hostile bodies. */

import { ACTION_NAMES } from '../../dist/index.js';
import { NUM_STEPS } from '../../dist/world/fields.js';
import { columns, deep, filled, fills, keysOf, LIMITS, MIB, type Payload } from './payload.js';

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
const beliefs = (row: number, length: number): string =>
  `[${Array.from({ length }, (_, t) => `[${(row + t) % 10},0.5,0.${t % 10}25]`).join()}]`;
const seed = (row: number): string => String(1000 + (row % 9000));
const answer = (row: number): string =>
  JSON.stringify(
    `<reasoning>${'Rest comes first. '.repeat(5)}</reasoning>\n3 6 5 ${ACTION_NAMES[row % 10].toUpperCase()}`,
  );

/** Returns hostile bodies for a route of /v1: bodies that are costly to parse and that no ordinary client sends. */
const hostile = (path: string): Payload[] => {
  const payloads: [string, Payload['body'], number][] = [
    ['an object of many keys', fills('{', (k) => `"k${k}":1,`, '}'), LIMITS.body],
    // V8 stores integer keys apart from other keys.
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
  return payloads.map(([what, body, maxMib]) => ({ what, path, body, maxMib }));
};

const SCORE = '/v1/score';
const ROLLOUT = '/v1/rollout';
const PROMPTS = '/v1/prompts';

/** Valid requests, requests with invalid rows, and a request whose columns have different lengths. */
const batches: readonly Payload[] = [
  {
    what: 'rows of 7 bytes, scored',
    path: SCORE,
    maxMib: 7,
    body: columns({ seeds: () => '1', action_histories: () => '[]', actions: () => '0' }),
  },
  {
    what: 'rows of 40 bytes, scored',
    path: SCORE,
    maxMib: 16,
    body: columns({
      seeds: seed,
      action_histories: () => '[1,2,3,4,5]',
      completions: () => '"3 6 5 SLEEP, for now"',
    }),
  },
  {
    what: 'rows of a trainer, scored',
    path: SCORE,
    maxMib: 16,
    body: columns({ seeds: seed, action_histories: history, completions: answer }),
  },
  {
    what: 'last steps with belief histories, scored',
    path: SCORE,
    maxMib: 16,
    body: columns({
      seeds: seed,
      action_histories: longHistory,
      completions: answer,
      belief_histories: (row) => beliefs(row, NUM_STEPS - 1),
    }),
  },
  {
    what: 'belief histories with a single null, scored',
    path: SCORE,
    maxMib: 14,
    body: columns({
      seeds: () => '1',
      action_histories: () => '[0]',
      actions: () => '0',
      belief_histories: () => '[null]',
    }),
  },
  {
    what: 'belief histories of nested lists, all rows invalid',
    path: SCORE,
    maxMib: 16,
    body: columns({
      seeds: () => '1',
      action_histories: () => '[]',
      actions: () => '0',
      belief_histories: () => `[${deep(4000)}]`,
    }),
  },
  {
    what: 'rows of 7 bytes, all invalid',
    path: SCORE,
    maxMib: 1,
    body: columns({ seeds: () => '-1', action_histories: () => '0', actions: () => '0' }),
  },
  {
    what: 'rows of many keys, all invalid',
    path: SCORE,
    maxMib: 16,
    body: columns({ seeds: () => '1', action_histories: () => '[]', actions: () => `{${keysOf(2000)}}` }),
  },
  {
    what: 'rows of nested lists, all invalid',
    path: SCORE,
    maxMib: 16,
    body: columns({ seeds: () => '1', action_histories: () => '[]', actions: () => deep(4000) }),
  },
  {
    what: 'completions of one MiB, scored',
    path: SCORE,
    maxMib: 16,
    body: columns({
      seeds: seed,
      action_histories: history,
      completions: () => `"${'x'.repeat(MIB - 100)}"`,
    }),
  },
  {
    what: 'long numbers in one column, other columns too short',
    path: SCORE,
    maxMib: 16,
    body: (mebibytes) =>
      filled(
        '{"actions":[0],"action_histories":[[]],"seeds":[',
        '1234567890.12345678901234567890e-10,',
        ']}',
        mebibytes,
      ),
  },
  {
    what: '125,829 prompts, empty histories',
    path: PROMPTS,
    maxMib: 0.6,
    body: columns({ seeds: () => '1', action_histories: () => '[]' }),
  },
  {
    what: 'prompts after full histories',
    path: PROMPTS,
    maxMib: 16,
    body: columns({ seeds: seed, action_histories: longHistory }),
  },
  {
    what: 'histories of objects with many keys',
    path: PROMPTS,
    maxMib: 16,
    body: columns({ seeds: () => '1', action_histories: () => `[{${keysOf(2000)}}]` }),
  },
  {
    what: '16,384 rollouts',
    path: ROLLOUT,
    // This body and the following ones have a fixed size.
    maxMib: 0,
    body: () => Buffer.from('{"seeds":[1],"group_size":16384,"policy":"heuristic"}'),
  },
  {
    what: '16,384 rollouts, all arrays',
    path: ROLLOUT,
    maxMib: 0,
    body: () =>
      Buffer.from(
        '{"seeds":[1],"group_size":16384,"policy":"random","arrays":["observations","beliefs","actions","rewards","returns","state_hashes"]}',
      ),
  },
  {
    what: '16,384 groups of one rollout',
    path: ROLLOUT,
    maxMib: 0,
    body: () =>
      Buffer.from(
        `{"group_size":1,"policy":"heuristic","seeds":[${Array.from({ length: 16384 }, (_, k) => k)}]}`,
      ),
  },
  {
    what: '16,384 rollouts of action sequences',
    path: ROLLOUT,
    maxMib: 0,
    body: () =>
      Buffer.from(
        `{"seeds":[1],"group_size":16384,"policy":"action_sequences","belief":[0.1,0.2,0.3],"action_sequences":[${Array.from({ length: 16384 }, (_, k) => actionSequence(k))}]}`,
      ),
  },
];

export const BODIES: readonly Payload[] = [...batches, ...[SCORE, ROLLOUT, PROMPTS].flatMap(hostile)];
