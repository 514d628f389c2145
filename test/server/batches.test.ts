/** Compares the answers of /v1, computed and written in slices of rows, with results of the library functions, bit for bit. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  ACTION_NAMES,
  createVecEnv,
  createWorld,
  graderWeights,
  loadStudent,
  parseCompletions,
  prompts,
  type ReplayRow,
  rolloutGroups,
  scoreReplay,
} from '../../src/index.js';
import { listText } from '../../src/server/protocol/number-text.js';
import { SLICE } from '../../src/server/v1/array-text.js';
import { float32Decimal, float32Decimals } from '../../src/shared/float32-decimal.js';
import { NUM_COMPONENTS } from '../../src/world/fields.js';
import { sendRequest, startServer } from '../support/server.js';

/** Returns a pseudorandom integer in [0, n) for each k, by multiplicative hashing. */
const pseudorandom = (k: number, n: number): number => (Math.imul(k + 1, 0x9e3779b1) >>> 8) % n;
/** The number of rows: more than two slices of /v1/score, /v1/prompts and /v1/parse. */
const ROWS = 4200;
const seeds = Array.from({ length: ROWS }, (_, i) => pseudorandom(i, 9000));
const histories = seeds.map((_, i) =>
  Array.from({ length: pseudorandom(i + 5, 28) }, (_, t) => ACTION_NAMES[pseudorandom(i + 31 * t, 10)]),
);
const modes = seeds.map((_, i) => ['sampled', 'discrete', 'introvert_morning'][i % 3]);
const completions = seeds.map((_, i) => {
  const answer = `${i % 10} ${(i + 3) % 10} ${(i + 7) % 10} ${ACTION_NAMES[i % 10].toUpperCase()}`;
  return ['<reasoning>x</reasoning>\n', '', '<reasoning>cut off '][i % 3] + answer;
});

const bitsOf = (values: Iterable<number>): number[] =>
  Array.from(new Uint32Array(Float32Array.from(values).buffer));
/** Returns values as JSON has them, with null for NaN. */
const orNull = (values: ArrayLike<number>) =>
  float32Decimals(values).map((value) => (Number.isNaN(value) ? null : value));

it('/v1/score scores completions as scoreReplay does', async () => {
  const server = await startServer();
  const { status, body } = await sendRequest(server, 'POST', '/v1/score', {
    seeds,
    action_histories: histories,
    profile_modes: modes,
    completions,
    grader: 'v1',
    weights: { env_reward: 2 },
    shaping: { repetition: true },
  });
  const { actions, beliefs, given } = parseCompletions(completions);
  const rows = seeds.map(
    (seed, i): ReplayRow => ({
      seed,
      profileMode: modes[i],
      actionHistory: histories[i],
      action: actions[i] < 0 ? null : actions[i],
      belief: given[i] ? beliefs.subarray(3 * i, 3 * i + 3) : null,
    }),
  );
  const scores = scoreReplay(rows, {
    grader: 'v1',
    weights: { envReward: 2 },
    shaping: { repetition: true },
  });
  expect(status).toBe(200);
  expect(body.faults).toEqual([]);
  expect(body.scores).toEqual({
    format_valid: orNull(scores.rewards.formatValid),
    action_legal: orNull(scores.rewards.actionLegal),
    env_reward: orNull(scores.rewards.envReward),
    belief_accuracy: orNull(scores.rewards.beliefAccuracy),
    belief_skill: orNull(scores.rewards.beliefSkill),
    total: orNull(scores.rewards.total),
    step_reward: orNull(scores.stepRewards),
    belief_mae: orNull(scores.beliefMae),
    state_hash: Array.from(scores.stateHashes, (hash) => hash.toString(16).padStart(16, '0')),
  });
  expect(bitsOf(body.scores.total)).toEqual(bitsOf(scores.rewards.total));
});

