/** /v1/score as JSON and as binary frames: both answers equal scoreReplay bit for bit, and name the same invalid rows. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  ACTION_NAMES,
  createWorld,
  type Grader,
  graderWeights,
  PROFILE_NAMES,
  parseCompletions,
  type ReplayScores,
  scoreReplay,
} from '../../src/index.js';
import { listText, SLICE } from '../../src/server/http/json-response.js';
import { SCORE_NAMES } from '../../src/server/v1/schemas.js';
import { float32Decimals } from '../../src/shared/float32-decimal.js';
import { camelCase } from '../../src/shared/names.js';
import { NUM_STEPS } from '../../src/world/fields.js';
import { postFrame, scoreFrame } from '../support/frames.js';
import { sendRequest, startServer } from '../support/server.js';

/** Returns a pseudorandom integer in [0, n) for each k, by multiplicative hashing. */
const pseudorandom = (k: number, n: number): number => (Math.imul(k + 1, 0x9e3779b1) >>> 8) % n;
const NAMES = ['sampled', 'discrete', ...PROFILE_NAMES];
const DIGEST = createWorld().digest;

/** Returns pseudorandom columns. Some rows have no action, no belief or no earlier beliefs. */
function columnsOf(rows: number) {
  const index = Array.from({ length: rows }, (_, i) => i);
  const beliefsOf = (length: number, isGiven: (belief: number) => boolean) =>
    Float32Array.from({ length: 3 * length }, (_, k) =>
      isGiven(Math.floor(k / 3)) ? pseudorandom(k, 101) / 100 : Number.NaN,
    );
  return {
    seeds: Uint32Array.from(index, (i) => 0xffff_0000 + pseudorandom(i, 60_000)),
    stepIndices: Uint8Array.from(index, (i) => i % NUM_STEPS),
    histories: Uint8Array.from({ length: rows * NUM_STEPS }, (_, k) => pseudorandom(k, 10)),
    actions: Int8Array.from(index, (i) => (i % 7 === 0 ? -1 : i % 10)),
    beliefs: beliefsOf(rows, (row) => row % 5 > 0),
    beliefHistories: beliefsOf(rows * NUM_STEPS, (k) => k % 3 > 0 && Math.floor(k / NUM_STEPS) % 3 > 0),
  };
}
type Columns = ReturnType<typeof columnsOf>;
type States = Pick<Columns, 'seeds' | 'stepIndices' | 'histories'>;

/** Makes four of the last five rows invalid. */
function spoil({ stepIndices, histories, actions, beliefs }: Columns): void {
  const rows = actions.length;
  stepIndices[rows - 5] = NUM_STEPS;
  stepIndices[rows - 4] = 3;
  histories[(rows - 4) * NUM_STEPS] = 77;
  actions[rows - 3] = 10;
  // Three NaN are no belief, but one NaN is invalid.
  beliefs.set([0.5, Number.NaN, 0.5], 3 * (rows - 2));
}

const stateFrames = ({ seeds, stepIndices, histories }: States) => ({
  seeds,
  step_indices: stepIndices,
  histories: [histories, [seeds.length, NUM_STEPS]] as const,
});
const framesOf = ({ actions, beliefs, beliefHistories, ...states }: Columns) => ({
  ...stateFrames(states),
  actions,
  beliefs: [beliefs, [actions.length, 3]] as const,
  belief_histories: [beliefHistories, [actions.length, NUM_STEPS, 3]] as const,
});

const pastsOf = ({ stepIndices, histories }: Omit<States, 'seeds'>) =>
  Array.from(stepIndices, (steps, i) => [...histories.subarray(i * NUM_STEPS, i * NUM_STEPS + steps)]);

/** Returns the columns of a JSON request, in which an action is a name or a code. */
function jsonOf({ seeds, stepIndices, histories, actions, beliefs, beliefHistories }: Columns) {
  const beliefAt = (values: Float32Array, k: number) => {
    const belief = float32Decimals(values.subarray(3 * k, 3 * k + 3));
    return belief.every(Number.isNaN) ? null : belief;
  };
  const pastBeliefs = (i: number) =>
    // As many beliefs as actions, or one for every step of an episode, of which the last ones are ignored.
    Array.from({ length: i % 3 === 1 ? stepIndices[i] : NUM_STEPS }, (_, t) =>
      beliefAt(beliefHistories, i * NUM_STEPS + t),
    );
  return {
    seeds: [...seeds],
    action_histories: pastsOf({ stepIndices, histories }),
    actions: Array.from(actions, (code, i) =>
      code < 0 ? null : i % 2 ? code : (ACTION_NAMES[code] ?? code),
    ),
    beliefs: Array.from(seeds, (_, i) => beliefAt(beliefs, i)),
    belief_histories: Array.from(seeds, (_, i) => (i % 3 === 0 ? null : pastBeliefs(i))),
  };
}

