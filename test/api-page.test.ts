/** docs/api.md leaves nothing out, and names nothing that there is not: its tables are compared with the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ADVANTAGE_METHODS,
  audit,
  type BeliefFactor,
  COMPONENT_NAMES,
  createAsyncVecEnv,
  createVecEnv,
  evaluate,
  GRADER_NAMES,
  REWARD_NAMES,
  RHYTHM,
  type RhythmError,
  rolloutGroups,
  scoreReplay,
} from '../src/index.js';
import { toObservationOptions } from '../src/observe/options.js';
import { OPTIONS as INFERENCE_OPTIONS } from '../src/policies/inference/inference.js';
import { OPTIONS as PLANNER_OPTIONS } from '../src/policies/planner/options.js';
import { OPTIONS as ADVANTAGE_OPTIONS } from '../src/rollout/group-advantages.js';
import { OPTIONS as SEARCH_OPTIONS } from '../src/search/options.js';
import { WEBGPU_OPTIONS } from '../src/vec-env/device-options.js';
import { FORK_OPTIONS, OPTIONS, RESET_OPTIONS, RUN_OPTIONS, STEP_OPTIONS } from '../src/vec-env/options.js';
import { TAGS } from '../src/world/fields.js';
import { getAt } from './support/worlds.js';

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

const {
  groups: _,
  groupSize: __,
  steps: ___,
  ...rollouts
} = await rolloutGroups({
  ...{ seeds: [1], groupSize: 2 },
  policy: () => ({ actions: [0, 0], logProbs: [0, 0] }),
});

const asyncEnv = await createAsyncVecEnv({ numEnvs: 1 });

const accessorsOf = (each: object) =>
  Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(each)));
const propertiesOf = (each: object): string[] => [
  ...Object.keys(each),
  ...accessorsOf(each).flatMap(([name, { get }]) => (get === undefined ? [] : [name])),
];
const methodsOf = (each: object): string[] =>
  accessorsOf(each).flatMap(([name, { value }]) => (typeof value === 'function' ? [name] : []));

/** What an unknown option is told that there is. */
async function optionsOf(call: (options: never) => Promise<unknown>): Promise<string[]> {
  const error = await call({ unheard: 1 } as never).catch((refusal: RhythmError) => refusal);
  return /among (.*), got/.exec((error as RhythmError).message)![1].split(', ');
}

describe('tables list what there is, and nothing else', () => {
  const lists: [title: string, column: string, expected: readonly string[]][] = [
    ['Opening', 'option', OPTIONS],
    ['Opening', 'property', propertiesOf(env)],
    ['Reset', 'option', RESET_OPTIONS],
    ['Step', 'option', STEP_OPTIONS],
    ['Whole episodes', 'option', RUN_OPTIONS],
    ['Whole episodes', 'array', Object.keys(trajectory!)],
    ['Fork and assign', 'option', FORK_OPTIONS],
    ['Asynchronous environments', 'option', WEBGPU_OPTIONS],
    ['Observation options', 'option', Object.keys(toObservationOptions())],
    ['Searching for tapes', 'option', SEARCH_OPTIONS],
    ['Inference', 'option', INFERENCE_OPTIONS],
    ['Planning', 'option', PLANNER_OPTIONS],
    ['Advantages and rewards', 'option', ADVANTAGE_OPTIONS],
    ['Advantages and rewards', 'method', ADVANTAGE_METHODS.map((name) => `'${name}'`)],
    ['Advantages and rewards', 'reward', [...REWARD_NAMES, 'total']],
    ['Rollouts in groups', 'array', Object.keys(rollouts)],
    ['Replay scoring', 'score', Object.keys(scoreReplay([]))],
    ['History', 'key', Object.keys(env.history(0)[0])],
  ];
  it('an asynchronous environment has the same properties, and its device', () => {
    expect(propertiesOf(asyncEnv).sort()).toEqual([...propertiesOf(env), 'device'].sort());
  });

  it.each(lists)('%s, by %s', (title, column, expected) => {
    expect(named(title, column)).toEqual([...expected].sort());
  });

  it.each([
    ['Evaluation', evaluate],
    ['Auditing graders', audit],
    ['Rollouts in groups', rolloutGroups],
    ['Replay scoring', async (options: never) => scoreReplay([], options)],
  ])('%s, by option', async (title, call) => {
    expect(named(title, 'option')).toEqual((await optionsOf(call)).sort());
  });
});