it('/v1/score accepts actions and beliefs, and names the columns of invalid rows', async () => {
  const server = await startServer();
  const n = 3500;
  const columns = {
    seeds: seeds.slice(0, n) as unknown[],
    action_histories: histories.slice(0, n) as unknown[],
    actions: seeds.slice(0, n).map((_, i) => (i % 7 === 0 ? null : ACTION_NAMES[i % 10])) as unknown[],
    beliefs: seeds.slice(0, n).map((_, i) => (i % 2 === 0 ? null : [0.1, 0.2, 0.3])) as unknown[],
    belief_histories: Array<unknown>(n).fill(null),
    profile_modes: Array<unknown>(n).fill('sampled'),
  };
  columns.seeds[3] = -1;
  columns.action_histories[3400] = ['sleep', 'slep'];
  columns.actions[3401] = 'fly';
  columns.beliefs[3402] = [1, 2];
  columns.profile_modes[3403] = 'nobody';
  columns.action_histories[3404] = null;
  // The first belief has a text instead of a number.
  columns.belief_histories[3405] = Array(28).fill([0, 0, 0]).fill([0, '1', 0], 0, 1);
  columns.belief_histories[3406] = 'none';
  columns.belief_histories[3407] = Array(29).fill(null);
  columns.action_histories[3405] = ['sleep'];
  const { status, body } = await sendRequest(server, 'POST', '/v1/score', columns);
  expect(status).toBe(200);
  expect(body.faults.map(({ index, code }: never) => [index, code])).toEqual([
    [3, 'bad_seed'],
    [3400, 'illegal_action'],
    [3401, 'illegal_action'],
    [3402, 'wrong_type'],
    [3403, 'unknown_name'],
    [3404, 'wrong_type'],
    [3405, 'bad_belief'],
    [3406, 'wrong_type'],
    [3407, 'wrong_length'],
  ]);
  const columnNames = [
    'seeds[3]',
    'action_histories[3400][1]',
    'actions[3401]',
    'beliefs[3402]',
    'profile_modes[3403]',
    'action_histories[3404]',
    'belief_histories[3405][0][1]',
    'belief_histories[3406]',
    'belief_histories[3407]',
  ];
  for (const [k, columnName] of columnNames.entries()) expect(body.faults[k].message).toContain(columnName);
  expect(body.scores.total[3401]).toBeNull();
  expect(body.scores.total[5]).toBe(
    float32Decimal(
      scoreReplay([
        { seed: seeds[5], actionHistory: histories[5], action: ACTION_NAMES[5], belief: [0.1, 0.2, 0.3] },
      ]).rewards.total[0],
    ),
  );
});

it('/v1/score scores last steps with their belief histories, from actions or completions', async () => {
  const server = await startServer();
  const n = 3000;
  const beliefs = (length: number, i: number) =>
    Array.from({ length }, (_, t) => ((i + t) % 5 === 0 ? null : [0.1 * ((i + t) % 10), 0.5, 0.25]));
  const columns = {
    seeds: seeds.slice(0, n),
    action_histories: seeds
      .slice(0, n)
      .map((_, i) => histories[i].concat(Array(27).fill('sleep')).slice(0, 27)),
    // No beliefs, 27 (as many as actions), or 28, of which the last is ignored.
    belief_histories: seeds.slice(0, n).map((_, i) => (i % 3 === 0 ? null : beliefs(26 + (i % 3), i))),
    grader: 'v3',
  };
  const [action, belief] = ['learn', [0.25, 0.5, 1]];
  const rows = columns.seeds.map((seed, i): ReplayRow => {
    const beliefHistory = columns.belief_histories[i]?.slice(0, 27);
    return { seed, actionHistory: columns.action_histories[i], beliefHistory, action, belief };
  });
  const { rewards, beliefSkill } = scoreReplay(rows, { grader: 'v3' });
  const stated = { actions: Array(n).fill(action), beliefs: Array(n).fill(belief) };
  const { body } = await sendRequest(server, 'POST', '/v1/score', { ...columns, ...stated });
  expect(body.faults).toEqual([]);
  expect(body.scores.belief_skill).toEqual(float32Decimals(beliefSkill));
  expect(body.scores.env_reward).toEqual(float32Decimals(rewards.envReward));
  expect(body.scores.total).toEqual(float32Decimals(rewards.total));

  const completions = Array(n).fill('0 9 0 SLEEP');
  const parsed = scoreReplay(
    rows.map((row) => ({ ...row, action: 'sleep', belief: [0, 1, 0] })),
    { grader: 'v3' },
  );
  const answer = await sendRequest(server, 'POST', '/v1/score', {
    ...columns,
    completions,
    scores: ['total'],
  });
  expect(answer.body.scores).toEqual({ total: float32Decimals(parsed.rewards.total) });
});

