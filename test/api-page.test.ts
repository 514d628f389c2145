/** docs/api.md leaves nothing out, and names nothing that there is not: its tables are compared with the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createVecEnv, evaluate, type RhythmError } from '../src/index.js';
import { toObservationOptions } from '../src/observe/options.js';
import { FORK_OPTIONS, OPTIONS, RESET_OPTIONS, RUN_OPTIONS, STEP_OPTIONS } from '../src/vec-env/options.js';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const page = read('docs/api.md');
const prose = page.replace(/^```[\s\S]*?^```/gm, '');

const names = (cell: string): string[] => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name]) => name);

/** The rows of a section's table, as arrays of cells, by what stands above the first column. */
function table(title: string, column: string): string[][] {
  const [, section] = prose.split(`\n## ${title}\n`);
  const [, rows] = section.split('\n## ')[0].split(`\n| ${column} | `);
  const lines = rows.split('\n').slice(2);
  return lines.slice(0, lines.indexOf('')).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const named = (title: string, column: string): string[] =>
  table(title, column)
    .flatMap(([cell]) => names(cell))
    .sort();

const env = createVecEnv({ numEnvs: 2, autoreset: 'same-step' });
const result = env.reset({ seed: 1 });
const { trajectory } = env.run('random', { trajectory: true });

const accessors = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(env)));
const properties = accessors.filter(([, { get }]) => get !== undefined).map(([name]) => name);
const methods = accessors.filter(([, { value }]) => typeof value === 'function').map(([name]) => name);

/** What an unknown option is told that there is. */
async function evaluateOptions(): Promise<string[]> {
  const error = await evaluate({ unheard: 1 } as never).catch((refusal: RhythmError) => refusal);
  return /among (.*), got/.exec((error as RhythmError).message)![1].split(', ');
}

describe('tables list what there is, and nothing else', () => {
  const lists: [title: string, column: string, expected: readonly string[]][] = [
    ['Opening', 'option', OPTIONS],
    ['Opening', 'property', [...Object.keys(env), ...properties]],
    ['Reset', 'option', RESET_OPTIONS],
    ['Step', 'option', STEP_OPTIONS],
    ['Whole episodes', 'option', RUN_OPTIONS],
    ['Whole episodes', 'array', Object.keys(trajectory!)],
    ['Fork and assign', 'option', FORK_OPTIONS],
    ['Observation options', 'option', Object.keys(toObservationOptions())],
    ['History', 'key', Object.keys(env.history(0)[0])],
  ];
  it.each(lists)('%s, by %s', (title, column, expected) => {
    expect(named(title, column)).toEqual([...expected].sort());
  });

  it('Evaluation, by option', async () => {
    expect(named('Evaluation', 'option')).toEqual((await evaluateOptions()).sort());
  });
});

describe('arrays have the types and sizes that tables say', () => {
  const kindOf = (array: object): string =>
    array.constructor.name
      .replace('Float', 'f')
      .replace('Uint', 'u')
      .replace('Int', 'i')
      .replace('Array', '');

  it('Results', () => {
    const width = {
      observations: env.observationSpace.shape[0],
      finalObservations: env.observationSpace.shape[0],
    };
    const said = table('Results', 'array').map(([name, type, size]) => {
      const [key] = names(name);
      return [key, type, (width as Record<string, number>)[key] ?? Number(size)];
    });
    const { columnStride: _, ...arrays } = result;
    const there = Object.entries(arrays).map(([name, array]) => [name, kindOf(array!), array!.length / 2]);
    expect(said.sort()).toEqual(there.sort());
  });

  it('Whole episodes', () => {
    const said = table('Whole episodes', 'array').map(([name, type, shape]) => {
      const numbers = JSON.parse(shape) as number[];
      return [...names(name), type, numbers.reduce((product, n) => product * n, 1)];
    });
    const there = Object.entries(trajectory!).map(([name, array]) => [name, kindOf(array), array.length / 2]);
    expect(said).toEqual(there);
  });
});

describe('errors', () => {
  const [, union] = read('src/errors.ts').split('export type ErrorCode =');
  const codes = Array.from(union.matchAll(/'(\w+)'/g), ([, code]) => code).sort();
  const classOf = new Map(
    table('Errors', 'code').flatMap(([code, type]) => names(code).map((each) => [each, names(type)[0]])),
  );

  it('every code is there, and no other', () => {
    expect([...classOf.keys()].sort()).toEqual(codes);
  });

  it('each code has the class that it is thrown with', () => {
    const sources = readdirSync(new URL('../src', import.meta.url), { recursive: true, encoding: 'utf8' });
    const thrown = sources
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [...read(`src/${path}`).matchAll(/new (\w+Error)\(\s*'(\w+)'/g)])
      .filter(([, , code]) => codes.includes(code));
    expect(new Set(thrown.map(([, , code]) => code)).size).toBeGreaterThan(15);
    for (const [, type, code] of thrown) expect([code, classOf.get(code)]).toEqual([code, type]);
  });
});

describe('everything is mentioned', () => {
  const spans = names(prose).join('\n');
  const exported = Array.from(read('src/index.ts').matchAll(/\{([^}]*)\}/g), ([, list]) =>
    list.split(','),
  ).flat();
  const exports = exported.map((name) => name.replace('type ', '').trim()).filter((name) => name !== '');

  it.each(exports)('the export %s', (name) => {
    expect(spans).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it.each(methods.filter((name) => name !== 'constructor'))('the method %s', (name) => {
    expect(spans).toContain(`env.${name}(`);
  });
});