describe('arrays have the types and sizes that tables say', () => {
  const kindOf = (array: object): string =>
    array.constructor.name
      .replace('Big', '')
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

  it.each([
    ['Whole episodes', trajectory!],
    ['Rollouts in groups', rollouts],
  ])('%s', (title, arrays) => {
    const said = table(title, 'array').flatMap(([cell, type, shape]) => {
      const size = (JSON.parse(shape) as number[]).reduce((product, n) => product * n, 1);
      return names(cell).map((name) => [name, type, size]);
    });
    const there = Object.entries(arrays).map(([name, array]) => [name, kindOf(array!), array!.length / 2]);
    expect(said.sort()).toEqual(there.sort());
  });
});

describe('the numbers of reward and grade are those of the world', () => {
  const rows = (column: string): string[][] => table('Reward and grade', column);
  /** The cells of a row, the first without its quotes, others as numbers where they are. */
  const cellsOf = ([first, ...cells]: string[], count: number): unknown[] => [
    names(first)[0],
    ...cells.slice(0, count).map((cell) => JSON.parse(cell) as number),
  ];

  it.each(rows('number').map((row) => cellsOf(row, 1) as [string, unknown]))('%s is %j', (path, value) => {
    expect(getAt(RHYTHM, path.split('.'))).toEqual(value);
  });

  it('all numbers of the reward are there', () => {
    const said = rows('number').map(([cell]) => names(cell)[0]);
    for (const name of Object.keys(RHYTHM.reward)) expect(said).toContain(`reward.${name}`);
  });

  it('components and weights', () => {
    const [, weights] = page.split('\n| component | ');
    expect(weights.split(' | what')[0].split(' | ')).toEqual(GRADER_NAMES);
    const graders = Object.values(RHYTHM.graders);
    const expected = COMPONENT_NAMES.map((name, k) => [name, ...graders.map((each) => each[k])]);
    expect(rows('component').map((row) => cellsOf(row, graders.length))).toEqual(expected);
  });

  it('traits and ranges', () => {
    const expected = RHYTHM.traits.map(({ name, low, high, neutral }) => [name, low, high, neutral]);
    expect(rows('trait').map((row) => cellsOf(row, 3))).toEqual(expected);
  });

  it('tags of actions', () => {
    const tagged = (tag: string) => RHYTHM.actions.filter(({ tags }) => tags.includes(tag));
    const expected = TAGS.map((tag) => [tag, tagged(tag).map(({ name }) => name)]);
    expect(rows('actions that are').map(([tag, cell]) => [tag, names(cell)])).toEqual(expected);
  });

  it('what belief targets are sums of', () => {
    const part = ({ trait, weight, share, inverted }: BeliefFactor): string =>
      `${share} x ${trait ? '' : 'weight of '}\`${trait ?? weight}\`${inverted ? ' inverted' : ''}`;
    const expected = RHYTHM.belief.map(({ name, factors }) => [`\`${name}\``, factors.map(part).join(' + ')]);
    expect(rows('belief').map(([name, , , sum]) => [name, sum])).toEqual(expected);
  });

  it('arrays', () => {
    const known = [...Object.keys(result), 'reward', 'trajectory', 'env.beliefTargets()'];
    for (const [cell] of rows('array')) for (const name of names(cell)) expect(known).toContain(name);
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
  const exported = Array.from(
    (read('src/index.ts') + read('src/everywhere.ts')).matchAll(/\{([^}]*)\}/g),
    ([, list]) => list.split(','),
  ).flat();
  const exports = exported.map((name) => name.replace('type ', '').trim()).filter((name) => name !== '');

  it.each(exports)('the export %s', (name) => {
    expect(spans).toMatch(new RegExp(`\\b${name}\\b`));
  });

  const methods = new Set([...methodsOf(env), ...methodsOf(asyncEnv)]);
  methods.delete('constructor');
  it.each([...methods])('the method %s', (name) => {
    expect(spans).toContain(`env.${name}(`);
  });
});