it.each([
  [
    'six weights by name',
    {
      crash_free: 0.5,
      progress: 0.1,
      connection: 0.1,
      adaptation: 0.1,
      efficiency: 0.1,
      belief_accuracy: 0.1,
    },
  ],
  [
    'eight weights by name',
    {
      crash_free: 0.3,
      progress: 0.1,
      connection: 0.1,
      adaptation: 0.1,
      efficiency: 0.1,
      belief_accuracy: 0.1,
      wellbeing: 0.1,
      belief_skill: 0.1,
    },
  ],
])('/v1/score and /v1/rollout accept a grader with %s', async (_, weights) => {
  const server = await startServer();
  const grader = { name: 'own', weights };
  const row = {
    seed: 5,
    actionHistory: Array<string>(27).fill('meditate'),
    action: 'sleep',
    belief: [0.5, 0.5, 0.5],
  };
  const { body } = await sendRequest(server, 'POST', '/v1/score', {
    seeds: [5],
    action_histories: [row.actionHistory],
    actions: ['sleep'],
    beliefs: [row.belief],
    grader,
  });
  const { rewards, stepRewards } = scoreReplay([row], { grader: graderWeights(grader) });
  expect([body.scores.step_reward, body.scores.total]).toEqual([
    float32Decimals(stepRewards),
    float32Decimals(rewards.total),
  ]);
  const rolloutRequest = {
    seeds: [5],
    group_size: 2,
    policy: 'random',
    grader,
    arrays: ['final_scores', 'components'],
  };
  const { arrays } = (await sendRequest(server, 'POST', '/v1/rollout', rolloutRequest)).body;
  const rollouts = await rolloutGroups({
    seeds: [5],
    groupSize: 2,
    policy: 'random',
    grader: graderWeights(grader),
  });
  expect(arrays.final_scores).toEqual(float32Decimals(rollouts.finalScores));
  expect(arrays.components).toEqual(float32Decimals(rollouts.components));
  expect(arrays.components).toHaveLength(2 * NUM_COMPONENTS);
});

it('/v1/score names the rows of completions that are not text, in every slice', async () => {
  const server = await startServer();
  // Rows at the edges of a column's first block, which has 64 rows (column.ts), and rows of later slices.
  const faulty = [0, 63, 64, 65, 200, 2900];
  const texts = Array.from({ length: 3000 }, (_, row) => (faulty.includes(row) ? row : completions[row]));
  const { body } = await sendRequest(server, 'POST', '/v1/score', {
    seeds: Array(3000).fill(1),
    action_histories: Array(3000).fill([]),
    completions: texts,
    scores: ['total'],
  });
  const messages = faulty.map(
    (row) => `Expected a string at completions[${row}], got ${row}. Pass the completion's text alone.`,
  );
  expect(body.faults.map(({ index }: { index: number }) => index)).toEqual(faulty);
  expect(body.faults.map(({ message }: { message: string }) => message)).toEqual(messages);
});

it('/v1/score and /v1/rollout accept null for an optional field', async () => {
  const server = await startServer();
  const required = { seeds: [1, 2], action_histories: [[], [3]], actions: [0, 4] };
  const none = { beliefs: null, belief_histories: null, completions: null, profile_modes: null };
  const settings = { grader: null, weights: null, shaping: null, scores: null };
  const answers = [required, { ...required, ...none, ...settings }].map(async (request) => {
    const { status, body } = await sendRequest(server, 'POST', '/v1/score', request);
    return { status, body };
  });
  const [plain, withNull] = await Promise.all(answers);
  expect(plain.status).toBe(200);
  expect(withNull).toEqual(plain);
  const rollout = { seeds: [5], group_size: 2, policy: 'random', belief: null, gamma: null, arrays: null };
  expect(await sendRequest(server, 'POST', '/v1/rollout', rollout)).toMatchObject({ status: 200 });
});

it('/v1/score returns only the requested scores, and empty columns for no rows', async () => {
  const server = await startServer();
  const empty = { seeds: [], action_histories: [], actions: [], scores: ['total', 'state_hash'] };
  const { body } = await sendRequest(server, 'POST', '/v1/score', empty);
  expect(body).toMatchObject({ rows: 0, scores: { total: [], state_hash: [] }, faults: [] });
});

