/** What the README says is what happens: its tables are computed again. docs.test.ts runs its examples. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readComponents } from '../src/cli/components/stream.js';
import { headerText, rowsText } from '../src/cli/components/text.js';
import { renderRegraded } from '../src/cli/regrade/table.js';
import { wrap } from '../src/cli/table.js';
import { regradeStored } from '../src/evaluate/regraded.js';
import { evaluate, parseGrader } from '../src/index.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const api = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8');

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

test("the planner's table is what the evaluation computes, of those that take little time", async () => {
  const policies = [
    'heuristic+constant',
    'heuristic+inference',
    'blind-tape+inference',
    'planner',
    'planner-wellbeing',
  ];
  const { rows } = await evaluate({ conditions: ['ood'], policies });
  const [shown, page] = [section('A planner'), api].map((text) => text.split('\n'));
  for (const [k, { finalScore, beliefMae, components, earlyMean, lateMean }] of rows.entries()) {
    const score = `${finalScore.mean.toFixed(3)} ±${(finalScore.high! - finalScore.mean).toFixed(3)}`;
    const others = [beliefMae, components.adaptation, earlyMean!, lateMean!].map((value) => value.toFixed(3));
    const cells = [score, ...others].join(' | ');
    expect(page).toContain(`| ood | \`${policies[k]}\` | ${cells} |`);
    const line = shown.find((each) => each.startsWith(`| \`${policies[k]}\` |`))!;
    const [, within] = page
      .find((each) => each.startsWith(`| in-distribution | \`${policies[k]}\` |`))!
      .split('` | ');
    expect(line).toBe(`| \`${policies[k]}\` | ${within.split(' | ')[0]} | ${cells} |`);
  }
});

test('the ranking under another grader is what regrade prints', async () => {
  const [, shown] = /```console\n([\s\S]*?)```/.exec(section('Graders as data'))!;
  const [, grader] = /echo '(.*)' > calm\.json/.exec(section('Graders as data'))!;
  const lines: string[] = [];
  await evaluate({
    conditions: ['in-distribution'],
    onStart: (info) => lines.push(headerText(info)),
    onEpisodes: (episodes) => lines.push(rowsText(episodes)),
  });
  async function* bytes() {
    yield* lines.map((line) => Buffer.from(line));
  }
  const stored = await readComponents(bytes(), 'components.jsonl');
  expect(renderRegraded(regradeStored(stored, parseGrader(grader)))).toContain(shown);
});

test('the verdict on grader v2 is that of its audit, as printed', () => {
  const audited = readFileSync(new URL('../docs/audits/v2/audit.json', import.meta.url), 'utf8');
  const [, shown] = /```console\n([\s\S]*?)```/.exec(section('What does a grader pay for?'))!;
  expect(shown).toBe(`${wrap((JSON.parse(audited) as { verdict: string }).verdict)}\n`);
});
