/** What the README says is what happens: its results table is computed again. docs.test.ts runs its examples. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { evaluate } from '../src/index.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

function section(title: string): string {
  const [, text] = readme.split(`\n## ${title}\n`);
  return text.split('\n## ')[0];
}

test('the loop has twenty lines', () => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(section('A loop of twenty lines'))!;
  expect(code.trimEnd().split('\n')).toHaveLength(20);
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
