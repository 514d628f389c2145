/** `rhythm-vec replay`: stored episodes come back as they were, and bad rows are told. */
import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLines } from '../src/cli/files/lines.js';
import { MAX_LINE_BYTES, type ReplayCounts, replayStream } from '../src/cli/replay/stream.js';
import { ACTION_NAMES, createVecEnv, createWorld, type GraderChoice, PROFILE_NAMES } from '../src/index.js';
import { fromLines, runCli, temporaryDirectory } from './support/cli.js';
import { ENGINES } from './support/engines.js';
import { episodes, type GoldenEpisode } from './support/golden.js';

const file = temporaryDirectory();
const replayable = episodes.filter(({ profile, imagination }) => profile !== 'explicit' && !imagination);
const WEEK = new Array<string>(28).fill('sleep');

const rowOf = ({ seed, profile, grader, steps }: GoldenEpisode) => ({
  seed,
  profile,
  actions: steps.map((step) => step.action),
  beliefs: steps.map((step) => step.belief),
  grader,
});
const scoredOf = ({ seed, profile, belief_target, steps, final }: GoldenEpisode) => ({
  seed,
  profile,
  belief_target,
  steps: steps.map(({ action, event, reward, meters, delta, anomaly }) => ({
    action,
    event,
    reward,
    meters,
    delta,
    anomaly,
  })),
  final,
});
const toLines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

interface Replayed extends ReplayCounts {
  rows: ReturnType<typeof fromLines>;
  reports: [number, string][];
}

/** Replays in this process. */
async function replayText(
  chunks: readonly (string | Uint8Array)[],
  engine = {},
  batchSize?: number,
): Promise<Replayed> {
  let text = '';
  const reports: [number, string][] = [];
  async function* input() {
    for (const chunk of chunks) yield Buffer.from(chunk as string);
  }
  const counts = await replayStream({
    input: input(),
    write: async (piece) => {
      text += piece;
    },
    report: (line, reason) => reports.push([line, reason]),
    engine,
    batchSize,
  });
  return { ...counts, rows: fromLines(text), reports };
}

async function scoresOf(row: object) {
  const { rows, reports } = await replayText([toLines([row])]);
  expect(reports).toEqual([]);
  return rows[0];
}

describe('round trip', () => {
  it('every golden episode, through the command line, on the default backend', async () => {
    expect(replayable).toHaveLength(episodes.length - 2);
    writeFileSync(file('golden.jsonl'), toLines(replayable.map(rowOf)));
    const end = await runCli(['replay', '--input', file('golden.jsonl'), '--output', file('scored.jsonl')]);
    expect(end).toEqual({ code: 0, stdout: '', stderr: `${replayable.length} rows replayed.\n` });
    expect(fromLines(readFileSync(file('scored.jsonl'), 'utf8'))).toEqual(replayable.map(scoredOf));
  });

  it.each(ENGINES)('every golden episode on $name', async ({ backend, kernel }) => {
    const { rows, good, bad } = await replayText([toLines(replayable.map(rowOf))], { backend, kernel }, 4);
    expect(rows).toEqual(replayable.map(scoredOf));
    expect([good, bad]).toEqual([replayable.length, 0]);
  });

  it('a part of an episode is its first steps, without a grade', async () => {
    const golden = replayable[1];
    const row = rowOf(golden);
    const rows = [1, 13, 27].map((n) => ({
      ...row,
      actions: row.actions.slice(0, n),
      beliefs: row.beliefs.slice(0, n),
    }));
    const { rows: scored } = await replayText([toLines(rows)]);
    for (const { steps, final } of scored) {
      expect(steps).toEqual(scoredOf(golden).steps.slice(0, steps.length));
      expect(final).toBeNull();
    }
    expect(scored.map(({ steps }) => steps.length)).toEqual([1, 13, 27]);
  });

  it('output names its keys in the documented order', async () => {
    const scored = await scoresOf({ seed: 1, actions: WEEK });
    expect(Object.keys(scored)).toEqual(['seed', 'profile', 'belief_target', 'steps', 'final']);
    expect(Object.keys(scored.steps[0])).toEqual(['action', 'event', 'reward', 'meters', 'delta', 'anomaly']);
    expect(Object.keys(scored.final).slice(-2)).toEqual(['belief_mae', 'final_score']);
  });
});

