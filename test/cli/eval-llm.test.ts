/** `eval --policies llm:MODEL` with a fake endpoint and its faults. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { parseEpisode } from '../../src/rollouts/trajectories/read-line.js';
import type { FakeOpenAi } from '../fakes/openai.js';
import { fromLines, runCli, startCli, temporaryDirectory } from '../support/cli.js';
import { startModel } from '../support/llm.js';

const pathOf = temporaryDirectory();
const textOf = (name: string) => readFileSync(pathOf(name), 'utf8');
const rowsOf = (name: string) => JSON.parse(textOf(name)).rows;
const episodesOf = (name: string) => textOf(name).trimEnd().split('\n').map(parseEpisode);

/** Runs `eval`, by default with the model of the fake endpoint and two episodes. */
const evaluate = (fake: FakeOpenAi, ...args: string[]) =>
  runCli(
    ['eval', '--policies', 'llm:fake', '--conditions', 'ood', '--episodes', '2', ...args],
    '',
    fake.environment,
  );

describe('a model', () => {
  it('has rows beside those of other policies, with its unparsed answers and its cost', async () => {
    const fake = await startModel({
      faultOf: ({ index }) => (index % 10 === 3 ? 'refusal' : index % 10 === 6 ? 'cut-off' : null),
    });
    const { code, stdout, stderr } = await evaluate(
      fake,
      ...['--policies', 'heuristic+constant,llm:fake', '--conditions', 'ood,discrete'],
      ...['--prices', '2.5,10,1.25', '--json', pathOf('rows.json')],
    );
    expect([code, stderr]).toEqual([0, '']);
    const rows = rowsOf('rows.json').filter((row: { policy: string }) => row.policy === 'llm:fake');
    expect(rows.map((row: { condition: string; episodes: number }) => [row.condition, row.episodes])).toEqual(
      [
        ['ood', 2],
        ['discrete:introvert_morning', 2],
        ['discrete:extrovert_night_owl', 2],
        ['discrete:workaholic_stoic', 2],
        ['discrete', 6],
      ],
    );
    expect(fake.requests).toHaveLength(8 * 28);
    const unparsed = fake.requests.filter(({ index }) => [3, 6].includes(index % 10)).length;
    const [ood, , , , pool] = rows.map((row: { unparsed: number }) => row.unparsed);
    // Two episodes under ood and six under discrete, of 28 answers each.
    expect(Math.round((ood * 2 + pool * 6) * 28)).toBe(unparsed);
    expect(stdout).toContain(`${((100 * unparsed) / 224).toFixed(1)} % without an action`);
    const requests = rows.slice(0, 4).map(({ usage }: { usage: { requests: number } }) => usage.requests);
    expect([requests, rows[4].usage]).toEqual([[56, 56, 56, 56], null]);
    expect(stdout).toMatch(/^llm:fake +ood +\d+\.\d % +\d+ +\d+ +56 +[\d,]+ +[\d,]+ +\$0\.\d+$/m);
    expect(stdout).toMatch(/^llm:fake +discrete +\d+\.\d %( +-){6}$/m);
    expect(stdout).toMatch(/^unparsed: the share of answers without an action; sleep was played instead\.$/m);
    expect(stdout).toMatch(/^llm:fake: prompted before every step/m);
    // The maximum length of a line of the output, chosen by hand.
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(140);
  });

  it('can be evaluated beside other models, with any characters in the names', async () => {
    const fake = await startModel();
    const policies = 'llm:Qwen/Qwen2.5-3B-Instruct,llm:gpt-4o:2024-11-20,llm:a\\,b';
    const stored = ['--components', pathOf('parts.jsonl'), '--json', pathOf('names.json')];
    const { code } = await evaluate(fake, '--episodes', '1', '--policies', policies, ...stored);
    expect(code).toBe(0);
    const names = ['Qwen/Qwen2.5-3B-Instruct', 'gpt-4o:2024-11-20', 'a,b'];
    expect(rowsOf('names.json').map(({ policy }: { policy: string }) => policy)).toEqual(
      names.map((name) => `llm:${name}`),
    );
    expect([...new Set(fake.requests.map(({ body }) => body.model))]).toEqual(names);
    const regraded = await runCli(['regrade', '--components', pathOf('parts.jsonl'), '--grader', 'v1']);
    expect(regraded.stdout).toMatch(/^llm:Qwen\/Qwen2\.5-3B-Instruct +0\.\d{3}/m);
  });

  it('with a permanent error of the endpoint gives an error, and neither a table nor results', async () => {
    const fake = await startModel({ faultOf: () => '404' });
    const { code, stdout, stderr } = await evaluate(fake, '--json', pathOf('failed.json'));
    expect([code, existsSync(pathOf('failed.json'))]).toEqual([1, false]);
    expect(stderr).toMatch(/^error: Expected /m);
    expect(stdout).not.toContain('final score');
  });
});