const scoresOf = ({ rewards, stepRewards, beliefMae, stateHashes }: ReplayScores) => ({
  format_valid: rewards.formatValid,
  action_legal: rewards.actionLegal,
  env_reward: rewards.envReward,
  belief_accuracy: rewards.beliefAccuracy,
  belief_skill: rewards.beliefSkill,
  total: rewards.total,
  step_reward: stepRewards,
  belief_mae: beliefMae,
  state_hash: stateHashes,
});

/** Returns values as JSON has them: null for NaN, and hexadecimal hashes. */
const jsonValues = (values: Float32Array | BigUint64Array): unknown[] =>
  values instanceof BigUint64Array
    ? Array.from(values, (hash) => hash.toString(16).padStart(16, '0'))
    : float32Decimals(values).map((value) => (Number.isNaN(value) ? null : value));
const jsonScores = (scores: ReturnType<typeof scoresOf>) =>
  Object.fromEntries(Object.entries(scores).map(([name, values]) => [name, jsonValues(values)]));

interface Options {
  readonly grader?: string | Grader;
  readonly weights?: Readonly<Record<string, number>>;
  readonly shaping?: Readonly<Record<string, boolean>>;
}
const WEIGHTS = { format_valid: 0.3, action_legal: -2, env_reward: 1.7, belief_accuracy: 5 };
const SIX = { progress: 0.1, connection: 0.1, adaptation: 0.1, efficiency: 0.1, belief_accuracy: 0.1 };

it.each<[rows: number, options: Options]>([
  [0, {}],
  [5, { grader: 'v1' }],
  [9000, { weights: WEIGHTS, shaping: { repetition: true, exploration: true } }],
  [1500, { grader: 'v3' }],
  [1500, { grader: 'v3', weights: { belief_skill: -3 } }],
  [1500, { weights: { belief_skill: 0.5 }, shaping: { repetition: true } }],
  [1500, { grader: { name: 'own', weights: { ...SIX, crash_free: 0.5 } } }],
  [
    1500,
    { grader: { name: 'own', weights: { ...SIX, crash_free: 0.3, wellbeing: 0.1, belief_skill: 0.1 } } },
  ],
])('scores %i rows as scoreReplay does, with %j', async (rows, options) => {
  const server = await startServer();
  const columns = columnsOf(rows);
  if (rows > 1000) spoil(columns);
  const profiles = Uint8Array.from(columns.seeds, (_, i) => i % NAMES.length);
  const names = Array.from(profiles, (code) => NAMES[code]);
  const { grader = 'v2', weights = {}, shaping } = options;
  const byName = Object.entries(weights).map(([name, weight]) => [camelCase(name), weight]);
  const { faults, ...replay } = scoreReplay(
    { ...columns, profiles: names },
    {
      grader: typeof grader === 'string' ? grader : graderWeights(grader),
      weights: Object.fromEntries(byName),
      shaping,
    },
  );
  const scores = scoresOf({ faults, ...replay });
  expect(faults).toHaveLength(rows > 1000 ? 4 : 0);

  const frame = await postFrame(
    server,
    scoreFrame({ ...framesOf(columns), profiles }, { ...options, profiles: NAMES }),
  );
  expect(frame.arrays).toEqual(scores);
  // The library's messages have the names of its own arrays.
  const named = faults.map(({ index, code, message }) => ({
    ...{ index, code },
    message: message.replaceAll('stepIndices', 'step_indices'),
  }));
  expect(frame.data).toEqual({ rows, world_digest: DIGEST, faults: named, fault_count: faults.length });
  expect(frame.headers.get('content-type')).toBe('application/octet-stream');

  const request = { ...jsonOf(columns), profile_modes: names, ...options };
  const { body } = await sendRequest(server, 'POST', '/v1/score', request);
  const expected = jsonScores(scores);
  expect(body).toMatchObject({ rows, world_digest: DIGEST, scores: expected });
  const indices = faults.map(({ index }) => index);
  expect(body.faults.map(({ index }: { index: number }) => index)).toEqual(indices);
  for (const name of ['total', 'belief_skill']) {
    const alone = await sendRequest(server, 'POST', '/v1/score', { ...request, scores: [name] });
    expect(alone.body.scores).toEqual({ [name]: expected[name] });
  }
});