describe('what a row may leave out or say otherwise', () => {
  /** The final score that the library gives to a week of the first action. */
  const score = (grader: GraderChoice, profiles = 'sampled', beliefs?: number[]) => {
    using env = createVecEnv({ numEnvs: 1 });
    env.reset({ seed: 9, profiles, graders: grader });
    return env.run(new Uint8Array(28), beliefs && { beliefs }).finalScores[0];
  };
  it('persons, graders and beliefs', async () => {
    const weights = [0.1, 0.2, 0.3, 0.1, 0.1, 0.2];
    const week = { seed: 9, actions: new Array(28).fill(ACTION_NAMES[0]) };
    const final = async (extra: object) => (await scoresOf({ ...week, ...extra })).final.final_score;
    expect(await final({})).toBe(score('v2'));
    expect(await final({ grader: 'v1' })).toBe(score('v1'));
    expect(await final({ grader: weights })).toBe(score(weights));
    expect(await final({ profile: 'discrete' })).toBe(score('v2', 'discrete'));
    expect(await final({ profile: PROFILE_NAMES[2] })).toBe(score('v2', PROFILE_NAMES[2]));
    const beliefs = (belief: unknown) => ({ beliefs: new Array(28).fill(belief) });
    expect(await final(beliefs(null))).toBe(score('v2'));
    expect(await final(beliefs([1e300, -1e300, 0.5]))).toBe(score('v2', 'sampled', [1, 0, 0.5]));
  });

  it('where it comes from: this schema, this world', async () => {
    const row = { seed: 9, actions: WEEK };
    const schema = { name: 'rhythm-vec/episode', version: 1 };
    const provenance = { schema, world_digest: createWorld().digest };
    expect(await scoresOf({ ...row, ...provenance })).toEqual(await scoresOf(row));
  });

  it('blank lines, CRLF, a byte order mark, no end of the last line, and any cutting into chunks', async () => {
    const row = JSON.stringify({ seed: 5, actions: ['sleep'] });
    const text = `\uFEFF${row}\r\n\r\n  \t\n${row}\n\n?\n${row}`;
    const whole = await replayText([text]);
    expect(whole).toMatchObject({ good: 3, bad: 1, reports: [[6, expect.any(String)]] });
    const bytes = Buffer.from(text);
    const bit = (n: number) =>
      Array.from({ length: bytes.length }, (_, i) => bytes.subarray(i * n, i * n + n));
    expect(await replayText(bit(1))).toEqual(whole);
    expect(await replayText(bit(7), {}, 1)).toEqual(whole);
  });
});