const refusals: [path: string, what: string, body: unknown, detail: object][] = [
  ['/v1/score', 'no body', '', { type: 'missing', loc: ['body'] }],
  ['/v1/score', 'a body that is not an object', [], { type: 'dict_type', loc: ['body'] }],
  [
    '/v1/score',
    'a number instead of a column',
    { seeds: 1, action_histories: [] },
    { type: 'list_type', loc: ['body', 'seeds'] },
  ],
  [
    '/v1/score',
    'columns of different lengths',
    { seeds: [1], action_histories: [], actions: [0] },
    { loc: ['body', 'action_histories'], msg: expect.stringContaining('got 0') },
  ],
  [
    '/v1/score',
    'completions and actions',
    { seeds: [], action_histories: [], completions: [], actions: [] },
    { loc: ['body', 'completions'] },
  ],
  [
    '/v1/score',
    'completions and beliefs',
    { seeds: [], action_histories: [], completions: [], beliefs: [] },
    { loc: ['body', 'beliefs'] },
  ],
  [
    '/v1/score',
    'fewer belief histories than rows',
    { seeds: [1], action_histories: [[]], actions: [0], belief_histories: [] },
    { loc: ['body', 'belief_histories'], msg: expect.stringContaining('got 0') },
  ],
  [
    '/v1/score',
    'one belief history for all rows',
    { seeds: [1], action_histories: [[]], actions: [0], belief_histories: 'none' },
    { type: 'list_type', loc: ['body', 'belief_histories'] },
  ],
  [
    '/v1/score',
    'neither completions nor actions',
    { seeds: [], action_histories: [] },
    { loc: ['body', 'completions'] },
  ],
  [
    '/v1/score',
    'a misspelled key',
    { seeds: [], action_histories: [], actions: [], wieghts: {} },
    { type: 'extra_forbidden' },
  ],
  [
    '/v1/score',
    'an unknown grader',
    { seeds: [], action_histories: [], actions: [], grader: 'v4' },
    {
      loc: ['body', 'grader'],
      msg: 'Expected grader to be one of v1, v2, v3, got "v4". Use one of these names.',
    },
  ],
  [
    '/v1/score',
    'a grader with a weight that is not a number',
    {
      seeds: [],
      action_histories: [],
      actions: [],
      grader: { name: 'calm', weights: { progress: '1' } },
    },
    { loc: ['body', 'grader'], msg: expect.stringContaining('at weights.progress of grader, got "1"') },
  ],
  [
    '/v1/score',
    'a list as grader',
    { seeds: [], action_histories: [], actions: [], grader: [1, 0, 0, 0, 0, 0] },
    {
      loc: ['body', 'grader'],
      msg: expect.stringContaining('Expected a name or {"name", "weights"}, got an array'),
    },
  ],
  [
    '/v1/score',
    'an unknown profile',
    { seeds: [], action_histories: [], actions: [], profile_modes: 'samplde' },
    { loc: ['body', 'profile_modes'], msg: expect.stringContaining('Did you mean "sampled"?') },
  ],
  [
    '/v1/prompts',
    'an invalid row, and names its column',
    { seeds: [1, 2], action_histories: [[], [10]] },
    { type: 'illegal_action', msg: expect.stringContaining('action_histories[1][0]') },
  ],
  [
    '/v1/prompts',
    'columns of different lengths',
    { seeds: [1], action_histories: [] },
    { loc: ['body', 'action_histories'] },
  ],
  [
    '/v1/prompts',
    'an invalid row of a later slice',
    { seeds: Array(600).fill(1), action_histories: [...Array(599).fill([]), ['fly']] },
    { msg: expect.stringContaining('action_histories[599][0]') },
  ],
  [
    '/v1/parse',
    'a row of a later slice that is not text',
    { completions: [...Array(3000).fill(''), 7] },
    {
      loc: ['body', 'completions'],
      msg: expect.stringMatching(/Expected a string at completions\[3000\], got 7/),
    },
  ],
  ['/v1/parse', 'an unknown key', { completions: [], seeds: [] }, { loc: ['body', 'seeds'] }],
  [
    '/v1/score',
    'parsed without completions',
    { seeds: [1], action_histories: [[]], actions: [0], parsed: true },
    { loc: ['body', 'parsed'], msg: expect.stringContaining('Leave it out') },
  ],
  [
    '/v1/rollout',
    'fewer profiles than groups',
    { seeds: [1, 2], group_size: 1, policy: 'random', profile_modes: ['sampled'] },
    { loc: ['body', 'profile_modes'] },
  ],
  [
    '/v1/rollout',
    'too many rollouts',
    { seeds: [1, 2, 3], group_size: 16384, policy: 'random' },
    { loc: ['body', 'group_size'] },
  ],
  [
    '/v1/rollout',
    'too many rollouts of a student',
    { seeds: [1], group_size: 1025, policy: 'student-v2' },
    { loc: ['body', 'group_size'], msg: expect.stringContaining('at most 1024 rollouts of student-v2') },
  ],
  [
    '/v1/rollout',
    'the policy action_sequences without action sequences',
    { seeds: [1], group_size: 1, policy: 'action_sequences' },
    { loc: ['body', 'action_sequences'] },
  ],
  [
    '/v1/rollout',
    'no seeds',
    { seeds: [], group_size: 1, policy: 'random' },
    { type: 'wrong_length', msg: expect.stringContaining('at least one seed') },
  ],
  [
    '/v1/rollout',
    'an invalid seed',
    { seeds: [1, 'x'], group_size: 1, policy: 'random' },
    { type: 'bad_seed', msg: expect.stringContaining('seeds[1]') },
  ],
  [
    '/v1/rollout',
    'an invalid action',
    { seeds: [1], group_size: 1, policy: 'action_sequences', action_sequences: [Array(28).fill('toString')] },
    {
      loc: ['body', 'action_sequences'],
      msg: expect.stringContaining('action_sequences[0][0], got "toString"'),
    },
  ],
  [
    '/v1/rollout',
    'a short action sequence',
    { seeds: [1], group_size: 1, policy: 'action_sequences', action_sequences: [[]] },
    { loc: ['body', 'action_sequences'], msg: expect.stringContaining('28 actions at action_sequences[0]') },
  ],
  ...(
    [
      ['belief sequences for another policy', { policy: 'random', action_sequences: null }, '"random"'],
      ['a belief beside belief sequences', { belief: [0, 0, 0] }, 'got both'],
      ['too few belief sequences', { belief_sequences: [] }, 'Expected 1 belief sequences'],
      ['a short belief sequence', { belief_sequences: [[null]] }, '28 beliefs at belief_sequences[0]'],
      [
        'an invalid belief of a sequence',
        { belief_sequences: [[...Array(27).fill(null), [0.5, 1]]] },
        '3 numbers, or null, at belief_sequences[0][27]',
      ],
    ] as const
  ).map(([what, changes, msg]): (typeof refusals)[number] => [
    '/v1/rollout',
    what,
    {
      seeds: [1],
      group_size: 1,
      policy: 'action_sequences',
      action_sequences: [Array(28).fill(0)],
      belief_sequences: [Array(28).fill(null)],
      ...changes,
    },
    { loc: ['body', 'belief_sequences'], msg: expect.stringContaining(msg) },
  ]),
];
it.each(refusals)('%s refuses %s', async (path, _, body, detail) => {
  const response = await sendRequest(await startServer(), 'POST', path, body);
  expect(response.status).toBe(422);
  expect(response.body.detail[0]).toMatchObject(detail);
});