it.each([undefined, 'closed', 'open'] as const)(
  'scores and parses completions as the library does, and /v1/parse parses them, thought: %s',
  async (thought) => {
    const server = await startServer();
    const others = [
      '1 2 3',
      'no answer',
      '',
      '<think>\nSLEEP\nwould',
      'hm\n1 2 3 SLEEP\n</think>1 2 3 LEARN',
    ];
    const texts = Array.from({ length: 4200 }, (_, i) => {
      const answer = `${i % 10} ${(i + 3) % 10} ${(i + 7) % 10} ${ACTION_NAMES[i % 10].toUpperCase()}`;
      return ['<reasoning>größer</reasoning>\n', '', '<reasoning>cut off '][i % 3] + answer;
    }).concat(others);
    const rows = texts.length;
    const { seeds, stepIndices, histories } = columnsOf(rows);
    const states = { seeds, stepIndices, histories };
    const profiles = 'discrete';
    const scores = scoresOf(
      scoreReplay({ ...states, profiles: Array(rows).fill(profiles), completions: texts }, { thought }),
    );
    const { actions, beliefs, given } = parseCompletions(texts, { thought });
    const stated = beliefs.map((value, k) => (given[Math.floor(k / 3)] ? value : Number.NaN));
    const parsed = {
      actions: Array.from(actions, (code) => ACTION_NAMES[code] ?? null),
      codes: [...actions],
      beliefs: texts.map((_, i) => (given[i] ? float32Decimals(beliefs.subarray(3 * i, 3 * i + 3)) : null)),
    };

    let end = 0;
    const ends = Uint32Array.from(texts, (text) => {
      end += Buffer.byteLength(text);
      return end;
    });
    const frame = await postFrame(
      server,
      scoreFrame(
        {
          ...stateFrames(states),
          completions: new Uint8Array(Buffer.from(texts.join(''))),
          completion_ends: ends,
        },
        { profiles, parsed: true, thought },
      ),
    );
    expect(frame.arrays).toEqual({ ...scores, actions, beliefs: stated });

    const columns = { seeds: [...seeds], action_histories: pastsOf(states), profile_modes: profiles };
    const request = { ...columns, completions: texts, thought };
    const { body } = await sendRequest(server, 'POST', '/v1/score', { ...request, parsed: true });
    const answer = { rows, world_digest: DIGEST, scores: jsonScores(scores), faults: [] };
    expect(body).toEqual({ ...answer, parsed });
    expect((await sendRequest(server, 'POST', '/v1/score', request)).body).toEqual(answer);
    const parse = await sendRequest(server, 'POST', '/v1/parse', { completions: texts, thought });
    expect(parse.body).toEqual({ rows, world_digest: DIGEST, ...parsed });
  },
);

it('names the invalid entries of JSON columns, and scores the other rows', async () => {
  const rows = 3500;
  const columns: Record<string, unknown[]> = {
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill(['sleep']),
    actions: Array(rows).fill('learn'),
    beliefs: Array(rows).fill([0.1, 0.2, 0.3]),
    belief_histories: Array(rows).fill(null),
    profile_modes: Array(rows).fill('sampled'),
  };
  const invalid: [column: string, row: number, code: string, value: unknown, within?: string][] = [
    ['seeds', 3, 'bad_seed', -1],
    ['action_histories', 3400, 'illegal_action', ['sleep', 'slep'], '[1]'],
    ['actions', 3401, 'illegal_action', 'fly'],
    ['beliefs', 3402, 'wrong_type', [1, 2]],
    ['profile_modes', 3403, 'unknown_name', 'nobody'],
    ['action_histories', 3404, 'wrong_type', null],
    ['belief_histories', 3405, 'bad_belief', [[0, '1', 0]], '[0][1]'],
    ['belief_histories', 3406, 'wrong_type', 'none'],
    ['belief_histories', 3407, 'wrong_length', Array(29).fill(null)],
  ];
  for (const [column, row, , value] of invalid) columns[column][row] = value;
  const { body } = await sendRequest(await startServer(), 'POST', '/v1/score', columns);
  const found = body.faults.map(({ index, code }: { index: number; code: string }) => [index, code]);
  expect(found).toEqual(invalid.map(([, row, code]) => [row, code]));
  for (const [k, [column, row, , , within = '']] of invalid.entries()) {
    expect(body.faults[k].message).toContain(`${column}[${row}]${within}`);
    expect(body.scores.total[row]).toBeNull();
  }
  expect(new Set(body.scores.total).size).toBe(2);
});

