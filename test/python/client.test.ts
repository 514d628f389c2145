/** python/rhythm_vec with servers: scores, prompts, parsed answers, reward functions of TRL, and invalid rows. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import {
  createVecEnv,
  type Grader,
  graderWeights,
  parseCompletions,
  prompts,
  type ReplayOptions,
  type ReplayRow,
  scoreReplay,
} from '../../src/index.js';
import { float32Decimals } from '../../src/shared/float32-decimal.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { type Running, startCli } from '../support/cli.js';
import { askPython, forkOf, pathOf, start } from '../support/python.js';
import { callClient, faultyServer, type Result, whyAbsent, whyNoEngine } from '../support/python-client.js';
import { Random } from '../support/random.js';
import { anyRows } from '../support/replays.js';
import { sendRequest, startServer } from '../support/server.js';

const absent = whyAbsent();
if (absent !== null) test.skip(`the Python client: NOT TESTED here: ${absent}`, () => {});

const random = new Random('python client');
const rows = anyRows(random, 400);
const completions = rows.map((_, i) => {
  const answer = `${i % 10} ${(i + 3) % 10} ${(i + 7) % 10} ${ACTION_NAMES[i % 10].toUpperCase()}`;
  return [
    `<reasoning>\u00e4 \u{1f600}</reasoning>\n${answer}`,
    '',
    `<reasoning>cut off ${answer}`,
    'SLEEP',
    '1 2 3',
  ][i % 5];
});
/** The completions as chats. Every second one has its text in parts. */
const chats = completions.map((content, i) => {
  const parts = [
    { type: 'reasoning', text: 'no' },
    { type: 'text', text: content.slice(0, 9) },
    { type: 'text', text: content.slice(9) },
  ];
  return [
    { role: 'user', content: 'ignored' },
    { role: 'assistant', content: i % 2 === 0 ? content : parts },
  ];
});
/** A grader with six of the eight weights. */
const OWN: Grader = {
  name: 'own',
  weights: {
    crash_free: 0.1,
    progress: 0.1,
    connection: 0.2,
    adaptation: 0.2,
    wellbeing: 0.2,
    belief_skill: 0.2,
  },
};
const seeds = rows.map(({ seed }) => seed);
const profile_modes = rows.map(({ profileMode }) => profileMode);
const codes = rows.map(({ actionHistory }) => actionHistory as number[]);
/** The histories as names of actions. */
const named = codes.map((history) => history.map((code) => ACTION_NAMES[code]));
const columns = {
  seeds,
  action_histories: codes,
  profile_modes,
  belief_histories: rows.map(({ beliefHistory }) => beliefHistory ?? null),
};
const FIRST = { seeds: [7], action_histories: [[]], actions: ['sleep'] };

/** Returns the scores of scoreReplay in the form of the client. */
function expectedScores(replayed: readonly ReplayRow[], options: ReplayOptions = {}) {
  const { rewards, stepRewards, beliefMae, stateHashes } = scoreReplay(replayed, options);
  const orNull = (values: Float32Array) =>
    float32Decimals(values).map((value) => (Number.isNaN(value) ? null : value));
  return {
    format_valid: orNull(rewards.formatValid),
    action_legal: orNull(rewards.actionLegal),
    env_reward: orNull(rewards.envReward),
    belief_accuracy: orNull(rewards.beliefAccuracy),
    belief_skill: orNull(rewards.beliefSkill),
    total: orNull(rewards.total),
    step_reward: orNull(stepRewards),
    belief_mae: orNull(beliefMae),
    state_hash: Array.from(stateHashes, (hash) => hash.toString(16).padStart(16, '0')),
  };
}

/** Returns the rows with the actions and beliefs of the completions. */
function answeredRows(): ReplayRow[] {
  const { actions, beliefs, given } = parseCompletions(completions);
  return rows.map((row, i) => ({
    ...row,
    action: actions[i] < 0 ? null : actions[i],
    belief: given[i] ? beliefs.subarray(3 * i, 3 * i + 3) : null,
  }));
}

