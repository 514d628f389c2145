/** Jobs of a language model: no stored answer is paid for twice, and all workers share one budget and one rate limit. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { FAKE_KEY, FakeOpenAi } from '../../fakes/openai.js';
import { type Running, runCli, startCli, temporaryDirectory } from '../../support/cli.js';
import { billedFor, PRICES, startModel } from '../../support/llm.js';
import { read, runQueue, statusOf, stop, submit, workWith } from '../../support/queue.js';
import { describeWithRedis, until } from '../../support/redis.js';

const pathOf = temporaryDirectory();
const STEPS = 28;
/** `--shard-size 8` makes two shards of five. */
const EPISODES = 10;
const PRICED = ['--prices', `${PRICES.prompt},${PRICES.completion},${PRICES.cached}`];
const ARGS = ['teach', '--policy', 'llm:fake', '--seeds', '700-709', ...PRICED];

describeWithRedis('a job of a language model', (server) => {
  const start = (fake: FakeOpenAi): Running =>
    startCli(['queue', 'work', '--lease', '2'], { ...server.environment, ...fake.environment });

  /** The file that one process writes without a queue, and the cost of its answers. */
  let expected: { readonly file: string; readonly cost: number };
  beforeAll(async () => {
    const fake = await FakeOpenAi.open();
    const path = pathOf('one-process.jsonl');
    expect(await runCli([...ARGS, '--output', path], '', fake.environment)).toMatchObject({ code: 0 });
    expected = { file: read(path), cost: billedFor(fake) };
    await fake.close();
  });

  it('gives the file of one process, and pays for no stored answer again after workers and Redis were killed', async () => {
    const name = await submit(server, ...ARGS, '--concurrency', '2', '--shard-size', '8');
    const fake = await startModel({ delay: 10 });
    const client = server.client();
    const submission = await client.hget(`rhythm-vec:job:${name}`, 'submission');
    const answersOf = (index: number) => client.llen(`rhythm-vec:answers:${name}:${submission}:${index}`);
    /** The number of answers in Redis. A shard with a result has no list of answers any more. */
    const storedCount = async (): Promise<number> =>
      (await answersOf(0)) +
      (await answersOf(1)) +
      ((EPISODES * STEPS) / 2) * (await client.hlen(`rhythm-vec:results:${name}:${submission}`));
    const workers = [start(fake), start(fake)];
    await until(async () => (await storedCount()) >= 3 * STEPS);
    await server.kill();
    await server.restart();
    await stop(...workers);
    // An answer may still be on its way.
    await until(() => fake.billed.length === fake.requests.length);
    const kept = await storedCount();
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(EPISODES * STEPS);
    const before = fake.requests.length;
    workWith(server, fake, { lease: 2 });
    await runQueue(server, 'collect', name, '--output', pathOf('t.jsonl'));
    expect(fake.requests.length - before).toBe(EPISODES * STEPS - kept);
    client.disconnect();
    expect(read(pathOf('t.jsonl'))).toBe(expected.file);
    // The ledger has at least the billed cost, apart from rounding.
    expect((await statusOf(server, name)).spent).toBeGreaterThanOrEqual(billedFor(fake) * 0.999);
  });

  it('stays within its budget with two workers, and continues with a larger budget', async () => {
    const fake = await startModel();
    const whole = expected.cost;
    const budget = whole / 2;
    const submitWith = (amount: number, ...args: string[]) =>
      submit(server, ...ARGS, '--budget', String(amount), '--shard-size', '8', ...args);
    await expect(submitWith(budget)).rejects.toThrow(
      /Expected a job that was not collected, got .* If it is lost, pass --again/,
    );
    const name = await submitWith(budget, '--again');
    for (let worker = 0; worker < 2; worker++) workWith(server, fake);
    const collect = () =>
      runCli(['queue', 'collect', name, '--output', pathOf('b.jsonl')], '', server.environment);
    const stopped = await collect();
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toMatch(
      /to fit into the budget of \$.* Submit the job again with a larger --budget/,
    );
    expect(billedFor(fake)).toBeLessThanOrEqual(budget);
    expect(billedFor(fake)).toBeGreaterThan(budget / 2);
    const { spent, budget: limit } = await statusOf(server, name);
    expect(spent).toBeLessThanOrEqual(limit);
    expect(limit).toBeCloseTo(budget, 6);
    expect(await submitWith(10 * whole)).toBe(name);
    expect((await collect()).code).toBe(0);
    expect(read(pathOf('b.jsonl'))).toBe(expected.file);
  });

  it('never sends more requests in a window than the rate limit of all workers', async () => {
    // Five requests in 100 ms. The test shortens the window from a minute.
    const [rate, window] = [5, 100];
    const fake = await startModel();
    const args = [...ARGS, '--again', '--shard-size', '8', '--concurrency', '8'];
    const name = await submit(server, ...args, '--requests-per-minute', String(rate));
    const client = server.client();
    const ledger = `rhythm-vec:ledger:${name}:${await client.hget(`rhythm-vec:job:${name}`, 'submission')}`;
    expect(await client.hget(ledger, 'window')).toBe('60000');
    await client.hset(ledger, 'window', window);
    client.disconnect();
    for (let worker = 0; worker < 2; worker++) workWith(server, fake);
    await until(() => fake.requests.length >= 10 * rate);
    await runQueue(server, 'cancel', name);
    const times = fake.requests.map(({ receivedAt }) => receivedAt);
    const spans = times.slice(rate).map((time, k) => time - times[k]);
    expect(Math.min(...spans)).toBeGreaterThan(window);
  });

  it('takes the settings of a later submission, and stores no URL that may contain a key', async () => {
    const submitWith = (...args: string[]) =>
      runCli(
        ['queue', 'submit', 'teach', '--policy', 'llm:fake', '--seeds', '730-737', ...args],
        '',
        server.environment,
      );
    const first = await submitWith('--base-url', 'http://a/v1', '--timeout', '60', '--shard-size', '8');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const name = first.stdout.trim();
    const changes = ['--timeout', '30', '--retries', '2', '--system-role', 'user'];
    const again = await submitWith(...changes, '--priority', '7');
    expect(again.stdout).toBe(`${name}\n`);
    expect(again.stderr).toMatch(
      /--base-url \(the default\) instead of http:..a.v1, .* --timeout 30 instead of 60, .* keeps its 1 shard and priority 100/,
    );
    const client = server.client();
    const settings = await client.hget(`rhythm-vec:job:${name}`, 'settings');
    expect(JSON.parse(settings!)).toEqual({ timeout: '30', retries: '2', systemRole: 'user' });
    for (const url of ['http://a/v1?key=secret', 'http://user:secret@a/v1', 'http://a/#secret', 'secret']) {
      const refused = await submitWith('--base-url', url);
      expect(refused.stderr).toMatch(/^error: Expected --base-url .* Set OPENAI_BASE_URL in the environment/);
      expect(refused.stderr).not.toContain('secret');
    }
    const limited = await submitWith('--policy', 'planner', '--requests-per-minute', '5');
    expect(limited.stderr).toMatch(/with a language model \(llm:MODEL\), got/);
    expect(await client.hget(`rhythm-vec:job:${name}`, 'settings')).toBe(settings);
    client.disconnect();
    await runQueue(server, 'cancel', name);
  });

  it('plays an evaluation of a model beside a policy, each episode once', async () => {
    const seeds = ['--seeds', '100-101', '--conditions', 'custom,in-distribution', '--episodes', '1'];
    const args = ['eval', '--policies', 'heuristic+constant,llm:fake', ...seeds];
    const [withoutQueue, fake] = [await startModel(), await startModel()];
    const path = pathOf('eval-expected.jsonl');
    const { code } = await runCli([...args, '--trajectories', path], '', withoutQueue.environment);
    expect(code).toBe(0);
    const name = await submit(server, ...args, '--shard-size', '8');
    workWith(server, fake);
    await runQueue(server, 'collect', name, '--output', pathOf('eval.jsonl'));
    expect(read(pathOf('eval.jsonl'))).toBe(read(path));
    expect(fake.requests).toHaveLength(withoutQueue.requests.length);
  });

  it('leaves no key of the endpoint in Redis', () => {
    const folder = join(server.folder, 'appendonlydir');
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'));
    expect(files.join('')).toContain('llm:fake');
    expect(files.join('')).not.toContain(FAKE_KEY);
  });
});
