/** python/rhythm_vec with servers: scores, batches in parts, reward functions of TRL, and invalid rows. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import {
  type Grader,
  graderWeights,
  parseCompletions,
  type ReplayOptions,
  type ReplayRow,
  scoreReplay,
} from '../../src/index.js';
import { float32Decimals } from '../../src/shared/float32-decimal.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { type Running, startCli } from '../support/cli.js';
import { askPython } from '../support/python.js';
import { callClient, faultyServer, whyAbsent } from '../support/python-client.js';
import { Random } from '../support/random.js';
import { anyRows } from '../support/replays.js';
import { startServer } from '../support/server.js';

const absent = whyAbsent();
if (absent !== null) test.skip(`the Python client: NOT TESTED here: ${absent}`, () => {});

const random = new Random('python client');
const rows = anyRows(random, 400);
const completions = rows.map((_, i) => {
  const answer = `${i % 10} ${(i + 3) % 10} ${(i + 7) % 10} ${ACTION_NAMES[i % 10].toUpperCase()}`;
  return [`<reasoning>\u00e4 \u{1f600}</reasoning>\n${answer}`, '', `<reasoning>cut off ${answer}`][i % 3];
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
const columns = {
  seeds: rows.map(({ seed }) => seed),
  action_histories: rows.map(({ actionHistory }) => actionHistory),
  profile_modes: rows.map(({ profileMode }) => profileMode),
  belief_histories: rows.map(({ beliefHistory }) => beliefHistory ?? null),
};

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

  it('accepts actions, beliefs, grader, weights and shaping, and returns only the requested scores', async () => {
    const actions = rows.map(({ action }) => action);
    const beliefs = rows.map(({ belief }) => (belief ? Array.from(belief) : null));
    const { results } = await callClient(
      { url, token },
      {
        score: {
          ...columns,
          actions,
          beliefs,
          grader: 'v1',
          weights: { env_reward: 2, format_valid: 0 },
          shaping: { repetition: true, exploration: true },
          scores: ['total', 'state_hash'],
        },
      },
      { score: { seeds: [], action_histories: [], actions: [] } },
      { score: { seeds: [7], action_histories: [[]], actions: ['sleep'], profile_modes: 'discrete' } },
    );
    const { total, state_hash } = expectedScores(rows, {
      grader: 'v1',
      weights: { envReward: 2, formatValid: 0 },
      shaping: { repetition: true, exploration: true },
    });
    expect(results[0].scores).toEqual({ total, state_hash });
    expect(results[1]).toMatchObject({ rows: 0, scores: { total: [] } });
    expect(results[2].scores).toEqual(
      expectedScores([{ seed: 7, profileMode: 'discrete', actionHistory: [], action: 'sleep' }]),
    );
  });

  it('accepts arrays with the method tolist, and refuses NaN, which JSON cannot express', async () => {
    const actions = rows.map((_, i) => i % 10);
    const beliefs = rows.map(() => [0.25, 0.5, 1]);
    const request = { ...columns, actions, beliefs, grader: OWN };
    const { results } = await callClient(
      { url, token },
      { arrays: request },
      { arrays: { ...request, beliefs: rows.map((_, i) => [i === 9 ? 'NaN' : 0, 0, 0]) } },
    );
    const belief = [0.25, 0.5, 1];
    expect(results[0].scores).toEqual(
      expectedScores(
        rows.map((row, i) => ({ ...row, action: i % 10, belief })),
        { grader: graderWeights(OWN) },
      ),
    );
    expect(results[1]).toMatchObject({
      error: 'InputError',
      message: expect.stringMatching(/^Expected finite numbers in rows 0 to 399.*Pass None/),
    });
  });

  it('reports invalid rows by their index in the whole batch, and scores the other rows', async () => {
    const actions = rows.map((): string | null => 'sleep');
    actions[301] = 'fly';
    const seeds = columns.seeds.map((seed, i) => (i === 77 ? -1 : seed));
    const belief_histories = columns.belief_histories.map((history, i) => (i === 399 ? [0] : history));
    const { results } = await callClient(
      { url, token, body_limit: 4096 },
      { score: { ...columns, seeds, actions, belief_histories } },
    );
    const [{ faults, scores }] = results;
    expect(faults!.map(({ index, code }) => [index, code])).toEqual([
      [77, 'bad_seed'],
      [301, 'illegal_action'],
      [399, expect.any(String)],
    ]);
    expect(faults![0].message).toContain('seeds[77]');
    expect(faults![1].message).toContain('actions[301]');
    expect(faults![2].message).toContain('belief_histories[399]');
    expect([77, 301, 399].map((row) => scores!.total[row])).toEqual([null, null, null]);
    expect(scores!.total.filter((total) => total === null)).toHaveLength(3);
  });

  it('with a wrong token is an error with a remedy', async () => {
    const score = { seeds: [7], action_histories: [[]], actions: ['sleep'] };
    const { results } = await callClient({ url, token: 'another token' }, { score });
    expect(results[0].error).toBe('RefusedError');
    expect(results[0].message).toMatch(/Expected 200.*\/v1\/score, got 401.*RHYTHM_TOKEN/);
  });
});

it.runIf(absent === null)('the client reports a refused Host without the remedy for tokens', async () => {
  const { port } = await startServer();
  const score = { seeds: [7], action_histories: [[]], actions: ['sleep'] };
  const { results } = await callClient({ url: `http://0.0.0.0:${port}` }, { score });
  expect(results[0].error).toBe('RefusedError');
  expect(results[0].message).toMatch(
    /got 403 .*Expected a Host of this machine.*got "0\.0\.0\.0:\d+".*--insecure/,
  );
  expect(results[0].message).not.toContain('RHYTHM_TOKEN');
});

describe.runIf(absent === null)('reward functions, called as TRL calls them', () => {
  const four = ['format_valid', 'action_legal', 'env_reward', 'belief_accuracy'];
  const names = [...four, 'belief_skill', 'total'];
  const trlColumns = {
    seed: columns.seeds,
    action_history: columns.action_histories.map((history) =>
      history.map((code) => ACTION_NAMES[code as number]),
    ),
    profile_mode: columns.profile_modes,
    belief_history: columns.belief_histories,
    step_index: columns.action_histories.map(({ length }) => length),
    completion_ids: rows.map(() => [1, 2]),
    policy: rows.map(() => 'random'),
    trainer_state: null,
  };
  const chats = completions.map((content, i) => {
    const parts = [
      { type: 'reasoning', text: 'no' },
      { type: 'text', text: content.slice(0, 9) },
      { type: 'text', text: content.slice(9) },
    ];
    return [{ role: 'assistant', content: i % 2 === 0 ? content : parts }];
  });

  it('pay nothing for a line inside a thought', async () => {
    const { url } = await startServer();
    const rewardsFor = (completion: string, of: object) => {
      const columns = { ...trlColumns, completions: rows.map(() => completion) };
      return { rewards: { of, names: ['action_legal'], columns } };
    };
    const { results } = await callClient(
      { url },
      rewardsFor('<think>\n1 2 3 SLEEP\nwould', {}),
      rewardsFor('hm\n1 2 3 SLEEP\nwould', { thought: 'open' }),
      rewardsFor('hm\n1 2 3 SLEEP\nwould', {}),
    );
    expect(results).toEqual([-1, -1, 0.5].map((reward) => ({ action_legal: rows.map(() => reward) })));
  });

  it('score texts and chats, with one request per batch and grader', async () => {
    const server = await faultyServer(await startServer());
    const { url } = server;
    const { results, warnings, pickled } = await callClient(
      { url },
      { rewards: { names, columns: { ...trlColumns, completions } } },
      { rewards: { names: [...names].reverse(), columns: { ...trlColumns, completions: chats } } },
      { rewards: { of: { grader: 'v3' }, names, columns: { ...trlColumns, completions } } },
    );
    const rewardsOf = (grader: string) => {
      const scores = expectedScores(answeredRows(), { grader });
      return Object.fromEntries(names.map((name) => [name, scores[name as keyof typeof scores]]));
    };
    expect(results).toEqual([rewardsOf('v2'), rewardsOf('v2'), rewardsOf('v3')]);
    expect(server.requests()).toBe(2);
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

  it('return None for an invalid row, and warn with the reason', async () => {
    const action_history = [['sleep'], ['slep'], []];
    const { url } = await startServer();
    const { results, warnings } = await callClient(
      { url },
      {
        rewards: {
          names,
          columns: { seed: [1, 1, -5], action_history, completions: ['0 0 0 SLEEP', '0 0 0 SLEEP', ''] },
        },
      },
    );
    for (const name of names) {
      const [valid, ...invalid] = results[0][name] as (number | null)[];
      expect(valid).toBeTypeOf('number');
      expect(invalid).toEqual([null, null]);
    }
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^RowFaultWarning: 2 of 3 rows have no rewards. row 1: .*slep.*; row 2: .*seeds\[2\]/,
    );
  });

  it('refuse datasets with missing or inconsistent columns before a request', async () => {
    const server = await faultyServer(await startServer());
    const names = ['total'];
    const { results } = await callClient(
      { url: server.url },
      { rewards: { names, columns: { completions: [''], seed: [1] } } },
      {
        rewards: { names, columns: { completions: [''], seed: [1], action_history: [[]], step_index: [3] } },
      },
      { rewards: { names, columns: { completions: ['', ''], seed: [1], action_history: [[]] } } },
    );
    expect(results[0]).toMatchObject({
      error: 'TypeError',
      message: expect.stringMatching(/action_history/),
    });
    expect(results[1].message).toMatch(/action_history\[0\].*step_index\[0\] = 3 actions, got 0/);
    expect(results[2].message).toMatch(/Expected 1 entries in completions.*got 2/);
    expect(server.requests()).toBe(0);
  });
});

it.runIf(absent === null)('Python 3.9 can parse the client, which imports only the standard library', () => {
  const modules = [
    '__init__',
    'batches',
    'client',
    'commands',
    'errors',
    'rewards',
    'scores',
    'servers',
    'serving',
    'texts',
    'transport',
  ];
  const paths = modules.map(
    (name) => new URL(`../../python/rhythm_vec/${name}.py`, import.meta.url).pathname,
  );
  // For each file, its imports of modules outside the standard library.
  expect(askPython('client/sources.py', paths)).toEqual(paths.map(() => []));
});