describe.runIf(absent === null)('score, with a server in another process', () => {
  const token = 'token-of-the-server';
  let running: Running;
  let url: string;
  beforeAll(async () => {
    running = startCli(['serve', '--port', '0'], { RHYTHM_TOKEN: token });
    const [line] = (await once(running.child.stdout, 'data')) as [string];
    [url] = /http:\S+/.exec(line)!;
  });
  afterAll(async () => {
    running.child.kill('SIGTERM');
    expect((await running.finished).code).toBe(0);
  });

  // Larger batches are sent in parts. With a limit of 1 byte, each part is one row.
  it.each([2 ** 25, 4096, 1])(
    'equals scoreReplay bit for bit, with a body limit of %d bytes',
    async (limit) => {
      const request = { ...columns, completions, grader: 'v3' };
      const { results, waits } = await callClient({ url, token, body_limit: limit }, { score: request });
      expect(results[0]).toMatchObject({ rows: rows.length, faults: [] });
      expect(results[0].scores).toEqual(expectedScores(answeredRows(), { grader: 'v3' }));
      // The client retried no request.
      expect(waits).toEqual([]);
    },
  );

  it('accepts actions, beliefs, graders, weights, shaping and arrays, and returns only the requested scores', async () => {
    const actions = rows.map(({ action }) => action);
    const beliefs = rows.map(({ belief }) => (belief ? Array.from(belief) : null));
    const options = {
      weights: { env_reward: 2, format_valid: 0 },
      shaping: { repetition: true, exploration: true },
    };
    const scores = ['total', 'state_hash'];
    const constant = {
      actions: rows.map((_, i) => i % 10),
      beliefs: rows.map(() => [0.25, 0.5, 1]),
      grader: OWN,
    };
    const { results } = await callClient(
      { url, token },
      { score: { ...columns, actions, beliefs, grader: 'v1', ...options, scores } },
      { score: { seeds: [], action_histories: [], actions: [] } },
      { score: { ...FIRST, profile_modes: 'discrete' } },
      { arrays: { ...columns, ...constant } },
      { arrays: { ...columns, ...constant, beliefs: rows.map((_, i) => [i === 9 ? 'NaN' : 0, 0, 0]) } },
    );
    const { total, state_hash } = expectedScores(rows, {
      grader: 'v1',
      weights: { envReward: 2, formatValid: 0 },
      shaping: options.shaping,
    });
    expect(results[0].scores).toEqual({ total, state_hash });
    expect(results[1]).toMatchObject({ rows: 0, scores: { total: [] } });
    const first: ReplayRow = { seed: 7, profileMode: 'discrete', actionHistory: [], action: 'sleep' };
    expect(results[2].scores).toEqual(expectedScores([first]));
    const played = rows.map((row, i) => ({ ...row, action: i % 10, belief: [0.25, 0.5, 1] }));
    expect(results[3].scores).toEqual(expectedScores(played, { grader: graderWeights(OWN) }));
    // JSON cannot express NaN.
    expect(results[4]).toMatchObject({ error: 'InputError', message: expect.stringContaining('Pass None') });
  });

  it('reports invalid rows by their index in the whole batch, and scores the other rows', async () => {
    const actions = rows.map((): string | null => 'sleep');
    actions[301] = 'fly';
    const changed = {
      seeds: seeds.map((seed, i) => (i === 77 ? -1 : seed)),
      actions,
      belief_histories: columns.belief_histories.map((history, i) => (i === 399 ? [0] : history)),
    };
    const { results } = await callClient(
      { url, token, body_limit: 4096 },
      { score: { ...columns, ...changed } },
    );
    const [{ faults, scores }] = results;
    expect(faults!.map(({ index, code }) => [index, code])).toEqual([
      [77, 'bad_seed'],
      [301, 'illegal_action'],
      [399, expect.any(String)],
    ]);
    expect(faults![0].message).toContain('seeds[77]');
    expect(faults![1].message).toContain('actions[301]');
    expect(scores!.total.flatMap((total, row) => (total === null ? [row] : []))).toEqual([77, 301, 399]);
  });
});

const noEngine = absent ?? whyNoEngine();
if (noEngine !== null) test.skip(`scores in Python's process: NOT TESTED here: ${noEngine}`, () => {});

