/** Tests of parsing lines of trajectories: valid episodes, and the errors of invalid lines. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  BadEpisode,
  episodeLine,
  parseEpisode,
} from '../../../src/rollouts/trajectories/trajectory-lines.js';
import { SCHEMAS } from '../../../src/shared/schemas.js';
import { WORLD } from '../../support/open-batch.js';
import { changedAt, episodeStarts, recordEpisodes, TEST_POLICIES } from '../../support/trajectories.js';

const [textEpisode] = recordEpisodes(episodeStarts([3]), { policy: TEST_POLICIES.incompleteText });

function faultOf(line: string): BadEpisode {
  try {
    parseEpisode(line);
  } catch (error) {
    if (error instanceof BadEpisode) return error;
    throw error;
  }
  throw new Error('Expected an invalid line, got an episode.');
}

const lineWith = (path: string, value: unknown): string =>
  JSON.stringify(changedAt(textEpisode, path, value));

it('parseEpisode ignores unknown keys, also __proto__, which must not change prototypes', () => {
  const steps = textEpisode.steps.map((step) => ({ ...step, mood: 3 }));
  expect(parseEpisode(JSON.stringify({ ...textEpisode, note: 'mine', steps }))).toEqual(textEpisode);
  const line = episodeLine(textEpisode).replace('{', '{"__proto__":{"oracle":true},');
  expect(parseEpisode(line)).toEqual(textEpisode);
  expect(({} as { oracle?: boolean }).oracle).toBeUndefined();
  const { hidden: _, usage: __, ...rest } = textEpisode;
  expect(parseEpisode(JSON.stringify(rest))).toEqual(rest);
});

describe('a missing key is named:', () => {
  const optional = ['hidden', 'usage'];
  const keys = Object.keys(textEpisode).filter((key) => !optional.includes(key));
  const paths = [
    ...keys,
    ...Object.keys(textEpisode.steps[0]).map((key) => `steps.7.${key}`),
    ...Object.keys(textEpisode.steps[0].reward_components).map((key) => `steps.0.reward_components.${key}`),
    ...Object.keys(textEpisode.final).map((key) => `final.${key}`),
    'grader.name',
    'grader.weights',
    'hidden.profile',
    'hidden.belief_target',
  ];
  it.each(paths)('%s', (path) => {
    const { message, kind } = faultOf(lineWith(path, undefined));
    const [first, ...others] = path.split('.');
    const named = [first, ...others.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))].join('');
    // `validateGrader` names the parts of a grader.
    expect(message).toContain(first === 'grader' ? (others[0] ?? 'grader') : named);
    expect(message).toMatch(/got none/);
    expect(kind).toBe(['schema', 'world_digest'].includes(first) ? 'foreign' : 'corrupt');
  });
});

describe('an invalid value is named:', () => {
  const { steps } = textEpisode;
  it.each<[string, unknown, string]>([
    ['seed', '3', 'seed: Expected an integer from 0 to 4294967295, got "3".'],
    ['seed', -1, 'seed: Expected an integer'],
    ['seed', 0.5, 'seed: Expected an integer'],
    ['teacher', '', 'teacher: Expected a name of 1 to 60 printable characters, got "".'],
    ['teacher', 'a\u001b[2J', 'teacher: Expected a name'],
    ['teacher', 'a\u202ebc', 'teacher: Expected a name'],
    ['teacher', 'a\u2028bc', 'teacher: Expected a name'],
    ['teacher', 'a\ud83d', 'teacher: Expected a name'],
    ['model', 7, 'model: Expected null or a name of'],
    ['model', 'a\nb', 'model: Expected null or a name of'],
    ['oracle', 'no', 'oracle: Expected true or false, got "no".'],
    ['profile_mode', 'sampeld', 'Did you mean "sampled"?'],
    ['grader', 'v2', 'grader: Expected a grader with name and weights, got "v2".'],
    ['grader.weights.progress', 0.9, 'Expected weights that sum to 1'],
    ['steps', {}, 'steps: Expected a list of 28 steps, got an object.'],
    ['steps', steps.slice(1), 'steps: Expected 28 steps, got 27.'],
    ['steps', [...steps, steps[0]], 'steps: Expected 28 steps, got 29.'],
    ['steps.5', null, 'steps[5]: Expected an object with the keys step, observation,'],
    ['steps.5.step', 6, 'steps[5].step: Expected 5, got 6.'],
    ['steps.5.action', 'Sleep', 'steps[5].action: Expected one of deep_work'],
    ['steps.5.action', 3, 'got 3.'],
    ['steps.5.parsed', 1, 'steps[5].parsed: Expected true or false, got 1.'],
    ['steps.5.reward', null, 'steps[5].reward: Expected a finite number, got null.'],
    ['steps.5.observation', [1, 2], 'steps[5].observation: Expected 22 finite numbers, got an array of 2.'],
    ['steps.5.observation.3', '4', 'steps[5].observation: Expected 22 finite numbers'],
    ['steps.5.belief', [0.5, 0.5], 'steps[5].belief: Expected null or three numbers from 0 to 1'],
    ['steps.5.belief', [0.5, 0.5, 1.5], 'steps[5].belief: Expected null or three numbers'],
    ['steps.5.belief', ['0', '0', '0'], 'steps[5].belief: Expected null or three numbers'],
    ['steps.5.completion', ['a'], 'steps[5].completion: Expected null or a text'],
    ['final.progress', '1', 'final.progress: Expected a finite number, got "1".'],
    ['usage', null, 'usage: Expected an object'],
    ['usage', { cost_usd: -1 }, 'usage.cost_usd: Expected a number from 0 on, got -1.'],
    ['sampling', {}, 'sampling.max_tokens: Expected a number from 0 on, got none.'],
    ['hidden.profile', [], 'hidden.profile: Expected 16 finite numbers, got an array of 0.'],
  ])('%s %j', (path, value, expected) => {
    const { message, kind } = faultOf(lineWith(path, value));
    expect(message).toContain(expected);
    expect(kind).toBe('corrupt');
  });
});

describe('another schema or world', () => {
  const { trajectory } = SCHEMAS;
  it.each<[string, path: string, value: unknown]>([
    ['got "rhythm-vec/trajectory" version 0. Make it again', 'schema', { ...trajectory, version: 0 }],
    ['version 1, got "rhythm-vec/trajectory" version 2.', 'schema', { ...trajectory, version: 2 }],
    ['got "rhythm-vec/episode" version 1.', 'schema', SCHEMAS.episode],
    ['got "trajectory".', 'schema', 'trajectory'],
    ['got null.', 'schema', null],
    ['schema: Expected', 'schema', { ...trajectory, version: '1' }],
    [`Expected ${WORLD.digest}, the world of this`, 'world_digest', 'f'.repeat(64)],
  ])('%s', (expected, path, value) => {
    const fault = faultOf(lineWith(path, value));
    expect([fault.kind, fault.message]).toEqual(['foreign', expect.stringContaining(expected)]);
  });
});

it('another schema is reported before other faults', () => {
  expect(faultOf('{"schema":{"name":"rhythm-vec/trajectory","version":0}}').kind).toBe('foreign');
  expect(faultOf('{}').kind).toBe('foreign');
  const datasetRow = 'got a row of a training dataset';
  expect(faultOf('{}').message).not.toContain(datasetRow);
  for (const row of ['{"messages":[]}', '{"prompt":[]}']) expect(faultOf(row).message).toContain(datasetRow);
});

it.each(['', 'x', '[]', 'null', '3', '"a"', '{"schema":', '\u0000', `${'['.repeat(100_000)}`])(
  'a line that is not an object is corrupt: %#',
  (line) => {
    expect(faultOf(line).kind).toBe('corrupt');
    expect(faultOf(line).message).toMatch(/^Expected /);
  },
);

it.each([
  ['in-distribution', 'sampled', 100, false],
  ['in-distribution', 'sampled', 99, true],
  ['in-distribution', 'discrete', 0, true],
  ['ood', 'sampled', 0, false],
  ['discrete', 'sampled', 0, false],
  ['discrete', 'introvert_morning', 4, true],
  ['discrete:introvert_morning', 'discrete', 0, false],
  ['discrete:introvert_morning', 'introvert_morning', 5, false],
  ['custom', 'sampled', 2 ** 32 - 1, true],
  ['of my own', 'discrete', 0, true],
])('the condition %s contains episodes of %s, seed %i: %s', (condition, profile_mode, seed, contained) => {
  const line = JSON.stringify({ ...textEpisode, condition, profile_mode, seed });
  if (contained) expect(parseEpisode(line).seed).toBe(seed);
  else expect(faultOf(line).message).toMatch(/^seed: Expected a seed of the condition .*, got \d+/);
});

it('docs/trajectories.md lists exactly the keys of a line and of a step', () => {
  const page = readFileSync(new URL('../../../docs/trajectories.md', import.meta.url), 'utf8');
  const [, rest] = page.split('\n## The schema\n');
  const [section] = rest.split('\n## ');
  const [line, step] = ['A line', 'Each of its 28 steps'].map((start) => {
    const [, list] = section.split(`\n- ${start}: `);
    return Array.from(list.split(/\n\n|\n- /)[0].matchAll(/`(\w+)`/g), ([, name]) => name);
  });
  // Lines of language models also have `sampling`, before `hidden`.
  const { hidden, ...others } = textEpisode;
  expect(line).toEqual(Object.keys({ ...others, sampling: { max_tokens: 512 }, hidden }));
  expect(step).toEqual(Object.keys(textEpisode.steps[0]));
});
