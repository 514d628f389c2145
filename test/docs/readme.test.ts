/** Checks tables and numbers of the README, docs/commands.md, docs/students.md and docs/guides/policies.md. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { POLICY_NAMES } from '../../src/agents/policies/fixed-policies.js';
import { STEPPED_NAMES } from '../../src/agents/policies/stepped-policies.js';
import { renderRegraded } from '../../src/cli/regrade.js';
import { StoredEpisodes } from '../../src/cli/regrade-episodes.js';
import { wrap } from '../../src/cli/text-table.js';
import {
  PUBLISHED,
  PUBLISHED_STUDENT,
  PUBLISHED_TEACHER,
  type Published,
  published,
} from '../../src/evaluation/published-scores.js';
import { regradeStored } from '../../src/evaluation/regrade-stored.js';
import { storedMeans } from '../../src/evaluation/yardstick.js';
import { evaluate, parseGrader } from '../../src/index.js';
import { CONDITIONS } from '../../src/world/conditions.js';
import { runCli } from '../support/cli.js';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string): string => readFileSync(at(path), 'utf8');
const [readme, policiesPage, commands, students] = [
  'README.md',
  'docs/guides/policies.md',
  'docs/commands.md',
  'docs/students.md',
].map(read);

/** Returns the text of a section of a page. */
function section(title: string, page = readme): string {
  const [, text] = page.split(`\n## ${title}\n`);
  return text.split('\n## ')[0];
}

/** Returns the rows of a section's tables, as arrays of cells, without backticks. */
const rowsOf = (text: string): string[][] =>
  Array.from(text.matchAll(/^\| (.*) \|$/gm), ([, row]) => row.replaceAll('`', '').split(' | '));

test('the results table has the results of the evaluation and the published scores', async () => {
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
  const bars = ['in-distribution', 'ood', 'discrete'].map((name) => {
    const stored = storedMeans().find((each) => each.grader === 'v2' && each.condition === name)!;
    return Math.max(...Object.values(stored.means)).toFixed(3);
  });
  expect(section('Results')).toContain(
    `Under v2 it is ${bars[0]} in-distribution, ${bars[1]} ood and ${bars[2]} discrete.`,
  );
});

test('the rows of RhythmEnv in docs/students.md have the published scores, belief errors and numbers of episodes', () => {
  const rowOf = (policy: string, entries: readonly Published[]): string[] => {
    const found = ['in-distribution', 'ood', 'discrete'].map((condition) =>
      entries.find((each) => each.condition === condition && each.policy === policy && each.grader === 'v2'),
    );
    const errors = found.map((each) => each?.beliefMae?.toFixed(3) ?? '-');
    return [
      `RhythmEnv: ${policy}`,
      found.map((each) => each?.episodes ?? '-').join(', '),
      ...found.map((each) => each?.finalScore.toFixed(3) ?? '-'),
      errors.every((error) => error === '-') ? '-' : errors.join(', '),
    ];
  };
  const [sampled, discrete] = [false, true].map((isDiscrete) =>
    PUBLISHED.filter(({ condition }) => (condition === 'discrete') === isDiscrete),
  );
  const rows = rowsOf(students).filter(([name]) => name.startsWith('RhythmEnv: '));
  expect(rows.map((row) => row.slice(0, 6))).toEqual([
    ...['heuristic', 'teacher'].map((policy) => rowOf(policy, [...sampled, ...PUBLISHED_TEACHER])),
    ...['heuristic', 'student, SFT', 'student, GRPO'].map((policy) =>
      rowOf(policy, [...PUBLISHED_STUDENT, ...discrete]),
    ),
  ]);
  const [[, score], error] = [
    rowsOf(section('Results')).find(([name]) => name === 'heuristic+constant')!,
    /is (0\.\d{3}), /.exec(section('Results'))![1],
  ];
  expect(students).toContain(`(${score.split(' ')[0]}, belief MAE ${error})`);
});