it('/v1/prompts returns the same texts as prompts()', async () => {
  const server = await startServer();
  const columns = { seeds, action_histories: histories, profile_modes: modes };
  const { body } = await sendRequest(server, 'POST', '/v1/prompts', columns);
  using env = createVecEnv({ numEnvs: ROWS, observation: { history: true } });
  env.reset({ seed: seeds, profiles: modes });
  const sequence = new Uint8Array(ROWS * 28);
  histories.forEach((history, i) => {
    sequence.set(
      history.map((name) => ACTION_NAMES.indexOf(name)),
      i * 28,
    );
  });
  const { observations } = env.run(sequence, { stops: histories.map(({ length }) => length) });
  const expected = prompts(observations);
  expect(body.system).toBe(expected[0][0].content);
  expect(body.users).toEqual(expected.map(([, user]) => user.content));
  const v3 = await sendRequest(server, 'POST', '/v1/prompts', { ...columns, grader: 'v3' });
  expect(v3.body).toEqual({
    ...body,
    system: prompts(observations, undefined, { grader: 'v3' })[0][0].content,
  });
});

it('/v1/parse and /v1/score return what parseCompletions finds', async () => {
  const server = await startServer();
  // More rows than a slice of the answer, some with only an action, only a belief, or neither.
  const many = [...completions, ...completions, 'SLEEP', '1 2 3', 'no answer', '', '9 9 9 me-time'];
  const { actions, beliefs, given } = parseCompletions(many);
  const expected = {
    actions: Array.from(actions, (code): string | null => ACTION_NAMES[code] ?? null),
    codes: Array.from(actions),
    beliefs: many.map((_, i) => (given[i] ? float32Decimals(beliefs.subarray(3 * i, 3 * i + 3)) : null)),
  };
  const parse = await sendRequest(server, 'POST', '/v1/parse', { completions: many });
  expect(parse.body).toEqual({ rows: many.length, world_digest: createWorld().digest, ...expected });
  expect(parse.body.actions.slice(-5)).toEqual(['sleep', null, null, null, 'me_time']);

  const columns = {
    seeds: many.map((_, i) => (i === 7 ? -1 : i)) as unknown[],
    action_histories: many.map(() => []),
    completions: many.map((text, i) => (i === 9 ? null : text)),
    scores: ['total'],
  };
  const plain = await sendRequest(server, 'POST', '/v1/score', columns);
  const score = await sendRequest(server, 'POST', '/v1/score', { ...columns, parsed: true });
  expected.actions[9] = null;
  expected.codes[9] = -1;
  expected.beliefs[9] = null;
  expect(score.body.parsed).toEqual(expected);
  expect(score.body.faults.map(({ index }: { index: number }) => index)).toEqual([7, 9]);
  expect({ ...score.body, parsed: undefined }).toEqual({ ...plain.body, parsed: undefined });
  expect(plain.body).not.toHaveProperty('parsed');
  const thoughts = [
    'hm\n1 2 3 SLEEP\nwould',
    'hm\n1 2 3 SLEEP\n</think>1 2 3 LEARN',
    '<think>\nSLEEP\nwould',
  ];
  for (const [thought, actions] of [
    ['open', [null, 'learn', null]],
    [null, ['sleep', 'learn', null]],
  ]) {
    const opened = await sendRequest(server, 'POST', '/v1/parse', { completions: thoughts, thought });
    expect(opened.body.actions).toEqual(actions);
    const states = { seeds: [1, 2, 3], action_histories: [[], [], []] };
    const request = { ...states, completions: thoughts, thought, parsed: true };
    const scored = await sendRequest(server, 'POST', '/v1/score', request);
    expect(scored.body.parsed.actions).toEqual(actions);
    expect(scored.body.scores.action_legal).toEqual(
      (actions as unknown[]).map((name) => (name === null ? -1 : 0.5)),
    );
  }
  const none = { actions: [], codes: [], beliefs: [] };
  expect((await sendRequest(server, 'POST', '/v1/parse', { completions: [] })).body).toMatchObject(none);
});