describe.runIf(noEngine === null)("score, in Python's process,", () => {
  /** Returns the column with other entries from row `first` on. */
  const replaced = (column: readonly unknown[], first: number, ...entries: unknown[]): unknown[] =>
    column.map((entry, row) => (row >= first && row < first + entries.length ? entries[row - first] : entry));
  const invalid = {
    seeds: replaced(seeds, 0, -1, 2 ** 32, 1.5, '7', null, true, 1e30),
    profile_modes: replaced(profile_modes, 20, 'nobody', null, 7, 'sample', 'descrete'),
    action_histories: replaced(
      named,
      ...[40, ['fly'], 'sleep', { a: 1 }, null, Array(28).fill('sleep'), [true], [1.5], ['slep'], [null]],
      ...[[[]], [10], [-1], ['SLEEP', 3, 1], 7],
    ),
    belief_histories: replaced(
      columns.belief_histories,
      ...[60, 'x', [0], {}, Array(28).fill(null), Array(29).fill(null), [[1, 2], ...Array(27).fill(null)], 5],
    ),
  };
  const answers = {
    actions: replaced(
      rows.map(({ action }) => action),
      80,
      'fly',
      'slep',
      10,
      -1,
      true,
      1.5,
      [],
      {},
      'x'.repeat(120),
    ),
    beliefs: replaced(
      rows.map(({ belief }) => (belief ? Array.from(belief) : null)),
      ...[100, [1, 2], 'abc', 7, {}, [1, 2, '3'], [1, null, 2], [1e39, 0, 0], [true, 0, 0], [0, 1, 1e30]],
    ),
  };
  const texts = { completions: replaced(chats, 80, 7, null, {}, '1 2 3 SLEEP'), parsed: true };
  const shaping = { repetition: true, exploration: true };

  it.each([
    ['completions', { ...invalid, ...texts, grader: 'v3' }],
    ['open thoughts', { ...invalid, ...texts, thought: 'open', scores: ['total', 'state_hash'] }],
    ['actions', { ...invalid, ...answers, grader: OWN, shaping, weights: { env_reward: 2 } }],
    ['no rows', { seeds: [], action_histories: [], completions: [], parsed: true }],
  ])('equals that of a server, bit for bit, faults included: %s', async (_, score) => {
    const { url } = await startServer();
    const { results } = await callClient({ url }, { score }, { score, here: true });
    const [served, here] = results.map(({ scores, ...rest }) => ({ ...rest, scores: floatsOf(scores!) }));
    expect(here).toEqual(served);
    expect(here.faults!.length).toBeGreaterThanOrEqual(score.seeds.length > 0 ? 30 : 0);
  });

  const floatsOf = (scores: NonNullable<Result['scores']>) =>
    Object.entries(scores).map(([name, column]) => [
      name,
      column.map((value) => (typeof value === 'number' ? Math.fround(value) : value)),
    ]);
});

describe.runIf(absent === null)('texts', () => {
  /** Returns the chats of prompts() for the rows. */
  function expectedChats(grader: string) {
    using env = createVecEnv({ numEnvs: rows.length, observation: { history: true } });
    env.reset({ seed: seeds, profiles: profile_modes as string[] });
    const sequence = new Uint8Array(rows.length * 28);
    for (const [i, row] of codes.entries()) sequence.set(row, i * 28);
    const { observations } = env.run(sequence, { stops: codes.map(({ length }) => length) });
    return prompts(observations, undefined, { grader });
  }

  function expectedParsed() {
    const { actions, beliefs, given } = parseCompletions(completions);
    return {
      actions: Array.from(actions, (code) => ACTION_NAMES[code] ?? null),
      codes: Array.from(actions),
      beliefs: rows.map((_, i) => (given[i] ? float32Decimals(beliefs.subarray(3 * i, 3 * i + 3)) : null)),
    };
  }

  it.each([2 ** 18, 70])(
    'of prompts and of answers equal those of TypeScript, in requests of at most %d rows',
    async (row_limit) => {
      const { url } = await startServer();
      const opened = ['hm\nSLEEP\nwould', 'hm\nSLEEP\n</think>\nLEARN'];
      const { results } = await callClient(
        { url, row_limit },
        { prompts: { seeds, action_histories: named, profile_modes } },
        { prompts: { seeds, action_histories: codes, profile_modes, grader: 'v3' } },
        { prompts: { seeds: [], action_histories: [] } },
        { parse: completions },
        { parse: chats },
        { parse: [] },
        { parse: opened, thought: 'open' },
      );
      expect(results[0].chats).toEqual(expectedChats('v2'));
      expect(results[1].chats).toEqual(expectedChats('v3'));
      expect(results[2].chats).toEqual([]);
      const parsed = expectedParsed();
      const none = { actions: [], codes: [], beliefs: [] };
      expect(results.slice(3, 6).map((result) => result.parsed)).toEqual([parsed, parsed, none]);
      expect(results[6].parsed).toMatchObject({ actions: [null, 'learn'] });
    },
  );

  it('score parses and scores in one request, also the completions of invalid rows', async () => {
    const server = await faultyServer(await startServer());
    const request = { ...columns, completions: chats, parsed: true, grader: 'v3' };
    const { results } = await callClient(
      { url: server.url },
      { score: request },
      { score: { ...request, completions: rows.map(() => 'hm\nSLEEP'), thought: 'open' } },
      {
        score: {
          seeds: [-1, 5],
          action_histories: [[], []],
          parsed: true,
          completions: ['1 2 3 SLEEP', 7],
        },
      },
    );
    expect(server.requests()).toBe(3);
    expect(results[0].parsed).toEqual(expectedParsed());
    expect(results[0].scores).toEqual(expectedScores(answeredRows(), { grader: 'v3' }));
    expect(results[1].parsed).toMatchObject({ actions: rows.map(() => null) });
    expect(results[2].parsed).toMatchObject({ actions: ['sleep', null], codes: [expect.any(Number), -1] });
    expect(results[2].faults!.map(({ index }) => index)).toEqual([0, 1]);
  });

  it('errors name an invalid row by its index in the whole batch, not in its request', async () => {
    const { url } = await startServer();
    const invalid = named.map((row, i) => (i === 33 ? ['fly'] : row));
    const { results } = await callClient(
      { url, row_limit: 8 },
      { prompts: { seeds, action_histories: invalid } },
      { parse: completions.map((completion, i) => (i === 41 ? null : completion)) },
      { prompts: { seeds, action_histories: [[]] } },
    );
    expect(results.map(({ error, message }) => [error, message])).toEqual([
      ['RefusedError', expect.stringContaining('action_histories[33][0]')],
      ['RefusedError', expect.stringContaining('completions[41]')],
      ['InputError', expect.stringContaining('action_histories')],
    ]);
  });
});