test('the table of commands has all commands', async () => {
  const namesOf = async (...args: string[]): Promise<string[]> => {
    const [, list] = (await runCli([...args, '--help'])).stdout.split('\nCommands:\n');
    const names = Array.from(list.split('\n\n')[0].matchAll(/^ {2}(\w+)/gm), ([, name]) => name);
    return names.filter((name) => name !== 'help');
  };
  const [all, datasets] = await Promise.all([namesOf(), namesOf('dataset')]);
  const commandNames = all.flatMap((name) =>
    name === 'dataset' ? datasets.map((each) => `dataset ${each}`) : [name],
  );
  const [, , ...rows] = rowsOf(section('From a baseline to a student'));
  expect(rows.flatMap(([names]) => names.split(', ')).sort()).toEqual(commandNames.sort());
});

test('the tables of eval have all conditions and policies', () => {
  const documented = rowsOf(section('eval', commands)).flatMap(([names]) => names.split(', '));
  const conditions = [...CONDITIONS.map(({ name }) => name), 'custom'];
  const policies = [...POLICY_NAMES, ...STEPPED_NAMES, 'llm:MODEL'];
  const others = ['condition', 'policy', '---'];
  expect([...new Set(documented)].sort()).toEqual([...conditions, ...policies, ...others].sort());
});

test('src/README.md has all rooms, which have the files to read first', () => {
  const rooms = Array.from(
    read('src/README.md').matchAll(/^\| \[(\w+)\].* `(.*)` \|$/gm),
    ([, ...row]) => row,
  );
  const folders = readdirSync(at('src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect([...rooms.map(([room]) => room), 'exports'].sort()).toEqual(folders.map(({ name }) => name).sort());
  for (const [room, file] of rooms) expect(existsSync(at(`src/${room}/${file}`)), file).toBe(true);
});

test('the ood scores in docs/guides/policies.md equal those of the evaluation', async () => {
  const policies = [
    'heuristic+constant',
    'heuristic+inference',
    'open-loop+inference',
    'planner',
    'planner-wellbeing',
  ];
  const { rows } = await evaluate({ conditions: ['ood'], policies });
  for (const [k, { finalScore, beliefMae }] of rows.entries()) {
    const score = `${finalScore.mean.toFixed(3)} ±${(finalScore.high! - finalScore.mean).toFixed(3)}`;
    const row = rowsOf(section('Scores', policiesPage)).find(([name]) => name === policies[k])!;
    expect(row.slice(3), policies[k]).toEqual([score, beliefMae.toFixed(3)]);
  }
});

test("the planner's scores in the README equal those in docs/guides/policies.md", () => {
  const [, score, error, oodScore, oodError] = rowsOf(section('Scores', policiesPage)).find(
    ([name]) => name === 'planner',
  )!;
  expect(section('Results').replace(/\s+/g, ' ')).toContain(
    `${score} in-distribution and ${oodScore} ood, with a belief MAE of ${error} and ${oodError}.`,
  );
});

test('the verdict in the README is what its command prints', async () => {
  const [, command, printed] = /\$ npx rhythm-vec (.*)\n\.\.\.\n([\s\S]*?)```/.exec(section('Results'))!;
  expect((await runCli(command.split(' '))).stdout).toContain(printed);
});

test('the ranking in docs/commands.md equals the output of regrade', async () => {
  const [, documented] = /```console\n([\s\S]*?)```/.exec(section('regrade', commands))!;
  const [, grader] = /echo '(.*)' > calm\.json/.exec(section('regrade', commands))!;
  const stored = new StoredEpisodes();
  await evaluate({
    conditions: ['in-distribution'],
    onTrajectories: (episodes) => {
      for (const episode of episodes) stored.add(episode);
    },
  });
  expect(renderRegraded(regradeStored(stored.conditions(), parseGrader(grader)))).toContain(documented);
});

test('the verdict on grader v2 in docs/commands.md and the README equals that of docs/audits/v2', () => {
  const { verdict } = JSON.parse(read('docs/audits/v2/audit.json')) as { verdict: string };
  const [, documented] = /```console\n([\s\S]*?)```/.exec(section('audit', commands))!;
  expect(documented).toBe(`${wrap(verdict)}\n`);
  const [, ignoring, knowing] = /gains up to (.*?) over .*? is worth (.*?) more/.exec(verdict)!;
  expect(section('Results').replace(/\s+/g, ' ')).toContain(
    `Under grader v2, a policy that ignores the profile gains up to ${ignoring} over the heuristic; knowing the profile is worth ${knowing} more.`,
  );
});
