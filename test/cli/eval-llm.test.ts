/** `eval --policies llm:MODEL` with a fake endpoint and its faults. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';
import type { FakeOpenAi } from '../fakes/openai.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { startModel } from '../support/llm.js';

const pathOf = temporaryDirectory();
const textOf = (name: string) => readFileSync(pathOf(name), 'utf8');
const rowsOf = (name: string) => JSON.parse(textOf(name)).rows;
/** Returns the episodes of a file, or of a journal, which also has answers and the amount spent. */
const episodesOf = (name: string) =>
  textOf(name)
    .split('\n')
    .filter((line) => line.startsWith('{"schema"'))
    .map(parseEpisode);

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
      ...['--details', '--prices', '2.5,10,1.25', '--json', pathOf('rows.json')],
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
    const stored = ['--trajectories', pathOf('parts.jsonl'), '--json', pathOf('names.json')];
    const { code } = await evaluate(fake, '--episodes', '1', '--policies', policies, ...stored);
    expect(code).toBe(0);
    const names = ['Qwen/Qwen2.5-3B-Instruct', 'gpt-4o:2024-11-20', 'a,b'];
    expect(rowsOf('names.json').map(({ policy }: { policy: string }) => policy)).toEqual(
      names.map((name) => `llm:${name}`),
    );
    expect([...new Set(fake.requests.map(({ body }) => body.model))]).toEqual(names);
    const regraded = await runCli(['regrade', '--jsonl', pathOf('parts.jsonl'), '--grader', 'v1']);
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
    const other = await evaluate(fake, ...options, '--temperature', '1');
    expect([other.code, fake.requests.length, textOf('all.jsonl')]).toEqual([2, 56, before]);
    expect(other.stderr).toMatch(/sampling of .*all\.jsonl:3 .* or pass another --trajectories\./);
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

  it('stops at the budget, reports the kept episodes, and resumes with a larger budget to the bytes of one run', async () => {
    const fake = await startModel();
    const run = (name: string, budget: string) =>
      evaluate(
        fake,
        ...['--conditions', 'ood,discrete', '--policies', 'llm:fake,heuristic', '--concurrency', '1'],
        ...['--prices', '2.5,10', '--max-tokens', '64', '--budget', budget],
        ...['--trajectories', pathOf(`${name}.jsonl`), '--json', pathOf(`${name}.json`)],
      );
    const { code, stderr } = await run('paid', '0.35');
    const stored = episodesOf('paid.jsonl.partial');
    // Episodes of a named profile are also stored under discrete.
    expect([code, stored.length > 2, existsSync(pathOf('paid.jsonl'))]).toEqual([3, true, false]);
    const count = new Set(stored.map(({ seed, profile_mode }) => `${seed} ${profile_mode}`)).size;
    const kept = `of 14 episodes of language models are kept in ${pathOf('paid.jsonl')}.partial; the same command resumes`;
    expect(stderr).toContain(`${stored.length} ${kept}`);
    const before = fake.requests.length;
    expect((await run('paid', '5')).code).toBe(0);
    expect(fake.requests.length - before).toBe((8 - count) * 28);
    await run('whole', '5');
    expect(textOf('paid.jsonl')).toBe(textOf('whole.jsonl'));
    expect(rowsOf('paid.json')).toEqual(rowsOf('whole.json'));
  });
});
