/** The table of `eval`, and `textTable` and `evaluationTable`, which return tables as text. */
import { describe, expect, it } from 'vitest';
import { STEPPED_NAMES } from '../../src/agents/policies/stepped-policies.js';
import { renderDetails, renderHeader, renderTable } from '../../src/cli/eval/eval-table.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { PUBLISHED } from '../../src/evaluation/published-scores.js';
import { evaluationTable, textTable } from '../../src/exports/evaluation.js';
import * as rhythm from '../../src/index.js';
import { expectRefusal } from '../support/refusals.js';

it('textTable aligns cells of every kind', () => {
  const interval = { mean: 0.4481, low: 0.4431, high: 0.4531 };
  const rows = [
    ['heuristic', 200, interval, null],
    ['mine', 7, { mean: 0.5, low: null, high: null }, 0.12345],
  ] as const;
  expect(textTable(['policy', 'n', 'final score\n(95 %)', 'lead'], rows).split('\n')).toEqual([
    'policy       n   final score   lead',
    '                      (95 %)',
    'heuristic  200  0.448 ±0.005      -',
    'mine         7  0.500         0.123',
  ]);
});

it('textTable aligns columns by the option align', () => {
  const table = textTable(
    [
      { head: 'a', align: 'right' },
      { head: 'bcd', align: 'left' },
    ],
    [['long', 'x']],
  );
  expect(table.split('\n')).toEqual(['   a  bcd', 'long  x']);
});

it('evaluationTable has the header and the table of eval', async () => {
  const evaluation = await evaluate({ policies: ['random'], conditions: ['ood'], episodes: 2 });
  expect(evaluationTable(evaluation)).toBe(`${renderHeader(evaluation)}${renderTable(evaluation)}`);
  expect(evaluationTable(evaluation, { details: true })).toContain(renderDetails(evaluation));
  // Loading the main entry loads no package for tables.
  expect(Object.keys(rhythm)).not.toContain('textTable');
});

it('textTable refuses invalid rows, cells and columns', () => {
  expectRefusal(() => textTable(['a', 'b'], [['x']]), 'wrong_length', 'rows[0]');
  expectRefusal(() => textTable(['a'], [[true as never]]), 'wrong_type', 'rows[0][0]');
  expectRefusal(() => textTable(['a'], ['x' as never]), 'wrong_type', 'rows[0]');
  expectRefusal(() => textTable([5 as never], []), 'wrong_type', 'columns[0]');
});

describe('the table of eval', () => {
  it('has score, difference and belief error in 80 columns, ends with the verdict, and leaves named profiles out', async () => {
    const policies = {
      'heuristic+constant': 'heuristic+constant',
      'heuristic+inference': 'heuristic+inference',
    };
    const evaluation = await evaluate({ policies, conditions: ['in-distribution', 'discrete'] });
    const table = renderTable(evaluation);
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(table).toMatch(/^\n.*final score +difference +belief\npolicy +\(95 %\) +\(95 %\) +from +error\n/);
    expect(table).toMatch(/\nheuristic\+constant +0\.606 ±0\.009 +-0\.165 ±0\.014 +planner-prior +0\.205\n/);
    expect(table.split('\nVerdict under v2\n')[1].replaceAll('\n', ' ')).toMatch(
      /^heuristic\+inference, in-distribution: not shown to infer by its score, -0\.\d{3} \(-0\.\d{3} to -0\.\d{3}\) against planner-prior, /,
    );
    expect(table).not.toContain('discrete:introvert_morning');
    expect(table).not.toContain('heuristic+constant, ');
    const detailed = renderTable(evaluation, { details: true });
    expect(detailed).toContain(renderDetails(evaluation));
    expect(detailed).toContain('\ndiscrete:introvert_morning: seeds 0-4');
    const named = {
      ...evaluation,
      rows: evaluation.rows.filter(({ condition }) => condition !== 'discrete'),
    };
    expect(renderTable(named)).toContain('\ndiscrete:introvert_morning: seeds 0-4');
  });
});