describe('eval with --trajectories', () => {
  it('stores all episodes of all policies, which replay as recorded, and requests no stored episode again', async () => {
    const fake = await startModel();
    const options = ['--policies', 'random,llm:fake', '--trajectories', pathOf('all.jsonl')];
    const first = await evaluate(fake, ...options, '--json', pathOf('first.json'));
    expect([first.code, fake.requests.length, existsSync(pathOf('all.jsonl.partial'))]).toEqual([
      0,
      56,
      false,
    ]);
    expect(episodesOf('all.jsonl').map(({ teacher, model, seed }) => [teacher, model, seed])).toEqual([
      ['random', null, 10000],
      ['random', null, 10001],
      ['llm', 'fake', 10000],
      ['llm', 'fake', 10001],
    ]);
    const reevaluation = await runCli(['reeval', '--jsonl', pathOf('all.jsonl')]);
    expect(reevaluation.stdout).toContain('4 episodes replayed, all as recorded, bit for bit.');
    const before = textOf('all.jsonl');
    const second = await evaluate(fake, ...options, '--json', pathOf('second.json'));
    expect([second.code, fake.requests.length, textOf('all.jsonl')]).toEqual([0, 56, before]);
    expect(rowsOf('second.json')).toEqual(rowsOf('first.json'));
  });

  it.each(['json', 'jsonl'])(
    'leaves no output, and keeps the paid episodes, if the .%s cannot be written',
    async (ending) => {
      const outputs = ['json', 'jsonl'].map((each) => pathOf(`${ending}-blocked.${each}`));
      const blocked = pathOf(`${ending}-blocked.${ending}`);
      const fake = await startModel({
        faultOf: () => {
          mkdirSync(blocked, { recursive: true });
          return null;
        },
      });
      const { code, stderr } = await evaluate(fake, '--json', outputs[0], '--trajectories', outputs[1]);
      expect([code, outputs.filter((path) => existsSync(path))]).toEqual([1, [blocked]]);
      expect(stderr).toContain('2 of 2 episodes of language models are kept');
      expect(episodesOf(`${ending}-blocked.jsonl.partial`)).toHaveLength(2);
    },
  );

  it('resumes after it was killed, with the same result', async () => {
    const options = [
      '--conditions',
      'ood,discrete',
      '--trajectories',
      pathOf('killed.jsonl'),
      '--concurrency',
      '1',
    ];
    // The endpoint stops answering during the fifth episode of eight.
    const stuck = await startModel({ faultOf: ({ index }) => (index >= 4 * 28 + 5 ? 'silence' : null) });
    const args = ['eval', '--policies', 'llm:fake,heuristic', '--episodes', '2', ...options];
    const running = startCli(args, stuck.environment);
    await waitForRequests(stuck, 4 * 28 + 6);
    // Two under ood, and two of the first profile. The latter two are also stored under discrete.
    const storedCount = (): number => textOf('killed.jsonl.partial').split('\n').length - 1;
    await vi.waitUntil(() => storedCount() === 2 + 2 * 2, { timeout: 60_000 });
    running.child.kill('SIGKILL');
    await running.finished;
    expect(existsSync(pathOf('killed.jsonl'))).toBe(false);
    // The file of the dollars spent, which needs --prices.
    expect(existsSync(pathOf('killed.jsonl.spent'))).toBe(false);
    const fake = await startModel();
    const { code } = await runCli([...args, '--json', pathOf('resumed.json')], '', fake.environment);
    expect([code, fake.requests.length]).toEqual([0, 4 * 28]);
    expect(existsSync(pathOf('killed.jsonl.partial'))).toBe(false);
    const whole = await startModel();
    const other = args.map((arg) => (arg === pathOf('killed.jsonl') ? pathOf('whole.jsonl') : arg));
    await runCli([...other, '--json', pathOf('whole.json')], '', whole.environment);
    expect(textOf('killed.jsonl')).toBe(textOf('whole.jsonl'));
    expect(rowsOf('resumed.json')).toEqual(rowsOf('whole.json'));
  });

  it('stops at the budget, reports the kept episodes, and resumes with a larger budget', async () => {
    const fake = await startModel();
    const options = [
      '--episodes',
      '4',
      '--trajectories',
      pathOf('paid.jsonl'),
      '--prices',
      '2.5,10',
      '--concurrency',
      '1',
    ];
    const stopped = await evaluate(fake, ...options, '--max-tokens', '64', '--budget', '0.15');
    expect(stopped.code).toBe(3);
    const storedCount = fromLines(textOf('paid.jsonl.partial')).length;
    expect(storedCount).toBeGreaterThan(0);
    expect(stopped.stderr).toContain(
      `${storedCount} of 4 episodes of language models are kept in ${pathOf('paid.jsonl')}.partial; the same command resumes`,
    );
    const resumed = await evaluate(fake, ...options, '--max-tokens', '64', '--budget', '5');
    expect(resumed.code).toBe(0);
    expect(episodesOf('paid.jsonl')).toHaveLength(4);
  });
});

