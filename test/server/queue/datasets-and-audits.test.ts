/** Jobs of `dataset grpo` and `audit`: two workers give the files of the command without a queue. */
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../../support/cli.js';
import { read, runQueue, submit, workHere } from '../../support/queue.js';
import { describeWithRedis, RedisServer } from '../../support/redis.js';

const pathOf = temporaryDirectory();

describeWithRedis('two workers', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.close());

  const statusOf = async (name: string) => JSON.parse(await runQueue(server, 'status', name, '--json'));

  it('give the rows and the card of dataset grpo, as JSON lines and as Parquet', async () => {
    const args = ['dataset', 'grpo', '--rows', '61', '--profiles', 'mix', '--steps', '0-3', '--grader', 'v3'];
    for (let worker = 0; worker < 2; worker++) workHere(server);
    for (const file of ['train.jsonl', 'train.parquet']) {
      // The card has the name of the file, so both commands write a file of the same name.
      const [one, many] = ['one', 'many'].map((folder) => pathOf(`${file}-${folder}`));
      for (const folder of [one, many]) mkdirSync(folder);
      const name = await submit(server, ...args, '--shard-size', '16');
      expect(name).toMatch(/^dataset-[\da-f]{12}$/);
      await runQueue(server, 'collect', name, '--output', `${many}/${file}`);
      expect(await runCli([...args, '--output', `${one}/${file}`])).toMatchObject({ code: 0 });
      for (const each of [file, 'README.md']) {
        expect(readFileSync(`${many}/${each}`).equals(readFileSync(`${one}/${each}`))).toBe(true);
      }
      expect(await statusOf(name)).toMatchObject({ state: 'collected', shards: 4, rows: 61, failures: 0 });
    }
  });

  it('give the JSON and the tables of audit', async () => {
    const sizes = ['--evaluations', '1000', '--episodes', '8', '--profiles', '2', '--planner-episodes', '2'];
    const args = ['audit', ...sizes, '--grader', 'v3'];
    const [one, many] = ['one', 'many'].map((name) => pathOf(`${name}.json`));
    const name = await submit(server, ...args, '--shard-size', '10');
    for (let worker = 0; worker < 2; worker++) workHere(server);
    const whole = await runCli([...args, '--json', one]);
    const tables = await runQueue(server, 'collect', name, '--output', many);
    const withoutSeconds = (text: string) => text.replace(/"seconds": .*/, '').replace(/^[\d.]+ s\.$/m, '');
    expect(withoutSeconds(read(many))).toBe(withoutSeconds(read(one)));
    expect(withoutSeconds(tables)).toBe(withoutSeconds(whole.stdout));
    expect(await statusOf(name)).toMatchObject({ state: 'collected', shards: 2, failures: 0 });
  });
});
