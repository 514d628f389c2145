/** Compares tables of the guides with the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMPONENT_NAMES, GRADER_NAMES, RHYTHM } from '../../src/index.js';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

/** Returns the rows of the table with this first header, as arrays of cells. */
function tableOf(page: string, column: string): string[][] {
  const [, rows] = read(page).split(`\n| ${column} | `);
  const lines = rows.split('\n').slice(2);
  return lines.slice(0, lines.indexOf('')).map((line) => line.slice(2, -2).split(' | '));
}

const namesIn = (cell: string): string[] => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name]) => name);

it('the table of the components has the weights of v1, v2 and v3', () => {
  const graders = Object.values(RHYTHM.graders);
  expect(Object.keys(RHYTHM.graders)).toEqual(GRADER_NAMES);
  const documented = tableOf('docs/guides/rewards.md', 'component').map(([name, ...cells]) => [
    ...namesIn(name),
    ...cells.slice(0, graders.length).map(Number),
  ]);
  expect(documented).toEqual(COMPONENT_NAMES.map((name, k) => [name, ...graders.map((each) => each[k])]));
});

describe('errors', () => {
  const [, union] = read('src/shared/errors.ts').split('export type ErrorCode =');
  const codes = Array.from(union.matchAll(/'(\w+)'/g), ([, code]) => code).sort();
  /** Sections of the page by the class in their heading or first sentence, with the codes in the first words of their items. */
  const sections = read('docs/guides/errors.md').split('\n## ').slice(1);
  const classOf = new Map(
    sections.flatMap((section) => {
      const [, type] = /`?(\w+Error)\b/.exec(section)!;
      const items = Array.from(section.matchAll(/^- (.*?):/gm), ([, names]) => names);
      return items.flatMap(namesIn).map((code): [string, string] => [code, type]);
    }),
  );

  it('the page lists exactly the error codes', () => {
    expect([...classOf.keys()].sort()).toEqual(codes);
  });

  it('the page names the class with which the sources throw a code', () => {
    const sources = readdirSync(new URL('src', ROOT), { recursive: true, encoding: 'utf8' });
    const thrown = sources
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [...read(`src/${path}`).matchAll(/new (\w+Error)\(\s*'(\w+)'/g)])
      .filter(([, , code]) => codes.includes(code));
    expect(new Set(thrown.map(([, , code]) => code)).size).toBeGreaterThan(15);
    for (const [, type, code] of thrown) expect([code, classOf.get(code)]).toEqual([code, type]);
  });
});
