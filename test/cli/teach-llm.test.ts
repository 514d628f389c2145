/** `teach --policy llm:MODEL` with a fake endpoint. */
import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { modelPlayer } from '../../src/agents/llm/language-model.js';
import { dollars } from '../../src/agents/llm/ledger.js';
import { episodeLine, parseEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { FAKE_KEY, type FakeOptions } from '../fakes/openai.js';
import type { Fault } from '../fakes/openai-faults.js';
import { MAIN, runCli, startCli, temporaryDirectory } from '../support/cli.js';
import { billedFor, startModel } from '../support/llm.js';
import { episodeStarts, recordEpisodes } from '../support/trajectories.js';

const pathOf = temporaryDirectory();

let folderCount = 0;
/** Starts a fake endpoint. Returns it and a command that uses it, with an output in a new folder. */
async function startTeacher(options: FakeOptions = {}) {
  const fake = await startModel(options);
  // The command creates the folder.
  const folder = pathOf(`${folderCount++}`);
  const output = join(folder, 't.jsonl');
  const args = (...more: string[]) => ['teach', '--policy', 'llm:fake', '--output', output, ...more];
  const run = (more: string[], env: Record<string, string> = fake.environment) =>
    runCli(args(...more), '', env);
  const start = (...more: string[]) => startCli(args(...more), fake.environment);
  return { fake, folder, output, args, run, start };
}

const linesIn = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
/** Returns the lines of finished episodes in a journal, which also has answers and the amount spent. */
const storedIn = (path: string): string[] => linesIn(path).filter((line) => line.startsWith('{"schema"'));
/** Returns the number of stored answers of unfinished episodes in a journal. */
function openAnswersIn(path: string): number {
  const seeds = storedIn(path).map((line) => parseEpisode(line).seed);
  const answers = linesIn(path).filter((line) => line.startsWith('{"answer"'));
  return answers.filter((line) => !seeds.some((seed) => line.includes(` ${seed}"`))).length;
}
const episodesIn = (path: string) => linesIn(path).map(parseEpisode);

describe('an output file of `teach --policy llm:MODEL`', () => {
  it('has episodes in the order of seeds, with the sampling options, and replays bit for bit', async () => {
    const { fake, folder, output, run } = await startTeacher();
    const { code, stdout, stderr } = await run([
      ...['--seeds', '100-104', '--concurrency', '3', '--prices', '2.5,10,1.25', '--temperature', '0.7'],
    ]);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(
      /^5 episodes in .*t\.jsonl\.\n140 requests; [\d,]+ prompt and [\d,]+ completion tokens; \$0\.\d+, \$0\.\d+ of it for whole episodes\.\nOf the answers 0\.0 % without an action, 0\.0 % cut off, 0\.0 % refused\.\n$/,
    );
    const episodes = episodesIn(output);
    expect(episodes.map(({ seed }) => seed)).toEqual([100, 101, 102, 103, 104]);
    for (const { teacher, model, objective, oracle, sampling, usage } of episodes) {
      expect([teacher, model, objective, oracle]).toEqual(['llm', 'fake', null, false]);
      expect(sampling).toEqual({ max_tokens: 512, temperature: 0.7 });
      expect(usage).toMatchObject({ requests: 28, cut_off: 0, refused: 0, cost_usd: expect.any(Number) });
    }
    expect(fake.maxConcurrent).toBeLessThanOrEqual(3);
    expect(readdirSync(folder)).toEqual(['t.jsonl']);
    const reevaluation = await runCli(['reeval', '--jsonl', output]);
    expect(reevaluation.stdout).toContain('5 episodes replayed, all as recorded, bit for bit.');
  });

  it('that exists is reused: only missing episodes are requested', async () => {
    const { fake, output, run } = await startTeacher();
    await run(['--seeds', '100-101']);
    const before = linesIn(output);
    const { stderr } = await run(['--seeds', '100-102']);
    expect(stderr).toMatch(/^3 episodes in .*, 2 of them from earlier runs\.\n/);
    expect([fake.requests.length, linesIn(output).slice(0, 2)]).toEqual([84, before]);
    expect(episodesIn(output)[2].seed).toBe(102);
  });
});

it('`teach` records the prompts of `prompt`, also if the rules are sent in the user message', async () => {
  const sent = async (fault: Fault, ...more: string[]) => {
    const { fake, output, run } = await startTeacher({ faultOf: () => fault });
    const { code } = await run(['--seeds', '100-100', ...more]);
    const roles = fake.requests.map(({ body }) =>
      (body.messages as { role: string }[]).map(({ role }) => role),
    );
    return {
      code,
      roles: roles.join(' '),
      episodes: episodesIn(output).map(({ usage, ...rest }) => rest),
      output,
    };
  };
  const byDefault = await sent(null);
  const byOption = await sent('no-system-role', '--system-role', 'user');
  const found = await sent('no-system-role');
  expect(byDefault.roles).toBe(Array(28).fill('system,user').join(' '));
  expect(byOption.roles).toBe(Array(28).fill('user').join(' '));
  expect(found.roles).toBe(`system,user ${byOption.roles}`);
  expect(byOption).toMatchObject({ code: 0, episodes: byDefault.episodes });
  expect(found).toMatchObject({ code: 0, episodes: byDefault.episodes });
  expect((await runCli(['reeval', '--jsonl', found.output])).stdout).toContain(
    '1 episode replayed, all as recorded',
  );
});

describe('`teach --policy llm:MODEL` resumes', () => {
  it('after it was killed: no finished episode and no stored answer is lost, and none is requested twice', async () => {
    const { fake, output, run, start } = await startTeacher({ delay: 3 });
    const partial = `${output}.partial`;
    let kept: string[] = [];
    for (const minimum of [1, 3]) {
      const running = start('--seeds', '100-105', '--concurrency', '3');
      await vi.waitUntil(() => storedIn(partial).length >= minimum && openAnswersIn(partial) > 0, {
        timeout: 60_000,
        interval: 20,
      });
      running.child.kill('SIGKILL');
      await running.finished;
      expect(storedIn(partial).slice(0, kept.length)).toEqual(kept);
      kept = storedIn(partial);
      // An incomplete line, as after a kill during a write.
      appendFileSync(partial, kept[0].slice(0, 1234));
    }
    const before = fake.requests.length;
    const answers = openAnswersIn(partial);
    expect(answers).toBeGreaterThan(0);
    const { code, stderr } = await run(['--seeds', '100-105', '--concurrency', '3']);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`${kept.length} of them from earlier runs`)]);
    expect(fake.requests.length - before).toBe((6 - kept.length) * 28 - answers);
    const lines = linesIn(output);
    expect(lines.map((line) => parseEpisode(line).seed)).toEqual([100, 101, 102, 103, 104, 105]);
    for (const line of kept) expect(lines).toContain(line);
    expect(fake.maxConcurrent).toBeLessThanOrEqual(3);
    expect((await runCli(['reeval', '--jsonl', output])).code).toBe(0);
  });

  it('after it was interrupted, as its message says', async () => {
    const { folder, output, start, run } = await startTeacher({ delay: 3 });
    const running = start('--seeds', '100-105', '--prices', '2.5,10');
    await vi.waitUntil(() => storedIn(`${output}.partial`).length > 0, { timeout: 60_000, interval: 5 });
    running.child.kill('SIGINT');
    const { code, stderr } = await running.finished;
    expect(code).toBe(130);
    expect(stderr).toMatch(
      /\d of 6 episodes (is|are) kept in .*t\.jsonl\.partial; the same command resumes from there\.\nerror: Interrupted/,
    );
    expect(readdirSync(folder).sort()).toEqual(['t.jsonl.partial']);
    expect((await run(['--seeds', '100-105', '--prices', '2.5,10'])).code).toBe(0);
    expect(readdirSync(folder)).toEqual(['t.jsonl']);
  });

  it('after the budget was exhausted; the budget includes earlier spending', async () => {
    const { output, run } = await startTeacher();
    const prices = ['--prices', '2.5,10,1.25', '--max-tokens', '64'];
    const args = ['--seeds', '100-107', '--concurrency', '3', ...prices];
    const first = await run([...args, '--budget', '0.1']);
    expect(first.code).toBe(3);
    expect(first.stderr).toMatch(
      /\d of 8 episodes are kept in .*resumes from there\.\nerror: Expected the next episode to fit into the budget of \$0\.10, got \$0\.\d+ spent and \$0\.\d+ needed for it\. Raise the budget \(--budget\) to go on\.\n$/,
    );
    const kept = storedIn(`${output}.partial`);
    expect(kept.length).toBeGreaterThan(1);
    expect((await run([...args, '--budget', '0.1'])).code).toBe(3);
    expect(storedIn(`${output}.partial`)).toEqual(kept);
    const costs = kept.map((line) => parseEpisode(line).usage!.cost_usd!);
    expect(costs.reduce((sum, cost) => sum + cost)).toBeLessThanOrEqual(0.1);
    const last = await run([...args, '--budget', '5']);
    expect([last.code, episodesIn(output).length]).toEqual([0, 8]);
  });
});

