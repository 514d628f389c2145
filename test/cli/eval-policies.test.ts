/** Policies from files in `eval` and `teach`: results, trajectories and refused files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const EXAMPLE = './examples/recurrent-policy.js';
const EVAL = ['eval', '--conditions', 'ood', '--episodes', '6'];

describe('eval --policies FILE', () => {
  it('plays a policy from a file, and reeval, regrade and report read its results', async () => {
    const [json, trajectories] = ['r.json', 't.jsonl'].map(pathOf);
    const names = `${EXAMPLE},${EXAMPLE}+inference,heuristic+constant`;
    const outputs = ['--json', json, '--trajectories', trajectories];
    const { code, stdout } = await runCli([...EVAL, '--policies', names, ...outputs]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^recurrent-policy {2,}0\.6/m);
    const { rows } = JSON.parse(readFileSync(json, 'utf8'));
    expect(rows.map(({ policy }: { policy: string }) => policy)).toEqual([
      'recurrent-policy',
      'recurrent-policy+inference',
      'heuristic',
    ]);
    expect(rows[0].wins).toEqual({ won: 6, lost: 0, tied: 0 });
    const reeval = await runCli(['reeval', '--jsonl', trajectories]);
    expect(reeval).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^recurrent-policy\+inference {2,}0\.6/m),
    });
    const regraded = await runCli(['regrade', '--jsonl', trajectories, '--grader', 'v1']);
    expect(regraded).toMatchObject({ code: 0, stdout: expect.stringMatching(/^recurrent-policy /m) });
    const report = await runCli(['report', json, trajectories, '--output', pathOf('page')]);
    expect(report).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(pathOf('page/report.html'), 'utf8')).toContain('recurrent-policy+inference');
  });

  it.each([
    ['number.js', 'export default 3', /Expected the default export .* got 3\./],
    ['maker.js', 'export default () => 3', /got a function that returned 3\./],
    ['throws.js', 'throw new Error("no weights")', /a policy from .*throws\.js, got: no weights/],
    ['wrong.js', 'export default ({ steps }) => ({ actions: steps.map(() => 12) })', /"wrong" .* at step 0/],
  ])('refuses %s: %s', async (name, text, message) => {
    writeFileSync(pathOf(name), text);
    const { code, stderr } = await runCli([...EVAL, '--policies', pathOf(name)]);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
  });

  it('awaits a function that makes the policy', async () => {
    writeFileSync(
      pathOf('made.js'),
      'export default async () => ({ steps }) => ({ actions: steps.map(() => 3) })',
    );
    const { stdout } = await runCli([...EVAL, '--policies', pathOf('made.js')]);
    expect(stdout).toMatch(/^made /m);
  });
});

it('teach --policy FILE writes episodes of a policy with beliefs and reasons, which reeval replays', async () => {
  const path = pathOf('teach.jsonl');
  const args = ['teach', '--policy', `${EXAMPLE}+inference`, '--seeds', '200-201', '--output', path];
  expect(await runCli(args)).toMatchObject({ code: 0 });
  const [episode] = readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line && JSON.parse(line));
  expect(episode).toMatchObject({ teacher: 'recurrent-policy+inference', model: null, oracle: false });
  expect(episode.steps[5].completion).toMatch(/^<reasoning>.+<\/reasoning>\n\d \d \d EXERCISE$/s);
  expect(await runCli(['reeval', '--jsonl', path])).toMatchObject({ code: 0 });
});
