/** Reads files of stored components. Errors name the file, and the line at fault. */
import { beforeAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/command-errors.js';
import { readComponents } from '../../src/cli/components/read-components.js';
import { headerText, rowsText } from '../../src/cli/components/write-components.js';
import { createWorld, evaluate } from '../../src/index.js';
import { SCHEMAS } from '../../src/shared/schemas.js';

let stored = '';
beforeAll(async () => {
  await evaluate({
    conditions: ['ood', 'discrete'],
    episodes: 5,
    onStart: (info) => {
      stored = headerText(info);
    },
    onEpisodes: (episodes) => {
      stored += rowsText(episodes);
    },
  });
});

/** Returns the file with changed lines. */
const changed = (change: (lines: string[]) => string[]): string => change(stored.split('\n')).join('\n');
const withLine = (lines: string[], at: number, line: string) =>
  lines.map((each, i) => (i === at ? line : each));

async function read(text: string) {
  async function* bytes() {
    yield Buffer.from(text);
  }
  return readComponents(bytes(), 'c.jsonl');
}

it('readComponents reads the stored episodes, grouped by condition', async () => {
  const conditions = await read(stored);
  expect(conditions.map(({ condition, seeds, profiles }) => [condition, seeds, profiles])).toEqual([
    ['ood', '10000-10004', 'sampled'],
    ['discrete:introvert_morning', '0-4', 'introvert_morning'],
    ['discrete:extrovert_night_owl', '0-4', 'extrovert_night_owl'],
    ['discrete:workaholic_stoic', '0-4', 'workaholic_stoic'],
    ['discrete', '0-4', 'named'],
  ]);
  for (const { policies, condition } of conditions) {
    const episodes = condition === 'discrete' ? 15 : 5;
    expect(policies).toHaveLength(6);
    for (const { components, beliefMae } of policies) {
      expect([components.length, beliefMae.length]).toEqual([8 * episodes, episodes]);
    }
  }
});

it('a file has the grader for which an action sequence was found', async () => {
  const [{ policies }] = await read(stored);
  const graders = new Map(policies.map(({ policy, sequenceGrader }) => [policy, sequenceGrader]));
  expect([graders.get('open-loop'), graders.get('heuristic')]).toEqual(['v2', null]);
  let written = '';
  await evaluate({
    seeds: { first: 0, last: 0 },
    policies: ['random'],
    onEpisodes: (episodes) => {
      written = rowsText({ ...episodes, sequenceGrader: 'v2' });
    },
  });
  expect(JSON.parse(written)).toMatchObject({
    policy: 'random',
    belief: 'none',
    sequence_grader: 'v2',
    seed: 0,
  });
});

describe('readComponents refuses, with an error that names the file,', () => {
  const set = (at: number, values: object) => () =>
    changed((lines) => withLine(lines, at, JSON.stringify({ ...JSON.parse(lines[at]), ...values })));
  const header = (values: object) => set(0, values);
  const asIntrovert = (line: string) => line.replace('workaholic_stoic', 'introvert_morning');
  /** Changes one line. */
  const line = (at: number, text: string) => () => changed((lines) => withLine(lines, at, text));
  const cut = (change: (lines: string[]) => string[]) => () => changed(change);
  it.each<[string, () => string, string]>([
    ['an empty file', () => '', 'c.jsonl: Expected episodes, got none.'],
    ['only a header', cut((lines) => lines.slice(0, 1)), 'Expected episodes, got none.'],
    ['an incomplete line', line(3, '{"condition":"ood"'), 'c.jsonl:4: Expected one JSON object, got invalid'],
    ['a line of NUL characters', line(3, '\0'.repeat(50)), 'c.jsonl:4: Expected one JSON object'],
    ['a long line', line(3, ' '.repeat(5000)), 'c.jsonl:4: Expected a line of at most 4096 bytes'],
    ['a list', line(3, '[]'), 'c.jsonl:4: Expected an object with the keys condition'],
    ['no header', cut((lines) => lines.slice(1)), 'c.jsonl:1: Expected a first line with the schema'],
    [
      'an older header',
      header({ schema: { ...SCHEMAS.components, version: 0 } }),
      'version 0. Make it again',
    ],
    ['another schema', header({ schema: SCHEMAS.evaluation }), 'got "rhythm-vec/evaluation" version 1.'],
    [
      'a line of another schema',
      line(2, JSON.stringify({ schema: SCHEMAS.episode })),
      'c.jsonl:3: schema: Exp',
    ],
    [
      'another world',
      header({ world_digest: 'f'.repeat(64) }),
      `1: world_digest: Expected ${createWorld().digest}`,
    ],
    [
      'no weights',
      header({ grader_weights: undefined }),
      'c.jsonl:1: Expected an object at weights of the gr',
    ],
    [
      'weights of another grader',
      header({ grader_weights: { progress: 1 } }),
      'got "v2", which has other weights.',
    ],
    ['no condition', set(1, { condition: undefined }), 'c.jsonl:2: condition: Expected a name of 1 to 60'],
    ['control characters', set(1, { policy: '\u001b[31m' }), 'c.jsonl:2: policy: Expected a name'],
    ['an unknown belief', set(1, { belief: 'some' }), 'Pass a file that eval --components wrote.'],
    ['an unknown profile', set(1, { profile: 'smapled' }), 'got "smapled". Did you mean "sampled"?'],
    ['a negative seed', set(1, { seed: -1 }), 'c.jsonl:2: seed: Expected an integer from 0 to 4294967295'],
    [
      'a missing component',
      set(1, { progress: undefined }),
      'progress: Expected a float32 from 0 to 1, got none.',
    ],
    ['a component that is null', set(1, { progress: null }), 'Expected a float32 from 0 to 1, got null.'],
    ['a component above 1', set(1, { progress: 2 }), 'Expected a float32 from 0 to 1, got 2.'],
    ['a component in a string', set(1, { progress: '0.1' }), 'a float32 from 0 to 1, got "0.1".'],
    [
      'a mean beyond float32',
      set(1, { early_mean: 1e39 }),
      'early_mean: Expected a finite float32, got 1e+39.',
    ],
    [
      'no mean of a half',
      set(1, { late_mean: undefined }),
      'late_mean: Expected a finite float32, got none.',
    ],
    ['a changed component', set(1, { progress: 0.25 }), 'c.jsonl:2: final_score: Expected 0.'],
    [
      'a changed score',
      set(1, { final_score: 0.5 }),
      'the score of the components under grader v2, got 0.5.',
    ],
    ['an episode twice', cut((lines) => [...lines.slice(0, 3), ...lines.slice(2)]), 'got 10001 after 10001.'],
    [
      'the same seed of another profile',
      cut((lines) => lines.map((each, i) => (i < lines.length - 2 ? each : asIntrovert(each)))),
      'to continue with seed 4 (workaholic_stoic), as another policy does, in condition "discrete", got seed 4',
    ],
    [
      'a missing episode',
      cut((lines) => [...lines.slice(0, 7), ...lines.slice(8)]),
      'c.jsonl:8: Expected "random" to continue with seed 10001 (sampled), as another policy does',
    ],
    ['a missing last episode', cut((lines) => lines.slice(0, -3)), 'got the end of the file.'],
  ])('%s', async (_, input, message) => {
    const refusal = await read(input()).catch((error) => error);
    expect(refusal).toBeInstanceOf(UsageError);
    expect(refusal.message).toContain(message);
    expect(refusal.message).toMatch(/^c\.jsonl/);
    expect(refusal.message).not.toContain('\u001b');
  });
});