/** Resolves when `count` requests have arrived. */
async function waitForRequests(fake: FakeOpenAi, count: number): Promise<void> {
  while (fake.requests.length < count) await new Promise((resolve) => setImmediate(resolve));
}

describe('eval refuses, as a usage error, before the first request,', () => {
  const refused: [string, string[], RegExp][] = [
    [
      'options of a model without a model',
      ['--policies', 'random', '--concurrency', '3'],
      /a language model for --concurrency, got none/,
    ],
    ['an empty name', ['--policies', 'llm:'], /a model name of 1 to 200 printable characters after llm:/],
    [
      'one price for two models',
      ['--policies', 'llm:a,llm:b', '--prices', '1,2'],
      /one language model with --prices.*a and b/,
    ],
    ['a budget without prices', ['--budget', '1'], /Expected --prices with --budget/],
    [
      'trajectories on the standard output',
      ['--trajectories', '-'],
      /to name a file when a language model is used, got -\./,
    ],
    [
      'too many episodes',
      ['--conditions', 'custom', '--seeds', '0-999999', '--episodes', '999999'],
      /at most 100000 episodes of llm:fake/,
    ],
    [
      'a file of another policy',
      ['--trajectories', pathOf('other.jsonl')],
      /got one of random\. Pass the --policies of the earlier run, or another --trajectories\./,
    ],
    [
      'a file under another grader',
      ['--policies', 'random,llm:fake', '--grader', 'v1', '--trajectories', pathOf('other.jsonl')],
      /Expected --grader of .*other\.jsonl:1 to be v1, got v2\./,
    ],
    [
      'a file of episodes with other sampling parameters',
      ['--temperature', '1', '--trajectories', pathOf('sampled.jsonl')],
      /sampling of .*sampled\.jsonl:1 .* or pass another --trajectories\./,
    ],
  ];
  it.each(refused)('%s', async (_, args, message) => {
    await runCli(['eval', '--policies', 'random', '--seeds', '1-1', '--trajectories', pathOf('other.jsonl')]);
    const fake = await startModel();
    if (args.includes(pathOf('sampled.jsonl')) && !existsSync(pathOf('sampled.jsonl'))) {
      await evaluate(fake, '--trajectories', pathOf('sampled.jsonl'));
    }
    const before = fake.requests.length;
    const { code, stdout, stderr } = await evaluate(fake, ...args);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect([code, stdout, fake.requests.length]).toEqual([2, expect.not.stringContaining('score'), before]);
  });

  it('an invalid line, without changing the file', async () => {
    writeFileSync(pathOf('broken.jsonl'), 'not an episode\n');
    const fake = await startModel();
    const { code, stderr } = await evaluate(fake, '--trajectories', pathOf('broken.jsonl'));
    expect([code, textOf('broken.jsonl'), fake.requests.length]).toEqual([2, 'not an episode\n', 0]);
    expect(stderr).toMatch(/Expected an episode at .*broken\.jsonl:1.*or pass another --trajectories\./);
  });
});
