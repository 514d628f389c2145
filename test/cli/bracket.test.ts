/** `--bracket` of eval and report: shares in the table, the JSON and the page. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BRACKET_AUDIT } from '../support/bracket.js';
import { runCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const EVAL = ['eval', '--conditions', 'ood,discrete', '--episodes', '4', '--policies', 'random,heuristic'];

it('eval --bracket prints the shares and writes them, and report reads the results', async () => {
  const [audit, json] = ['audit.json', 'results.json'].map(pathOf);
  writeFileSync(audit, JSON.stringify(BRACKET_AUDIT));
  const { code, stdout, stderr } = await runCli([...EVAL, '--bracket', audit, '--json', json]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('Anchors for sampled profiles under v2: 0.250 ±0.010 (0) and 0.750 ±0.020 (1).');
  expect(stdout).toContain('the anchors, 0.500 and 0.510, lie closer than 0.02.');
  const { rows, brackets } = JSON.parse(readFileSync(json, 'utf8'));
  expect(brackets[0]).toMatchObject({ grader: 'v2', anchors: BRACKET_AUDIT.anchors });
  const [{ share, final_score }] = rows;
  expect(share.mean).toBeCloseTo((final_score.mean - 0.25) / 0.5, 12);
  expect(share.low).toBeLessThan(share.mean);
  expect(rows.at(-1)).toMatchObject({ condition: 'discrete', share: null });

  const report = await runCli(['report', json, '--output', pathOf('page'), '--bracket', audit]);
  expect(report).toMatchObject({ code: 0, stderr: '' });
  const page = readFileSync(pathOf('page/report.html'), 'utf8');
  expect(page).toContain(`<bdi>${share.mean.toFixed(3)} ±${(share.high - share.mean).toFixed(3)}</bdi>`);
  expect(page).toContain('lie closer than 0.02.');
});
