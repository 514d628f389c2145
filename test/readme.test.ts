/** What the README and docs/commands.md say is what happens: tables are computed again. docs.test.ts runs examples. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readComponents } from '../src/cli/components/stream.js';
import { headerText, rowsText } from '../src/cli/components/text.js';
import { renderRegraded } from '../src/cli/regrade/table.js';
import { wrap } from '../src/cli/table.js';
import { CONDITIONS } from '../src/conditions.js';
import { published } from '../src/evaluate/published.js';
import { regradeStored } from '../src/evaluate/regraded.js';
import { evaluate, parseGrader } from '../src/index.js';
import { POLICY_NAMES } from '../src/policies/policies.js';
import { STEPPED_NAMES } from '../src/policies/stepped.js';
import { runCli } from './support/cli.js';

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (path: string): string => readFileSync(at(path), 'utf8');
const [readme, api, commands] = ['README.md', 'docs/api.md', 'docs/commands.md'].map(read);

function section(title: string, page = readme): string {
  const [, text] = page.split(`\n## ${title}\n`);
  return text.split('\n## ')[0];
}

/** The rows of a section's tables, as arrays of cells, names without backticks. */
const rowsOf = (text: string): string[][] =>
  Array.from(text.matchAll(/^\| (.*) \|$/gm), ([, row]) => row.replaceAll('`', '').split(' | '));

test('the loop has twenty lines', () => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(section('A loop of twenty lines'))!;
  expect(code.trimEnd().split('\n')).toHaveLength(20);
});

test('the results table is what the evaluation computes, beside what was published', async () => {
  const { rows } = await evaluate({});
  const [[, ...heads], , ...lines] = rowsOf(section('Results'));
  expect(lines).toHaveLength(6);
  for (const [name, ...cells] of lines) {
    const [policy, belief = 'none'] = name.split('+');
    const expected = heads.map((head, k) => {
      if (head === 'published') return published(heads[k - 1], name, 'v2')?.finalScore.toFixed(3) ?? '-';
      const { finalScore } = rows.find(
        (row) => row.condition === head && row.policy === policy && row.belief === belief,
      )!;
      return `${finalScore.mean.toFixed(3)} ±${(finalScore.mean - finalScore.low!).toFixed(3)}`;
    });
    expect(cells, name).toEqual(expected);
  }
  const errors = ['in-distribution', 'ood', 'discrete'].map((condition) =>
    rows.find((row) => row.condition === condition && row.belief === 'constant')!.beliefMae.toFixed(3),
  );
  expect(section('Results')).toContain(`is ${errors[0]}, ${errors[1]} and ${errors[2]}.`);
});

test('commands are those that there are', async () => {
  const namesOf = async (...args: string[]): Promise<string[]> => {
    const [, list] = (await runCli([...args, '--help'])).stdout.split('\nCommands:\n');
    const names = Array.from(list.split('\n\n')[0].matchAll(/^ {2}(\w+)/gm), ([, name]) => name);
    return names.filter((name) => name !== 'help');
  };
  const [all, sets] = await Promise.all([namesOf(), namesOf('dataset')]);
  const there = all.flatMap((name) => (name === 'dataset' ? sets.map((each) => `dataset ${each}`) : [name]));
  const [, , ...rows] = rowsOf(section('Commands'));
  expect(rows.map(([name]) => name).sort()).toEqual(there.sort());
});

test('conditions and policies of eval are those that there are', () => {
  const shown = rowsOf(section('eval', commands)).flatMap(([names]) => names.split(', '));
  const conditions = [...CONDITIONS.map(({ name }) => name), 'custom'];
  const policies = [...POLICY_NAMES, ...STEPPED_NAMES, 'llm:MODEL'];
  const others = ['condition', 'policy', 'option', '---', '--json', '--components', '--trajectories'];
  expect([...new Set(shown)].sort()).toEqual([...conditions, ...policies, ...others].sort());
});

test('what the tree names is there, and each folder of the sources is named', () => {
  const [, tree] = /```\n([\s\S]*?)```/.exec(section('Where things are'))!;
  const named = tree
    .trim()
    .split('\n')
    .flatMap((line) => line.split(/ {2,}/).slice(0, -1));
  for (const path of named) expect(existsSync(at(path)), path).toBe(true);
  const folders = readdirSync(at('src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) expect(named).toContain(`src/${name}`);
});

test("the planner's scores are what the evaluation computes, of those that take little time", async () => {
  const policies = [
    'heuristic+constant',
    'heuristic+inference',
    'blind-tape+inference',
    'planner',
    'planner-wellbeing',
  ];
  const { rows } = await evaluate({ conditions: ['ood'], policies });
  for (const [k, { finalScore, beliefMae, components, earlyMean, lateMean }] of rows.entries()) {
    const score = `${finalScore.mean.toFixed(3)} ±${(finalScore.high! - finalScore.mean).toFixed(3)}`;
    const others = [beliefMae, components.adaptation, earlyMean!, lateMean!].map((value) => value.toFixed(3));
    expect(api).toContain(`| ood | \`${policies[k]}\` | ${[score, ...others].join(' | ')} |`);
  }
});

test("the planner's scores in short are those of the table in docs/api.md", () => {
  const text = section('From a baseline to a student').replace(/\s+/g, ' ');
  const cells = (condition: string, policy: string) =>
    rowsOf(section('Planning', api)).find((row) => row[0] === condition && row[1] === policy)!;
  const [[, , score, error], [, , oodScore, oodError]] = ['in-distribution', 'ood'].map((name) =>
    cells(name, 'planner'),
  );
  expect(text).toContain(
    `${score} in-distribution and ${oodScore} ood, with a belief MAE of ${error} and ${oodError}.`,
  );
  const wellbeing = ['in-distribution', 'ood'].map((name) => cells(name, 'planner-wellbeing')[2]);
  expect(text).toContain(`for the person: ${wellbeing.join(' and ')},`);
});

test('speed in short is what docs/speed.md says, beside its bars', () => {
  const speed = read('docs/speed.md');
  const [, ...rows] = rowsOf(section('How fast')).filter(([name]) => name !== '---');
  expect(rows).toHaveLength(5);
  for (const row of rows) expect(speed).toContain(`| ${row.join(' | ').replace(/ \(bar \d+\)/g, '')} |`);
  for (const [, cycles, bar] of section('How fast').matchAll(/([\d.]+) cycles \(bar (\d+)\)/g)) {
    expect(speed).toContain(`| at most ${bar} | ${cycles} |`);
  }
});

test('the ranking under another grader is what regrade prints', async () => {
  const [, shown] = /```console\n([\s\S]*?)```/.exec(section('regrade', commands))!;
  const [, grader] = /echo '(.*)' > calm\.json/.exec(section('regrade', commands))!;
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

test('the verdict on grader v2 is that of its audit, as printed, and in short', () => {
  const { verdict } = JSON.parse(read('docs/audits/v2/audit.json')) as { verdict: string };
  const [, shown] = /```console\n([\s\S]*?)```/.exec(section('audit', commands))!;
  expect(shown).toBe(`${wrap(verdict)}\n`);
  const [, blind, person] = /earns up to (.*?) over .* is worth (.*?) more/.exec(verdict)!;
  expect(section('What does a grader pay for?')).toContain(
    `Under grader v2, ignoring the person earns up to ${blind} over the heuristic; knowing the person is worth ${person} more.`,
  );
});