it('names the rows of completions that are not text, in every slice, and parses the others', async () => {
  // Rows at the edges of a column's first slice, which has 1,024 rows (json-columns.ts), and rows of later slices.
  const faulty = [0, 63, 64, 1023, 1024, 2900];
  const rows = 3000;
  const { body } = await sendRequest(await startServer(), 'POST', '/v1/score', {
    seeds: Array(rows).fill(1),
    action_histories: Array(rows).fill([]),
    completions: Array.from({ length: rows }, (_, row) => (faulty.includes(row) ? row : '1 2 3 LEARN')),
    scores: ['total'],
    parsed: true,
  });
  const faults = body.faults.map(({ index, message }: { index: number; message: string }) => [
    index,
    message,
  ]);
  expect(faults).toEqual(
    faulty.map((row) => [row, expect.stringContaining(`a string at completions[${row}], got ${row}.`)]),
  );
  const codes = Array.from({ length: rows }, (_, row) =>
    faulty.includes(row) ? -1 : ACTION_NAMES.indexOf('learn'),
  );
  expect(body.parsed.codes).toEqual(codes);
});

it('names each of thousands of invalid rows as JSON, lists at most 1,000 in a frame, and scores the other rows', async () => {
  // As many rows as a slice of the answer has.
  const rows = SLICE;
  const isFaulty = (row: number): boolean => row % 7 === 3 || (row > 3000 && row < 7000);
  const faulty = Array.from({ length: rows }, (_, row) => row).filter(isFaulty);
  const columns = {
    ...{ seeds: new Uint32Array(rows), stepIndices: new Uint8Array(rows) },
    histories: new Uint8Array(rows * NUM_STEPS),
    actions: Int8Array.from({ length: rows }, (_, row) => (isFaulty(row) ? 99 : 3)),
  };
  const server = await startServer();
  const arrays = { ...stateFrames(columns), actions: columns.actions };
  const frame = await postFrame(server, scoreFrame(arrays, { scores: ['total'] }));
  expect([frame.data.fault_count, frame.data.faults.length]).toEqual([faulty.length, 1000]);
  const request = { seeds: [...columns.seeds], actions: [...columns.actions], scores: ['total'] };
  const { body } = await sendRequest(server, 'POST', '/v1/score', {
    ...request,
    action_histories: pastsOf(columns),
  });
  expect(body.faults.map(({ index }: { index: number }) => index)).toEqual(faulty);
  expect(body.faults.at(-1).message).toContain(`actions[${faulty.at(-1)}]`);
  for (const total of [body.scores.total, jsonValues(frame.arrays.total as Float32Array)]) {
    expect(total).toHaveLength(rows);
    expect([...total.keys()].filter((row) => total[row] === null)).toEqual(faulty);
  }
});

it('returns the requested scores in order, each once', async () => {
  const server = await startServer();
  const [frames, json] = [framesOf(columnsOf(3)), jsonOf(columnsOf(3))];
  for (const [scores, names] of [
    [
      ['total', 'state_hash', 'total'],
      ['total', 'state_hash'],
    ],
    [[], []],
    [null, SCORE_NAMES],
  ]) {
    const { body } = await sendRequest(server, 'POST', '/v1/score', { ...json, scores });
    expect(Object.keys(body.scores)).toEqual(names);
    expect(Object.keys((await postFrame(server, scoreFrame(frames, { scores }))).arrays)).toEqual(names);
  }
});

it('takes null for an optional field', async () => {
  const server = await startServer();
  const required = { seeds: [1, 2], action_histories: [[], [3]], actions: [0, 4] };
  const none = { beliefs: null, belief_histories: null, completions: null, profile_modes: null };
  const settings = { grader: null, weights: null, shaping: null, scores: null, parsed: null, thought: null };
  const plain = await sendRequest(server, 'POST', '/v1/score', required);
  expect(plain.status).toBe(200);
  const withNull = await sendRequest(server, 'POST', '/v1/score', { ...required, ...none, ...settings });
  expect(withNull).toEqual(plain);
});

it('every float32 keeps its bits in JSON, and NaN and infinities become null', () => {
  const bits = fc.array(fc.nat(2 ** 32 - 1));
  fc.assert(
    fc.property(bits, (words) => {
      const values = new Float32Array(Uint32Array.from(words).buffer);
      const read = JSON.parse(listText(values)) as (number | null)[];
      const finite = Array.from(values, (value) => (Number.isFinite(value) ? value : null));
      expect(read.map((value) => (value === null ? null : Math.fround(value)))).toEqual(finite);
    }),
  );
  expect(listText(Float32Array.of(-0, 0))).toBe('[-0.0,0]');
});
