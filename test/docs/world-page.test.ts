/** Compares docs/world.md with the code: its tables, its worked step, and the names of its rules. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Episode } from '../../src/engine/reference/episode.js';
import { ACTION_NAMES, COMPONENT_NAMES } from '../../src/world/fields.js';
import { RHYTHM } from '../../src/world/numbers.js';
import { numberTables, type Rows, stateTable, workedStep } from '../support/world-tables.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/world.md');

const sectionOf = (title: string): string =>
  page.split(new RegExp(`^##+ ${title}$`, 'm'))[1].split(/^##+ /m)[0];

/** Returns the tables below a heading as cells, with the header first. */
const tablesOf = (title: string): string[][][] =>
  sectionOf(title)
    .split(/\n\n/)
    .filter((block) => block.startsWith('|'))
    .map((block) => block.trim().split('\n'))
    .map(([head, , ...rows]) => [head, ...rows].map((row) => row.slice(2, -2).split(' | ')));

interface Nested {
  [key: string]: unknown;
}

/** Returns the paths of all numbers in a value. */
function leavesOf(value: unknown): string[][] {
  if (typeof value === 'number') return [[]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => leavesOf(part).map((path) => [key, ...path]));
}

const asCells = (rows: Rows): string[][] => rows.map((row) => row.map(String));

describe('numbers', () => {
  it.each(Object.entries(numberTables()))('the table %s has the numbers of the code', (title, rows) => {
    const [[head, ...documented]] = tablesOf(title);
    expect(documented).toEqual(asCells(rows));
    for (const row of documented) expect(row).toHaveLength(head.length);
  });

  it('every number of the world, except the lengths of weeks, days and episodes, is in a table', () => {
    const before = JSON.stringify(numberTables());
    const leaves = leavesOf(RHYTHM).filter(
      (path) => !['days', 'slotsPerDay', 'maxEpisodeSteps'].includes(path[0]),
    );
    expect(leaves.length).toBeGreaterThan(200);
    for (const path of leaves) {
      const changed = structuredClone(RHYTHM);
      const parent = path
        .slice(0, -1)
        .reduce((value, key) => value[key] as Nested, changed as unknown as Nested);
      // No number of the world is 77.
      parent[path.at(-1)!] = 77;
      expect(JSON.stringify(numberTables(changed)), path.join('.')).not.toBe(before);
    }
  });

  it('the columns are in the order of the code, and the version is that of the code', () => {
    const headOf = (title: string): string[] => tablesOf(title)[0][0];
    expect(headOf('Time of day').slice(2)).toEqual(RHYTHM.categories);
    expect(headOf('Named profiles').slice(1)).toEqual(Object.keys(RHYTHM.profiles));
    expect(headOf('Graders').slice(1)).toEqual(COMPONENT_NAMES);
    expect(page).toContain(`world version ${RHYTHM.version}.`);
  });

  it('the table of the state has the fields of the code', () => {
    const [[, ...rows]] = tablesOf('State');
    expect(rows.map((row) => row.slice(0, 3))).toEqual(asCells(stateTable()));
  });
});

describe('the worked first step', () => {
  const [, seed, profile, action] =
    /Seed (\d+), the named profile (\w+), the action (\w+) in the morning/.exec(
      sectionOf('A worked first step'),
    )!;
  const { vectors, numbers, result } = workedStep(Number(seed), profile, action);

  it('has every number, to the bit', () => {
    const [[, ...first], [, ...second]] = tablesOf('A worked first step');
    expect(first).toEqual(asCells(vectors));
    expect(second).toEqual(asCells(numbers));
  });

  it('equals the step of the reference', () => {
    const episode = new Episode().reset(Number(seed), { profile });
    episode.step(ACTION_NAMES.indexOf(action));
    const { event, reward, early, late, well, skill } = episode;
    const [meters, deltas, anomalies] = [episode.meters, episode.deltas, episode.anomalies].map((m) => [
      ...m,
    ]);
    expect({ event, meters, deltas, anomalies, reward, early, well }).toEqual(result);
    expect([late, skill]).toEqual([0, 0]);
    expect(event).not.toBe(-1);
  });
});

describe('the rules of the page', () => {
  const rules = Array.from(page.matchAll(/^### (Rule (\d+): (\w+))$/gm), ([, title, number]) => ({
    title,
    number,
  }));

  it('are numbered from 1 to 10', () => {
    expect(rules.map(({ number }) => Number(number))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  const TEXTS = {
    TypeScript: ['src/engine/reference/rules.ts', 'export function stepEpisode('],
    'C++': ['native/rules.inl', 'RHYTHM_INLINE Transition step_episode('],
    WGSL: ['src/engine/backends/webgpu/wgsl/rules.wgsl', 'fn step_episode('],
  };
  it.each(Object.entries(TEXTS))(
    '1 to 8 are in the rules in %s, in the order of the page and with its names',
    (_, [path, begin]) => {
      const [, body] = read(path).split(begin);
      const stated = Array.from(
        body.split('\n}\n')[0].matchAll(/^ {2}\/\/ (Rule \d+: \w+)\.$/gm),
        ([, title]) => title,
      );
      expect(stated.slice(0, 8)).toEqual(rules.slice(0, 8).map(({ title }) => title));
    },
  );

  it.each([
    'src/engine/reference/grade.ts',
    'native/grade.inl',
    'src/engine/backends/webgpu/wgsl/grade.wgsl',
  ])('9 and 10 are in %s, with their names', (path) => {
    for (const { title } of rules.slice(8)) expect(read(path)).toContain(`${title}.`);
  });

  it('have the same names in all comments of the rules files', () => {
    const titles = new Set(rules.map(({ title }) => title));
    for (const [path] of Object.values(TEXTS)) {
      const cited = Array.from(read(path).matchAll(/\bRule \d+: \w+/g), ([title]) => title);
      for (const title of cited) expect(titles).toContain(title);
    }
  });
});
