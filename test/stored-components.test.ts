/** Files of stored components: the line that is damaged, foreign or of another release is named, with its reason. */
import { beforeAll, describe, expect, it } from 'vitest';
import { readComponents } from '../src/cli/components/stream.js';
import { headerText, rowsText } from '../src/cli/components/text.js';
import { UsageError } from '../src/cli/failure.js';
import { createWorld, evaluate } from '../src/index.js';
import { SCHEMAS } from '../src/schemas.js';

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

/** The lines of the file, changed. */
const changed = (change: (lines: string[]) => string[]): string => change(stored.split('\n')).join('\n');
const withLine = (lines: string[], at: number, line: string) =>
  lines.map((each, i) => (i === at ? line : each));

async function read(text: string) {
  async function* bytes() {
    yield Buffer.from(text);
  }
  return readComponents(bytes(), 'c.jsonl');
}

it('as it was written it is read, condition by condition', async () => {
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
      expect([components.length, beliefMae.length]).toEqual([6 * episodes, episodes]);
    }
  }
});

it('whose tape was played is kept', async () => {
  const [{ policies }] = await read(stored);
  expect(policies.map(({ policy, tape }) => [policy, tape])).toContainEqual(['blind-tape', 'v2']);
  expect(policies.map(({ policy, tape }) => [policy, tape])).toContainEqual(['heuristic', null]);
  let written = '';
  await evaluate({
    seeds: { first: 0, last: 0 },
    policies: ['random'],
    onEpisodes: (episodes) => {
      written = rowsText({ ...episodes, tape: 'v2' });
    },
  });
  expect(JSON.parse(written)).toMatchObject({ policy: 'random', belief: 'none', tape: 'v2', seed: 0 });
});

describe('refused, by file and line, is', () => {
  const set = (at: number, values: object) =>
    changed((lines) => withLine(lines, at, JSON.stringify({ ...JSON.parse(lines[at]), ...values })));
  const header = (values: object) => set(0, values);
  const refused: [string, () => string, string][] = [
    ['nothing', () => '', 'c.jsonl: Expected episodes, got none.'],
    ['a header alone', () => changed((lines) => lines.slice(0, 1)), 'Expected episodes, got none.'],
    [
      'a line that is cut',
      () => changed((lines) => withLine(lines, 3, lines[3].slice(0, 40))),
      'c.jsonl:4: Expected one JSON object, got text that is none',
    ],
    [
      'a line of nulls',
      () => changed((lines) => withLine(lines, 3, '\0'.repeat(50))),
      'c.jsonl:4: Expected one JSON object',
    ],
    [
      'a line that is too long',
      () => changed((lines) => withLine(lines, 3, ' '.repeat(5000))),
      'c.jsonl:4: Expected a line of at most 4096 bytes',
    ],
    [
      'a list',
      () => changed((lines) => withLine(lines, 3, '[]')),
      'c.jsonl:4: Expected an object with the keys condition',
    ],
    [
      'no header',
      () => changed((lines) => lines.slice(1)),
      'c.jsonl:1: Expected a first line with the schema "rhythm-vec/components" version 1',
    ],
    [
      'an older header',
      () => header({ schema: { ...SCHEMAS.components, version: 0 } }),
      'c.jsonl:1: schema: Expected "rhythm-vec/components" version 1, got "rhythm-vec/components" version 0. Use the release that wrote it.',
    ],
    [
      'a newer header',
      () => header({ schema: { ...SCHEMAS.components, version: 2 } }),
      'got "rhythm-vec/components" version 2.',
    ],
    [
      'a foreign header',
      () => header({ schema: SCHEMAS.evaluation }),
      'got "rhythm-vec/evaluation" version 1.',
    ],
    [
      'a foreign line',
      () =>
        changed((lines) =>
          withLine(lines, 2, JSON.stringify({ schema: SCHEMAS.episode, seed: 1, actions: ['sleep'] })),
        ),
      'c.jsonl:3: schema: Expected "rhythm-vec/components" version 1, got "rhythm-vec/episode" version 1.',
    ],
    [
      'another world',
      () => header({ world_digest: 'f'.repeat(64) }),
      `c.jsonl:1: world_digest: Expected ${createWorld().digest}`,
    ],
    [
      'a header without weights',
      () => header({ grader_weights: undefined }),
      'c.jsonl:1: Expected an object at weights of the line, got none.',
    ],
    [
      'weights of another grader',
      () => header({ grader_weights: { progress: 1 } }),
      'at name of the line, got "v2", which has other weights.',
    ],
    [
      'no condition',
      () => set(1, { condition: undefined }),
      'c.jsonl:2: condition: Expected a name of 1 to 60 printable characters, got none.',
    ],
    [
      'a policy that colours a terminal',
      () => set(1, { policy: '\u001b[31m' }),
      'c.jsonl:2: policy: Expected a name',
    ],
    [
      'an unknown belief',
      () => set(1, { belief: 'some' }),
      'c.jsonl:2: belief: Expected one of none, constant, own, got "some".',
    ],
    ['an unknown profile', () => set(1, { profile: 'smapled' }), 'got "smapled". Did you mean "sampled"?'],
    [
      'a seed that is none',
      () => set(1, { seed: -1 }),
      'c.jsonl:2: seed: Expected an integer from 0 to 4294967295, got -1.',
    ],
    [
      'a component that is missing',
      () => set(1, { progress: undefined }),
      'c.jsonl:2: progress: Expected a float32 from 0 to 1, got none.',
    ],
    [
      'a component that is null',
      () => set(1, { progress: null }),
      'progress: Expected a float32 from 0 to 1, got null.',
    ],
    [
      'a component above 1',
      () => set(1, { progress: 2 }),
      'progress: Expected a float32 from 0 to 1, got 2.',
    ],
    [
      'a component of too many digits',
      () => set(1, { progress: 0.1 }),
      'progress: Expected a float32 from 0 to 1, got 0.1.',
    ],
    ['a component that was changed', () => set(1, { progress: 0.25 }), 'c.jsonl:2: final_score: Expected 0.'],
    [
      'a score that was changed',
      () => set(1, { final_score: 0.5 }),
      'which grader v2 makes of the components, got 0.5.',
    ],
    [
      'an episode twice',
      () => changed((lines) => [...lines.slice(0, 2), ...lines.slice(1)]),
      'c.jsonl:3: Expected ascending seeds of sampled persons, in condition "ood", got 10000 after 10000.',
    ],
    [
      'an episode too few',
      () => changed((lines) => [...lines.slice(0, 7), ...lines.slice(8)]),
      'c.jsonl:8: Expected "random" to go on with seed 10001 (sampled), as another policy does',
    ],
    [
      'an end that is missing',
      () => changed((lines) => lines.slice(0, -3)),
      'to have seed 3 (workaholic_stoic), as another policy has, in condition "discrete", got the end of the file.',
    ],
  ];
  it.each(refused)('%s', async (_, input, message) => {
    const refusal = await read(input()).catch((error) => error);
    expect(refusal).toBeInstanceOf(UsageError);
    expect(refusal.message).toContain(message);
    expect(refusal.message).toMatch(/^c\.jsonl/);
    expect(refusal.message).not.toContain('\u001b');
  });
});