describe('the details of eval', () => {
  it('shows v3 beside v2, and v2 beside v3, as scores of the same episodes', async () => {
    const { rows, ...run } = await evaluate({ conditions: ['ood'], policies: ['heuristic'] });
    const table = renderDetails({ rows, ...run });
    expect(table).toMatch(/final score +regraded by .*\n.*policy +\(95 %\) +published +v3 \(95 %\)/);
    expect(table).toContain(
      'regraded by v3: the score under v3 of the same episodes, which were played under v2.\n',
    );
    const underV3 = renderDetails(
      await evaluate({ conditions: ['ood'], policies: ['heuristic'], grader: 'v3' }),
    );
    expect(underV3).toMatch(/final score +regraded by .*\n.*policy +\(95 %\) +v2 \(95 %\)/);
    expect(underV3).toContain('of the same episodes, which were played under v3.\n');
  });

  it('calls no policy below the yardstick evidence of inference, under any grader', async () => {
    const evaluation = await evaluate({ conditions: ['in-distribution'] });
    const best = evaluation.rows.find(
      ({ policy, belief }) => policy === 'open-loop' && belief === 'constant',
    )!;
    // The score lies above that of heuristic+constant, 0.606, but open-loop+constant reaches 0.757 without looking.
    const mine = {
      ...best,
      policy: 'mine',
      sequenceGrader: null,
      belief: 'own' as const,
      finalScore: { mean: 0.69, low: 0.68, high: 0.7 },
    };
    const notesOf = (changes: Partial<typeof evaluation>) =>
      renderDetails({ ...evaluation, rows: [...evaluation.rows, mine], ...changes }).replaceAll('\n', ' ');
    const none = 'Above it with the whole 95 % interval: no policy.';
    expect(notesOf({})).toContain(`Yardstick under v2: in-distribution 0.771 (planner-prior). ${none}`);
    const graderWeights = { ...toGrader('v3').weights, wellbeing: 0.25, belief_skill: 0.45 };
    const notes = notesOf({ grader: 'skill', graderWeights });
    expect(notes).toContain(
      `Yardstick under skill: in-distribution at least 0.757 (open-loop+constant). ${none} ` +
        `Yardstick under v3: in-distribution 0.542 (planner-prior). ${none} ` +
        'Yardstick under skill: unknown scores of reactive+constant and planner-prior (in-distribution).',
    );
    expect(notes).not.toMatch(/does not beat|shows no inference/);
  });

  it('shows more digits if an interval is too narrow for three', async () => {
    const seeds = { first: 0, last: 99999 };
    const table = renderDetails(await evaluate({ seeds, policies: ['heuristic'] }));
    expect(table).toMatch(/heuristic +0\.\d{5} ±0\.000\d{2} /);
  });

  it('shows every published score', async () => {
    for (const grader of ['v1', 'v2']) {
      const table = renderDetails(await evaluate({ grader }));
      const figures = PUBLISHED.filter((figure) => figure.grader === grader);
      expect(figures.length).toBeGreaterThan(0);
      for (const { finalScore, approximate } of figures) {
        expect(table).toContain(approximate ? ` ~${finalScore} ` : ` ${finalScore.toFixed(3)} `);
      }
    }
  });

  it('names the grader of an action sequence, also if it is not the grader in use', async () => {
    const evaluation = await evaluate({ conditions: ['ood'], policies: ['random'] });
    const rows = evaluation.rows.map((row) => ({ ...row, policy: 'open-loop', sequenceGrader: 'v2' }));
    const note = 'open-loop: one fixed action sequence, found for grader v2';
    expect(renderDetails({ ...evaluation, rows })).toContain(`${note}.\n`);
    expect(renderDetails({ ...evaluation, rows, grader: 'calm' })).toContain(`${note}, not for calm.\n`);
    expect(renderDetails(evaluation)).not.toContain('one fixed action sequence');
  });

  it('shows no published score for other profiles, and no interval for a single episode', async () => {
    const table = renderDetails(await evaluate({ profiles: 'discrete', conditions: ['ood'], episodes: 1 }));
    expect(table).toMatch(/heuristic +0\.\d{3} {8,}0\.\d{3} /);
    expect(table).not.toContain('published');
    expect(table).toContain('1 episode, profiles discrete');
  });

  it('has a note on each policy that observes steps, marks the oracle, and has lines of at most 140 characters', async () => {
    const evaluation = await evaluate({ seeds: { first: 100, last: 100 }, policies: ['random'] });
    const names = STEPPED_NAMES.map((name) => name.replace('+constant', ''));
    const rows = ['random', ...names].map((policy) => ({
      ...evaluation.rows[0],
      ...{ policy, belief: 'own' as const, oracle: policy === 'planner-oracle' },
      sequenceGrader: ['open-loop+inference', 'reactive'].includes(policy) ? 'v2' : null,
    }));
    const table = renderDetails({ ...evaluation, rows });
    for (const name of names) expect(table).toMatch(new RegExp(`\n${name.replace('+', '.')}( .oracle.)?: `));
    expect(table).toMatch(/\nplanner-oracle \[oracle\] +0\.\d{3}/);
    // All eight components are in a second table.
    expect(table.split('components:')[1]).toMatch(
      /^( +\S+){8}\npolicy( +\S+){8}\n\n.*\nrandom( +[01]\.\d{3}){8}\n/,
    );
    const backendReason = `tried before it: native (${'no such file '.repeat(30)})`;
    const lines = `${table}${renderHeader({ ...evaluation, backendReason })}`.split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(140);
    expect(renderDetails(evaluation)).not.toMatch(/^(planner|reactive)\S*:/m);
  });
});