describe.runIf(absent === null)('reward functions, called as TRL calls them', () => {
  const four = ['format_valid', 'action_legal', 'env_reward', 'belief_accuracy'];
  const names = [...four, 'belief_skill', 'total'];
  const trlColumns = {
    seed: seeds,
    action_history: named,
    profile_mode: profile_modes,
    belief_history: columns.belief_histories,
    step_index: codes.map(({ length }) => length),
    completion_ids: rows.map(() => [1, 2]),
    policy: rows.map(() => 'random'),
    trainer_state: null,
  };

  it('score texts and chats, with one request per batch and grader, and pay nothing within a thought', async () => {
    const server = await faultyServer(await startServer());
    const { url } = server;
    const scored = { ...trlColumns, completions };
    const thoughts = (completion: string, of: object) => ({
      rewards: {
        of,
        names: ['action_legal'],
        columns: { ...trlColumns, completions: rows.map(() => completion) },
      },
    });
    const { results, warnings, pickled } = await callClient(
      { url },
      { rewards: { names, columns: scored } },
      { rewards: { names: [...names].reverse(), columns: { ...trlColumns, completions: chats } } },
      { rewards: { of: { grader: 'v3' }, names, columns: scored } },
      thoughts('<think>\n1 2 3 SLEEP\nwould', {}),
      thoughts('hm\n1 2 3 SLEEP\nwould', { thought: 'open' }),
      thoughts('hm\n1 2 3 SLEEP\nwould', {}),
    );
    const rewardsOf = (grader: string) => {
      const scores = expectedScores(answeredRows(), { grader });
      return Object.fromEntries(names.map((name) => [name, scores[name as keyof typeof scores]]));
    };
    expect(results.slice(0, 3)).toEqual([rewardsOf('v2'), rewardsOf('v2'), rewardsOf('v3')]);
    const legal = [-1, -1, 0.5].map((reward) => ({ action_legal: rows.map(() => reward) }));
    expect(results.slice(3)).toEqual(legal);
    expect(server.requests()).toBe(5);
    expect(warnings).toEqual([]);
    // Trainers with several processes pickle the functions. GRADERS of test/peers/client/calls.py has the graders; those with a
    // weight of belief_skill have five functions.
    const five = [...four, 'belief_skill'];
    expect(pickled).toEqual([four, four, four, five, five, five, four]);
  });

  it('send a new request for a new batch', async () => {
    const server = await faultyServer(await startServer());
    const { url } = server;
    const of = { shaping: { repetition: true, exploration: true }, weights: { env_reward: 3 } };
    const [first, second] = ['0 0 0 SLEEP', '9 9 9 LEARN'];
    const batch = (seed: number, completion: string) => ({
      rewards: { of, names, columns: { seed: [seed], action_history: [[]], completions: [completion] } },
    });
    const { results } = await callClient({ url }, batch(1, first), batch(1, second), batch(2, second));
    const options = { shaping: of.shaping, weights: { envReward: 3 } };
    const totalOf = (seed: number, action: string, level: number) =>
      expectedScores([{ seed, actionHistory: [], action, belief: [level, level, level] }], options).total;
    expect(results.map(({ total }) => total)).toEqual([
      totalOf(1, 'sleep', 0),
      totalOf(1, 'learn', 1),
      totalOf(2, 'learn', 1),
    ]);
    expect(server.requests()).toBe(3);
  });

  it('return None for an invalid row and warn with the reason, and refuse inconsistent columns without a request', async () => {
    const server = await faultyServer(await startServer());
    const answer = '0 0 0 SLEEP';
    const invalid = {
      seed: [1, 1, -5],
      action_history: [['sleep'], ['slep'], []],
      completions: [answer, answer, ''],
    };
    const one = { completions: [''], seed: [1] };
    const { results, warnings } = await callClient(
      { url: server.url },
      { rewards: { names, columns: invalid } },
      { rewards: { names, columns: one } },
      { rewards: { names, columns: { ...one, action_history: [[]], step_index: [3] } } },
      { rewards: { names, columns: { ...one, action_history: [[]], completions: ['', ''] } } },
    );
    for (const name of names) expect(results[0][name]).toEqual([expect.any(Number), null, null]);
    expect(warnings).toEqual([
      expect.stringMatching(/^RowFaultWarning: 2 of 3 .*row 1: .*slep.*; row 2: .*seeds\[2\]/),
    ]);
    expect(results[1]).toMatchObject({
      error: 'TypeError',
      message: expect.stringContaining('action_history'),
    });
    expect(results[2].message).toMatch(/action_history\[0\].*step_index\[0\] = 3 actions, got 0/);
    expect(results[3].message).toMatch(/Expected 1 entries in completions.*got 2/);
    expect(server.requests()).toBe(1);
  });
});