it('/v1/rollout returns the numbers of the library, for policies of every kind', async () => {
  const server = await startServer();
  const grader = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
  const request = {
    seeds: [500, 501],
    group_size: 3,
    gamma: 0.9,
    grader,
    arrays: ['returns', 'final_scores', 'state_hashes'],
  };
  const options = { seeds: [500, 501], groupSize: 3, gamma: 0.9, grader: graderWeights(grader as never) };
  for (const policy of ['random', 'heuristic', 'student-v3'] as const) {
    const { body } = await sendRequest(server, 'POST', '/v1/rollout', { ...request, policy });
    const played = policy === 'student-v3' ? await loadStudent(policy) : policy;
    const rollouts = await rolloutGroups({ ...options, policy: played });
    expect(body.arrays.returns).toEqual(float32Decimals(rollouts.returns));
    expect(body.arrays.final_scores).toEqual(float32Decimals(rollouts.finalScores));
    expect(body.arrays.state_hashes[1]).toBe(rollouts.stateHashes[1].toString(16).padStart(16, '0'));
  }
  const sequences = Array.from({ length: 6 }, (_, i) => Array.from({ length: 28 }, (_, t) => (i + t) % 10));
  const { body } = await sendRequest(server, 'POST', '/v1/rollout', {
    ...request,
    policy: 'action_sequences',
    action_sequences: sequences,
    belief: [0.25, 0.5, 1],
    profile_modes: ['introvert_morning', 'discrete'],
  });
  using env = createVecEnv({ numEnvs: 6, grader: options.grader });
  const profiles = [0, 0, 0, 1, 1, 1].map((group) => ['introvert_morning', 'discrete'][group]);
  env.reset({ seed: [500, 500, 500, 501, 501, 501], profiles });
  const { finalScores } = env.run(sequences.flat(), { beliefs: [0.25, 0.5, 1] });
  expect(body.arrays.final_scores).toEqual(float32Decimals(finalScores));

  // A belief for each step, or null, which the environment takes as NaN.
  const beliefs = sequences.map((sequence, i) =>
    sequence.map((_, t) => ((i + t) % 3 === 0 ? null : [t / 28, i / 6, 1])),
  );
  const answer = await sendRequest(server, 'POST', '/v1/rollout', {
    ...request,
    policy: 'action_sequences',
    action_sequences: sequences,
    belief_sequences: beliefs,
  });
  let played: Float32Array | undefined;
  env.reset({ seed: [500, 500, 500, 501, 501, 501], profiles: 'sampled' });
  for (let t = 0; t < 28; t++) {
    const given = beliefs.flatMap((sequence) => sequence[t] ?? [Number.NaN, Number.NaN, Number.NaN]);
    const actions = Uint8Array.from(sequences, (sequence) => sequence[t]);
    played = env.step(actions, { beliefs: Float32Array.from(given) }).finalScores;
  }
  expect(answer.body.arrays.final_scores).toEqual(float32Decimals(played!));
  const seeded = await sendRequest(server, 'POST', '/v1/rollout', {
    ...request,
    policy: 'random',
    policy_seeds: 77,
  });
  const rollouts = await rolloutGroups({ ...options, policy: 'random', policySeeds: 77 });
  expect(seeded.body.arrays.returns).toEqual(float32Decimals(rollouts.returns));
});

