/** `prompts`, `parse`, and `score` with the option `parsed`, of rhythm_vec: the same texts and answers as in TypeScript. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { ACTION_NAMES, createVecEnv, parseCompletions, prompts, scoreReplay } from '../../src/index.js';
import { float32Decimals } from '../../src/shared/float32-decimal.js';
import { MAIN } from '../support/cli.js';
import { askPythonAsync } from '../support/python.js';
import { callClient, faultyServer, whyAbsent } from '../support/python-client.js';
import { startServer } from '../support/server.js';

const absent = whyAbsent();
if (absent !== null) test.skip(`texts from Python: NOT TESTED here: ${absent}`, () => {});

const ROWS = 60;
const rows = Array.from({ length: ROWS }, (_, i) => i);
const seeds = rows.map((i) => 500 + i);
const codes = rows.map((i) => Array.from({ length: i % 28 }, (_, t) => (i + 3 * t) % 10));
const action_histories = codes.map((row) => row.map((code) => ACTION_NAMES[code]));
const profile_modes = rows.map((i) => ['sampled', 'discrete', 'introvert_morning'][i % 3]);
const completions = rows.map((i) => {
  const answer = `${i % 10} ${(i + 3) % 10} ${(i + 7) % 10} ${ACTION_NAMES[i % 10].toUpperCase()}`;
  return [`<reasoning>\u00e4 \u{1f600}</reasoning>\n${answer}`, '', 'SLEEP', '1 2 3', `<reasoning>${answer}`][
    i % 5
  ];
});
const chats = completions.map((content) => [
  { role: 'user', content: 'ignored' },
  { role: 'assistant', content },
]);

/** Returns the chats of prompts() for the rows. */
function expectedChats(grader: string) {
  using env = createVecEnv({ numEnvs: ROWS, observation: { history: true } });
  env.reset({ seed: seeds, profiles: profile_modes });
  const sequence = new Uint8Array(ROWS * 28);
  codes.forEach((row, i) => {
    sequence.set(row, i * 28);
  });
  const { observations } = env.run(sequence, { stops: codes.map(({ length }) => length) });
  return prompts(observations, undefined, { grader });
}

function expectedParsed() {
  const { actions, beliefs, given } = parseCompletions(completions);
  return {
    actions: Array.from(actions, (code) => ACTION_NAMES[code] ?? null),
    codes: Array.from(actions),
    beliefs: rows.map((i) => (given[i] ? float32Decimals(beliefs.subarray(3 * i, 3 * i + 3)) : null)),
  };
}

it.runIf(absent === null)('the example of the guide prints what the guide shows', async () => {
  const page = readFileSync(new URL('../../docs/guides/text-from-python.md', import.meta.url), 'utf8');
  const [, code, output] = /^```python\n(.*?)^```\n\n```txt\n(.*?)^```$/ms.exec(page)!;
  const env = { RHYTHM_COMMAND: `"${process.execPath}" "${MAIN}"` };
  expect(await askPythonAsync('client/example.py', { code, env })).toBe(output);
});

describe.runIf(absent === null)('texts from Python', () => {
  let parsed: ReturnType<typeof expectedParsed>;
  beforeAll(() => {
    parsed = expectedParsed();
  });

  it.each([2 ** 18, 7])(
    'prompts equal those of TypeScript, in requests of at most %d rows',
    async (row_limit) => {
      const { url } = await startServer();
      const columns = { seeds, action_histories, profile_modes };
      const { results } = await callClient(
        { url, row_limit },
        { prompts: columns },
        { prompts: { ...columns, grader: 'v3' } },
        { prompts: { seeds: [500], action_histories: [[]], profile_modes: 'discrete' } },
        { prompts: { seeds: [], action_histories: [] } },
      );
      expect(results[0].chats).toEqual(expectedChats('v2'));
      expect(results[1].chats).toEqual(expectedChats('v3'));
      expect(results[2].chats).toHaveLength(1);
      expect(results[3].chats).toEqual([]);
    },
  );

  it.each([2 ** 18, 7])(
    'parse finds the answers in texts and chats, in requests of at most %d rows',
    async (row_limit) => {
      const { url } = await startServer();
      const { results } = await callClient(
        { url, row_limit },
        { parse: completions },
        { parse: chats },
        { parse: [] },
        { parse: ['hm\nSLEEP\nwould', 'hm\nSLEEP\n</think>\nLEARN'], thought: 'open' },
        { parse: [], thought: 'opened' },
      );
      expect(results.slice(0, 3).map((result) => result.parsed)).toEqual([
        parsed,
        parsed,
        { actions: [], codes: [], beliefs: [] },
      ]);
      expect(results[3].parsed).toMatchObject({ actions: [null, 'learn'] });
      expect(results[4].message).toMatch(/got 422.*thought/);
    },
  );

  it('score parses and scores in one request', async () => {
    const server = await faultyServer(await startServer());
    const request = {
      seeds,
      action_histories,
      profile_modes,
      completions: chats,
      parsed: true,
      grader: 'v3',
    };
    const { results } = await callClient({ url: server.url }, { score: request });
    expect(server.requests()).toBe(1);
    const opened = { ...request, completions: rows.map(() => 'hm\nSLEEP'), thought: 'open' };
    const { results: none } = await callClient({ url: server.url }, { score: opened });
    expect(none[0].parsed).toMatchObject({ actions: rows.map(() => null) });
    expect(results[0].parsed).toEqual(parsed);
    const expected = scoreReplay(
      rows.map((i) => ({
        seed: seeds[i],
        profileMode: profile_modes[i],
        actionHistory: codes[i],
        action: parsed.actions[i],
        belief: parsed.beliefs[i],
      })),
      { grader: 'v3' },
    ).rewards.total;
    expect(results[0].scores!.total).toEqual(float32Decimals(expected));
  });

  it('score also parses the completions of invalid rows, and refuses the option parsed with actions', async () => {
    const { url } = await startServer();
    const request = { seeds: [-1, 5], action_histories: [[], []], parsed: true };
    const { results } = await callClient(
      { url },
      { score: { ...request, completions: ['1 2 3 SLEEP', 7] } },
      { score: { ...request, actions: [0, 0] } },
    );
    expect(results[0].parsed).toMatchObject({
      actions: ['sleep', null],
      codes: [ACTION_NAMES.indexOf('sleep'), -1],
    });
    expect(results[0].faults!.map(({ index }) => index)).toEqual([0, 1]);
    expect(results[1].message).toMatch(/got 422.*body\.parsed: Expected parsed with completions only/);
  });

  it('errors name an invalid row by its index in the whole batch, not in its request', async () => {
    const { url } = await startServer();
    const invalid = action_histories.map((row, i) => (i === 33 ? ['fly'] : row));
    const { results } = await callClient(
      { url, row_limit: 8 },
      { prompts: { seeds, action_histories: invalid } },
      { parse: completions.map((text, i) => (i === 41 ? null : text)) },
      { prompts: { seeds, action_histories: [[]] } },
    );
    expect(results[0]).toMatchObject({
      error: 'RefusedError',
      message: expect.stringContaining('action_histories[33][0]'),
    });
    expect(results[1].message).toMatch(/got 422.*Expected a string at completions\[41\], got null/);
    expect(results[2]).toMatchObject({
      error: 'InputError',
      message: expect.stringContaining('Expected 60 entries in action_histories (as many as seeds), got 1'),
    });
  });
});
