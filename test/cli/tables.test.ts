/** `textTable` and `evaluationTable`, which return tables as text. */
import { expect, it } from 'vitest';
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

it('evaluationTable has the heading, the conditions, the scores and the time', async () => {
  const evaluation = await rhythm.evaluate({ policies: ['random', 'heuristic'], conditions: ['ood'] });
  const text = evaluationTable(evaluation);
  expect(text).toMatch(/^rhythm-vec .*grader v2; world/);
  expect(text).toContain('ood: seeds 10000-10049, 50 episodes');
  expect(text).toMatch(/\nheuristic +0\.\d{3} ±0\.\d{3}/);
  expect(text).toMatch(/episodes in [\d.]+ s\.\n$/);
});

it('textTable refuses invalid rows, cells and columns', () => {
  expectRefusal(() => textTable(['a', 'b'], [['x']]), 'wrong_length', 'rows[0]');
  expectRefusal(() => textTable(['a'], [[true as never]]), 'wrong_type', 'rows[0][0]');
  expectRefusal(() => textTable(['a'], ['x' as never]), 'wrong_type', 'rows[0]');
  expectRefusal(() => textTable([5 as never], []), 'wrong_type', 'columns[0]');
});

it('the main entry of the package does not export textTable, because textTable loads a package for tables', () => {
  expect(Object.keys(rhythm)).not.toContain('textTable');
});
