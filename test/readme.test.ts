/** What the README says is what happens: its loop is run, its results table is computed again. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { evaluate } from '../src/index.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

function section(title: string): string {
  const [, text] = readme.split(`\n## ${title}\n`);
  return text.split('\n## ')[0];
}

test('the loop has twenty lines and prints what the README says', () => {
  const loop = section('A loop of twenty lines');
  const code = /```ts\n([\s\S]*?)```/.exec(loop)![1];
  const printed = /It prints `([^`]*)`/.exec(loop)![1];
  expect(code.trimEnd().split('\n')).toHaveLength(20);
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(output.trim()).toBe(printed);
});

test('the results table is what the evaluation computes', async () => {
  const { rows } = await evaluate({});
  const lines = section('Results')
    .split('\n')
    .filter((line) => line.startsWith('| ') && /\d/.test(line));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const [condition, policy, ...cells] = line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1);
    const name = condition.replaceAll('`', '');
    const [policyName, belief = 'none'] = policy.replaceAll('`', '').split('+');
    const row = rows.find(
      (each) => each.condition === name && each.policy === policyName && each.belief === belief,
    )!;
    const { mean, low } = row.finalScore;
    expect(cells[0], line).toBe(`${mean.toFixed(3)} ±${(mean - low!).toFixed(3)}`);
    expect(cells[2], line).toBe(row.beliefMae.toFixed(3));
  }
});