describe.runIf(absent === null)('examples', () => {
  /** Runs Python. Returns what it prints. */
  async function outputOf(...args: string[]): Promise<string> {
    const child = start([...forkOf([]), ...args]);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(stderr).toBe('');
    return stdout;
  }

  it.runIf(noEngine === null)('of the guide of texts print what the guide shows', async () => {
    const page = readFileSync(pathOf('docs/guides/text.md'), 'utf8');
    const examples = [
      ...page.matchAll(/^```python\n((?:(?!```).*\n)+)```\n\n```txt\n((?:(?!```).*\n)+)```$/gm),
    ];
    expect(examples).toHaveLength(2);
    for (const [, code, output] of examples) expect(await outputOf('-c', code)).toBe(output);
  });

  it('score_frames.py, which sends binary frames, prints the scores of the JSON route', async () => {
    const server = await startServer();
    const stdout = await outputOf(pathOf('python/examples/score_frames.py'), server.url);
    const { body } = await sendRequest(server, 'POST', '/v1/score', {
      seeds: [4242, 4242],
      action_histories: [
        [ACTION_NAMES[3], ACTION_NAMES[0]],
        [3, 0],
      ],
      completions: ['<reasoning>Tired.</reasoning>\n3 6 5 EXERCISE', 'I would rather not.'],
      parsed: true,
    });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => /^(-?\d+) \[(.*)\] (\S+) (\w+)$/.exec(line)!.slice(1));
    expect(
      lines.map(([action, , total, hash]) => [Number(action), Math.fround(Number(total)), hash]),
    ).toEqual(
      [0, 1].map((row) => [
        body.parsed.codes[row],
        Math.fround(body.scores.total[row]),
        body.scores.state_hash[row],
      ]),
    );
    expect(lines.map(([, belief]) => belief.includes('nan'))).toEqual([false, true]);
  });
});

it.runIf(absent === null)(
  'Python 3.9 can parse the modules of the client, which import no package but urllib3 themselves',
  () => {
    const others = ['batches', 'client', 'errors', 'rewards', 'scores', 'servers', 'serving'];
    expect(askPython('client/sources.py', ['__init__', ...others])).toEqual([
      'gymnasium', // optional
      'urllib3',
    ]);
  },
);