it('`teach` at the limit of the file size keeps the episodes that fit, counts all costs, and names the remedy', async () => {
  const { fake, output, args, run } = await startTeacher();
  const options = ['--seeds', '100-107', '--prices', '2.5,10,1.25', '--concurrency', '3'];
  // The limit is in kilobytes: two episodes fit, and perhaps a third.
  const limited = 'ulimit -f 200; exec "$0" "$@"';
  const env = { ...process.env, ...fake.environment };
  const words = ['-c', limited, process.execPath, MAIN, ...args(...options)];
  const failed = await promisify(execFile)('bash', words, { env }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: { readonly code: number; readonly stderr: string }) => error,
  );
  expect([failed.code, failed.stderr]).toEqual([
    1,
    expect.stringMatching(
      /(\d) of 8 episodes are kept in .*\.partial; .* resumes from there\.\nerror: Expected the system call write to succeed, got EFBIG: file too large, write '.*\/t\.jsonl\.partial'\. Raise the limit of the file size \(ulimit -f\), or choose another place\.\n$/,
    ),
  ]);
  const amounts = linesIn(`${output}.partial`).filter((line) => line.startsWith('{"spent_usd"'));
  const spent: number = JSON.parse(amounts.at(-1)!).spent_usd;
  expect(spent).toBeGreaterThanOrEqual(billedFor(fake) - 1e-9);
  const kept = storedIn(`${output}.partial`);
  const { code, stderr } = await run(options);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`, ${kept.length} of them from earlier runs.`)]);
  expect(stderr).toContain(`, after ${dollars(spent)} in earlier runs`);
  expect(linesIn(output)).toEqual(expect.arrayContaining(kept));
});