it('/v1/rollout returns all entries of arrays that fill whole slices', async () => {
  const server = await startServer();
  const groupSize = SLICE / 4;
  const request = { seeds: [500], group_size: groupSize, policy: 'random', arrays: ['actions', 'rewards'] };
  const { body } = await sendRequest(server, 'POST', '/v1/rollout', request);
  const rollouts = await rolloutGroups({ seeds: [500], groupSize, policy: 'random' });
  expect(rollouts.rewards.length).toBe(7 * SLICE);
  expect(body.arrays.actions).toEqual(Array.from(rollouts.actions));
  expect(body.arrays.rewards).toEqual(float32Decimals(rollouts.rewards));
});

it('/v1/score returns all entries of columns that fill a whole slice', async () => {
  const columns = {
    seeds: Array(SLICE).fill(1),
    action_histories: Array(SLICE).fill([]),
    actions: Array(SLICE).fill(0),
    scores: ['step_reward', 'state_hash'],
  };
  const { body } = await sendRequest(await startServer(), 'POST', '/v1/score', columns);
  expect([body.scores.step_reward.length, body.scores.state_hash.length]).toEqual([SLICE, SLICE]);
});

it('every float32 keeps its bits in JSON, and NaN and infinities become null', () => {
  const bits = fc.array(fc.nat(2 ** 32 - 1));
  fc.assert(
    fc.property(bits, (words) => {
      const values = new Float32Array(Uint32Array.from(words).buffer);
      const read = JSON.parse(listText(values)) as (number | null)[];
      read.forEach((value, k) => {
        if (value === null) expect(Number.isFinite(values[k])).toBe(false);
        else expect(bitsOf([value])).toEqual(bitsOf([values[k]]));
      });
    }),
  );
  expect(listText(Float32Array.of(-0, 0))).toBe('[-0.0,0]');
});