describe('bad rows', () => {
  const good = { seed: 1, actions: ['sleep', 'deep_work'] };
  const refused: [string, unknown, string][] = [
    ['no JSON', '{"seed":', 'Expected one JSON object'],
    ['no object', [1], 'Expected an object with the keys seed'],
    ['null', null, 'Expected an object with the keys seed'],
    ['an unknown key', { ...good, belief: [] }, 'got "belief". Did you mean "beliefs"?'],
    ['a prototype', '{"seed":1,"actions":["sleep"],"__proto__":{}}', '__proto__'],
    ['no seed', { actions: ['sleep'] }, 'seed: Expected an integer from 0 to 4294967295, got none.'],
    ['a negative seed', { ...good, seed: -1 }, 'got -1.'],
    ['a large seed', { ...good, seed: 2 ** 32 }, 'got 4294967296.'],
    ['half a seed', { ...good, seed: 0.5 }, 'got 0.5.'],
    ['a seed as text', { ...good, seed: '1' }, 'got "1".'],
    ['no actions', { seed: 1 }, 'actions: Expected a list of 1 to 28 action names, got none.'],
    [
      'empty actions',
      { seed: 1, actions: [] },
      'actions: Expected a list of 1 to 28 action names, got none.',
    ],
    ['too many actions', { seed: 1, actions: [...WEEK, 'sleep'] }, '1 to 28 action names, got 29.'],
    ['an unknown action', { seed: 1, actions: ['sleep', 'slep'] }, 'actions[1]: Expected one of'],
    ['a misspelt action', { seed: 1, actions: ['deep_wrk'] }, 'got "deep_wrk". Did you mean "deep_work"?'],
    ['capitals', { seed: 1, actions: ['SLEEP'] }, 'got "SLEEP". Did you mean "sleep"?'],
    ['an action code', { seed: 1, actions: [3] }, 'got 3.'],
    ['too few beliefs', { ...good, beliefs: [null] }, 'beliefs: Expected as many beliefs as actions'],
    [
      'two numbers',
      { ...good, beliefs: [null, [0, 1]] },
      'beliefs[1]: Expected null or three finite numbers',
    ],
    ['a text in a belief', { ...good, beliefs: [[0, 1, '1'], null] }, 'beliefs[0]: Expected null or three'],
    ['an infinite belief', '{"seed":1,"actions":["sleep"],"beliefs":[[0,0,1e999]]}', 'three finite'],
    ['beliefs that are null', { ...good, beliefs: null }, 'beliefs: Expected a list of beliefs'],
    ['an unknown profile', { ...good, profile: 'sampeld' }, 'Did you mean "sampled"?'],
    ['a profile of floats', { ...good, profile: [1] }, 'profile: Expected "sampled", "discrete" or'],
    ['an unknown grader', { ...good, grader: 'v9' }, 'Expected grader to be one of v1, v2, got "v9".'],
    ['five weights', { ...good, grader: [0.2, 0.2, 0.2, 0.2, 0.2] }, 'six finite weights'],
    ['weights that sum to 2', { ...good, grader: [1, 1, 0, 0, 0, 0] }, 'sum to 1'],
    [
      'a grader that is none',
      { ...good, grader: 2 },
      "grader: Expected a grader's name, six weights or a grader, got 2.",
    ],
    [
      'a newer schema',
      { ...good, schema: { name: 'rhythm-vec/episode', version: 2 } },
      'schema: Expected "rhythm-vec/episode" version 1, got "rhythm-vec/episode" version 2. Use the release',
    ],
    [
      'another schema',
      { ...good, schema: { name: 'rhythm-vec/evaluation', version: 1 } },
      'got "rhythm-vec/evaluation" version 1.',
    ],
    ['a schema that is none', { ...good, schema: 1 }, 'version 1, got 1. Use'],
    ['no schema', { ...good, schema: null }, 'version 1, got null. Use'],
    ['an empty schema', { ...good, schema: {} }, 'version 1, got an object. Use'],
    [
      'a deep schema',
      JSON.stringify(good).replace('}', `,"schema":${'['.repeat(9000)}${']'.repeat(9000)}}`),
      'version 1, got an array of 1. Use',
    ],
    [
      'another world',
      { ...good, world_digest: 'f'.repeat(64) },
      `world_digest: Expected ${createWorld().digest}, the world that rows are played in, got "${'f'.repeat(64)}".`,
    ],
    ['a world by number', { ...good, world_digest: 1 }, 'the world that rows are played in, got 1.'],
    ['a line that is too long', ' '.repeat(MAX_LINE_BYTES + 1), `at most ${MAX_LINE_BYTES} bytes`],
  ];
  it.each(refused)('%s', async (_, row, reason) => {
    const line = typeof row === 'string' ? row : JSON.stringify(row);
    const { rows, reports, ...counts } = await replayText([`${toLines([good])}${line}\n${toLines([good])}`]);
    expect(counts).toEqual({ good: 2, bad: 1 });
    expect(rows).toHaveLength(2);
    expect(reports).toEqual([[2, expect.stringContaining(reason)]]);
  });

  it('bytes that are no UTF-8', async () => {
    const { reports } = await replayText([Buffer.from([0x22, 0xff, 0x22, 0x0a])]);
    expect(reports).toEqual([[1, expect.stringContaining('UTF-8')]]);
  });

  it('are reported and counted; the good ones are written and the exit code is 1, or 0 with --skip-bad', async () => {
    const input = `${toLines([good])}\u001b[31m\n\n${toLines([good])}{}\n`;
    writeFileSync(file('mixed.jsonl'), input);
    const args = ['replay', '--input', file('mixed.jsonl'), '--output', file('mixed.out')];
    for (const [extra, code] of [
      [[], 1],
      [['--skip-bad'], 0],
    ] as const) {
      const end = await runCli([...args, ...extra]);
      expect(end.code).toBe(code);
      expect(end.stderr).toContain(`${file('mixed.jsonl')}:2: Expected one JSON object`);
      expect(end.stderr).toContain(`${file('mixed.jsonl')}:5: seed: Expected`);
      expect(end.stderr).toContain('2 rows replayed, 2 rows bad and left out.\n');
      expect(end.stderr).not.toContain('\u001b');
      expect(fromLines(readFileSync(file('mixed.out'), 'utf8'))).toHaveLength(2);
    }
  });

  const junk = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.record({ seed: fc.anything(), actions: fc.anything() }).map((row) => JSON.stringify(row) ?? ''),
    fc
      .record(
        {
          seed: fc.oneof(fc.nat(), fc.double()),
          actions: fc.array(fc.constantFrom('sleep', 'deep_work', 'no'), { maxLength: 30 }),
          beliefs: fc.array(fc.oneof(fc.constant(null), fc.array(fc.double(), { maxLength: 4 }))),
          profile: fc.oneof(fc.constantFrom('sampled', 'discrete', ...PROFILE_NAMES), fc.string()),
          grader: fc.oneof(fc.constantFrom('v1', 'v2'), fc.array(fc.jsonValue(), { maxLength: 7 })),
        },
        { requiredKeys: [] },
      )
      .map((row) => JSON.stringify(row)),
    fc.constant(JSON.stringify(good)),
  );

  it('of any kind never stop a replay, and the counts add up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(junk, { maxLength: 20 }), async (texts) => {
        const lines = texts.map((text) => text.replaceAll('\n', ' '));
        const { rows, reports, good, bad } = await replayText([lines.join('\n')], {}, 3);
        const marked = lines.map((line, i) => (i === 0 && line.startsWith('\uFEFF') ? line.slice(1) : line));
        expect(good + bad).toBe(marked.filter((line) => line.trim() !== '').length);
        expect(rows).toHaveLength(good);
        expect(reports).toHaveLength(bad);
      }),
      { numRuns: 300 },
    );
  });
});

it('lines that are too long are counted without being kept', async () => {
  async function* chunks() {
    for (let i = 0; i < 1000; i++) yield Buffer.alloc(1000, 'x');
    yield Buffer.from('\nshort');
  }
  const lines = [];
  for await (const line of readLines(chunks(), 100)) lines.push(line);
  expect(lines).toEqual([
    { number: 1, text: null, problem: 'Expected a line of at most 100 bytes, got 1000000.' },
    { number: 2, text: 'short' },
  ]);
});