it('`teach` prints a note with a remedy if many answers have no action', async () => {
  const { run } = await startTeacher({ faultOf: ({ index }) => (index % 4 === 0 ? 'cut-off' : null) });
  const { stderr } = await run(['--seeds', '100-100']);
  expect(stderr).toMatch(/Of the answers 25\.0 % without an action, 25\.0 % cut off/);
  expect(stderr).toMatch(
    /note: 25\.0 % of the answers named no action; sleep was played instead\. Many were cut off: raise --max-tokens\./,
  );
});

describe('the key appears in no output', () => {
  const faults = ['echo', '401', 'echo-answer', 'html'];
  it.each(faults)('if the endpoint has the fault %s', async (fault) => {
    // The first episode, of 28 requests, ends without a fault, so there is a file to search for the key.
    const { folder, run, fake } = await startTeacher({
      faultOf: ({ index }) => (index >= 30 ? fault : null),
    });
    const environment = { ...fake.environment, OPENAI_LOG: 'debug', NODE_DEBUG: 'fetch' };
    const { stdout, stderr } = await run(
      ['--seeds', '100-103', '--concurrency', '1', '--retries', '0', '--prices', '1,1'],
      environment,
    );
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(files.length).toBeGreaterThan(0);
    for (const text of [stdout, stderr, ...files]) {
      expect(text).not.toContain(FAKE_KEY);
      expect(text).not.toContain(Buffer.from(FAKE_KEY).toString('base64'));
    }
  });
});

it('`teach --policy llm:MODEL` refuses, before the first request, a file of another teacher, or with other settings', async () => {
  const { fake, folder, output, run } = await startTeacher();
  const starts = episodeStarts([100]);
  const grader = 'v2';
  const [valid] = recordEpisodes(starts, { player: modelPlayer('fake'), grader });
  mkdirSync(folder);
  for (const [episode, message] of [
    [recordEpisodes(starts)[0], /the policy of .*t\.jsonl:1 to be "llm:fake", got "test"/],
    [{ ...valid, model: 'other' }, /the policy of .*t\.jsonl:1 to be "llm:fake", got "llm:other"/],
    [recordEpisodes(starts, { player: modelPlayer('fake'), grader: 'v1' })[0], /--grader of/],
    [valid, /sampling of .* got "null"/],
    [{ ...valid, sampling: { max_tokens: 512, temperature: 0 } }, /sampling of/],
    [{ ...valid, sampling: { max_tokens: 512 }, system: 'Play well.' }, /system message of/],
  ] as const) {
    writeFileSync(output, episodeLine(episode));
    const { code, stderr } = await run(['--seeds', '100-101']);
    expect(stderr).toMatch(message);
    expect([code, readdirSync(folder)]).toEqual([2, ['t.jsonl']]);
    expect(readFileSync(output, 'utf8')).toBe(episodeLine(episode));
  }
  expect(fake.requests.length).toBe(0);
});
