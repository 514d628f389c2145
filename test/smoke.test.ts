/** Runs most commands once, some on another command's output, and the server. Vitest's projects cli and server test more. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeHub } from './fakes/hub.js';
import { runCli, temporaryDirectory } from './support/cli.js';
import { sendRequest, startServer } from './support/server.js';

const pathOf = temporaryDirectory();
const read = (name: string): string => readFileSync(pathOf(name), 'utf8');

let hub: FakeHub;
beforeAll(async () => {
  hub = await FakeHub.open();
});
afterAll(() => hub.close());

/** Runs a command of words, with further arguments. */
async function run(command: string, ...further: string[]): Promise<string> {
  const args = [...command.split(' '), ...further];
  const { code, stdout, stderr } = await runCli(args, '', hub.environment);
  expect([code, stderr.split('\n').filter((line) => line.startsWith('error'))]).toEqual([0, []]);
  return stdout;
}

it('regrade and reeval read the files that eval writes', async () => {
  const [json, trajectories] = ['results.json', 'episodes.jsonl'].map(pathOf);
  const stored = ['--json', json, '--trajectories', trajectories];
  const table = await run('eval --conditions ood --episodes 3 --policies heuristic+constant', ...stored);
  expect(table).toContain('heuristic');
  const { rows } = JSON.parse(read('results.json'));
  expect(rows).toMatchObject([{ condition: 'ood', policy: 'heuristic', belief: 'constant', episodes: 3 }]);
  expect(await run('regrade --grader v1 --jsonl', trajectories)).toContain('grader v1');
  expect(await run('reeval --jsonl', trajectories)).toContain('3 episodes replayed, all as recorded');
});

it('dataset sft reads the file that teach writes, and upload reads the dataset', async () => {
  const output = pathOf('teacher.jsonl');
  await run('teach --seeds 100-101 --output', output);
  expect(read('teacher.jsonl').trim().split('\n')).toHaveLength(2);
  await run('dataset sft --min-score 0 --validation 0 --jsonl', output, '--output', pathOf('sft'));
  expect(read('sft/README.md')).toContain('rhythm-vec');
  expect(await run('upload --repo newcomer/sft --dry-run', pathOf('sft'))).toContain('--dry-run');
});

it('replay, dataset grpo and info run', async () => {
  writeFileSync(pathOf('rows.jsonl'), '{"seed":0,"actions":["sleep","deep_work"]}\n');
  await run('replay --input', pathOf('rows.jsonl'), '--output', pathOf('scored.jsonl'));
  expect(JSON.parse(read('scored.jsonl'))).toMatchObject({
    seed: 0,
    steps: [{ action: 'sleep' }, { action: 'deep_work' }],
  });
  await run('dataset grpo --rows 5 --output', pathOf('grpo.jsonl'));
  expect(read('grpo.jsonl').trim().split('\n')).toHaveLength(5);
  expect(await run('info')).toContain('layout digest');
});

it('the server begins an episode and scores a completion', async () => {
  const server = await startServer();
  expect((await sendRequest(server, 'GET', '/health')).body).toEqual({ status: 'healthy' });
  const { body } = await sendRequest(server, 'POST', '/reset', { seed: 1 });
  expect(body).toMatchObject({ done: false, observation: { step: 0 } });
  const scored = await sendRequest(server, 'POST', '/v1/score', {
    seeds: [0],
    action_histories: [[]],
    completions: ['5 5 5 SLEEP'],
  });
  expect(scored.status).toBe(200);
});
