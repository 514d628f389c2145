/** `rhythm-vec replay`: stored episodes give the same values, and invalid rows are reported. */
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_LINE_BYTES, type ReplayCounts, replayStream } from '../../src/cli/replay.js';
import {
  ACTION_NAMES,
  createVecEnv,
  createWorld,
  type GraderChoice,
  graderWeights,
  PROFILE_NAMES,
} from '../../src/index.js';
import { float32Decimal, float32Decimals } from '../../src/shared/float32-decimal.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { COMPONENT_NAMES } from '../../src/world/fields.js';
import { fromLines, runCli, temporaryDirectory } from '../support/cli.js';
import { ENGINES } from '../support/engines.js';
import { episodes, type GoldenEpisode } from '../support/golden.js';
import { anyText, DRAWS, drawsOf } from '../support/random.js';

const pathOf = temporaryDirectory();
const replayable = episodes.filter(({ profile, imagination }) => profile !== 'explicit' && !imagination);
const EPISODE = new Array<string>(28).fill('sleep');

const rowOf = ({ seed, profile, grader, steps }: GoldenEpisode) => ({
  seed,
  profile,
  actions: steps.map((step) => step.action),
  beliefs: steps.map((step) => step.belief),
  grader,
});
const expectedOutput = ({ seed, profile, belief_target, steps, final }: GoldenEpisode) => ({
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
/** Returns rows with every number but the seed rounded to float32. */
const inFloat32 = (rows: unknown) =>
  JSON.parse(JSON.stringify(rows), (key, value) =>
    typeof value === 'number' && key !== 'seed' ? Math.fround(value) : value,
  );
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

/** Replays one valid row. Returns its output. */
async function replayedRow(row: object) {
  const { rows, reports } = await replayText([toLines([row])]);
  expect(reports).toEqual([]);
  return rows[0];
}

describe('replay', () => {
  it('reproduces the replayable golden episodes through the command line, on the default backend', async () => {
    // Two are not replayable: one has an explicit profile, and one has imagination.
    expect(replayable).toHaveLength(episodes.length - 2);
    writeFileSync(pathOf('golden.jsonl'), toLines(replayable.map(rowOf)));
    const [input, output] = ['golden.jsonl', 'new/scored.jsonl'].map(pathOf);
    const result = await runCli(['replay', '--input', input, '--output', output]);
    expect(result).toEqual({ code: 0, stdout: '', stderr: `${replayable.length} rows replayed.\n` });
    const scored = fromLines(readFileSync(output, 'utf8'));
    expect(inFloat32(scored)).toEqual(replayable.map(expectedOutput));
    expect(scored[0].steps[0].meters).toEqual(float32Decimals(replayable[0].steps[0].meters));
  });

  it.each(ENGINES)('reproduces the replayable golden episodes on $name', async ({ backend, kernel }) => {
    const { rows, valid, invalid } = await replayText(
      [toLines(replayable.map(rowOf))],
      { backend, kernel },
      4,
    );
    expect(inFloat32(rows)).toEqual(replayable.map(expectedOutput));
    expect([valid, invalid]).toEqual([replayable.length, 0]);
  });

  it('reproduces the first steps of an incomplete episode, without a grade', async () => {
    const golden = replayable[1];
    const row = rowOf(golden);
    const rows = [1, 13, 27].map((n) => ({
      ...row,
      actions: row.actions.slice(0, n),
      beliefs: row.beliefs.slice(0, n),
    }));
    const { rows: scored } = await replayText([toLines(rows)]);
    for (const { steps, final } of scored) {
      expect(inFloat32(steps)).toEqual(expectedOutput(golden).steps.slice(0, steps.length));
      expect(final).toBeNull();
    }
    expect(scored.map(({ steps }) => steps.length)).toEqual([1, 13, 27]);
  });

  it('writes the keys in the documented order', async () => {
    const scored = await replayedRow({ seed: 1, actions: EPISODE });
    expect(Object.keys(scored)).toEqual(['seed', 'profile', 'belief_target', 'steps', 'final']);
    expect(Object.keys(scored.steps[0])).toEqual(['action', 'event', 'reward', 'meters', 'delta', 'anomaly']);
    expect(Object.keys(scored.final)).toEqual([...COMPONENT_NAMES, 'belief_mae', 'final_score']);
  });
});

describe('a row may have', () => {
  /** Returns the library's final score of an episode that plays action 0 at every step. */
  const score = (grader: GraderChoice, profiles = 'sampled', beliefs?: number[]) => {
    using env = createVecEnv({ numEnvs: 1 });
    env.reset({ seed: 9, profiles, graders: grader });
    return float32Decimal(env.run(new Uint8Array(28), beliefs && { beliefs }).finalScores[0]);
  };
  it('a profile, a grader and beliefs', async () => {
    const row = { seed: 9, actions: new Array(28).fill(ACTION_NAMES[0]) };
    const final = async (extra: object) => (await replayedRow({ ...row, ...extra })).final.final_score;
    expect(await final({})).toBe(score('v2'));
    expect(await final({ grader: 'v1' })).toBe(score('v1'));
    expect(await final({ grader: 'v3' })).toBe(score('v3'));
    const eight = [0.1, 0.2, 0.3, 0.1, 0, 0, 0.2, 0.1];
    expect(await final({ grader: eight })).toBe(score(eight));
    expect(await final({ profile: 'discrete' })).toBe(score('v2', 'discrete'));
    expect(await final({ profile: PROFILE_NAMES[2] })).toBe(score('v2', PROFILE_NAMES[2]));
    const beliefs = (belief: unknown) => ({ beliefs: new Array(28).fill(belief) });
    expect(await final(beliefs(null))).toBe(score('v2'));
    expect(await final(beliefs([1e300, -1e300, 0.5]))).toBe(score('v2', 'sampled', [1, 0, 0.5]));
    const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
    expect(await final({ grader: calm })).toBe(score(graderWeights(calm)));
  });

  it('any grader, instead of which --grader grades every row; the output may be a link, and a device', async () => {
    const rows = toLines(['v1', undefined, 'v3'].map((grader) => ({ seed: 9, actions: EPISODE, grader })));
    const replayTo = (output: string, ...more: string[]) =>
      runCli(['replay', '--input', '-', '--output', output, ...more], rows);
    const { stdout, stderr } = await replayTo('-', '--grader', 'v1');
    expect(stderr).toBe('3 rows replayed under grader v1.\n');
    const [first, ...others] = fromLines(stdout).map(({ final }) => final.final_score);
    expect(others).toEqual([first, first]);
    symlinkSync('real.out', pathOf('link.out'));
    expect((await replayTo(pathOf('link.out'))).code).toBe(0);
    expect(
      new Set(fromLines(readFileSync(pathOf('real.out'), 'utf8')).map(({ final }) => final.final_score)).size,
    ).toBe(3);
    expect((await replayTo('/dev/null')).code).toBe(0);
    expect(statSync('/dev/null').isFile()).toBe(false);
  });

  it('a schema and a world digest', async () => {
    const row = { seed: 9, actions: EPISODE, grader: 'v3' };
    const origin = { schema: SCHEMAS.episode, world_digest: createWorld().digest };
    expect(await replayedRow({ ...row, ...origin })).toEqual(await replayedRow(row));
  });

  it('blank lines around it, CRLF, a byte order mark, no line end, and be read in chunks of any size', async () => {
    const row = JSON.stringify({ seed: 5, actions: ['sleep'] });
    const text = `\uFEFF${row}\r\n\r\n  \t\n${row}\n\n?\n${row}`;
    const whole = await replayText([text]);
    expect(whole).toMatchObject({ valid: 3, invalid: 1, reports: [[6, expect.any(String)]] });
    const bytes = Buffer.from(text);
    const chunksOf = (n: number) =>
      Array.from({ length: bytes.length }, (_, i) => bytes.subarray(i * n, i * n + n));
    expect(await replayText(chunksOf(1))).toEqual(whole);
    expect(await replayText(chunksOf(7), {}, 1)).toEqual(whole);
  });
});

describe('invalid rows', () => {
  const good = { seed: 1, actions: ['sleep', 'deep_work'] };
  const nested = `${'['.repeat(9000)}${']'.repeat(9000)}`;
  it.each<[name: string, row: unknown, reason: string]>([
    ['invalid JSON', '{"seed":', 'Expected one JSON object'],
    ['an array', [1], 'Expected an object with the keys seed'],
    ['null', null, 'Expected an object with the keys seed'],
    ['an unknown key', { ...good, belief: [] }, 'got "belief". Did you mean "beliefs"?'],
    ['the key __proto__', '{"seed":1,"actions":["sleep"],"__proto__":{}}', '__proto__'],
    ['no seed', { actions: ['sleep'] }, 'seed: Expected an integer from 0 to 4294967295, got none.'],
    ['a negative seed', { ...good, seed: -1 }, 'got -1.'],
    ['a large seed', { ...good, seed: 2 ** 32 }, 'got 4294967296.'],
    ['a fractional seed', { ...good, seed: 0.5 }, 'got 0.5.'],
    ['no actions', { seed: 1 }, 'actions: Expected a list of 1 to 28 action names, got none.'],
    ['empty actions', { seed: 1, actions: [] }, 'Expected a list of 1 to 28 action names, got none.'],
    ['too many actions', { seed: 1, actions: [...EPISODE, 'sleep'] }, '1 to 28 action names, got 29.'],
    ['a misspelt action', { seed: 1, actions: ['sleep', 'slep'] }, 'actions[1]: Expected one of'],
    ['an action code', { seed: 1, actions: [3] }, 'got 3.'],
    ['too few beliefs', { ...good, beliefs: [null] }, 'beliefs: Expected 2 beliefs, one for each action'],
    ['a belief of two numbers', { ...good, beliefs: [null, [0, 1]] }, 'beliefs[1]: Expected null or three'],
    ['a belief of four', { ...good, beliefs: [null, [0, 1, 0, 1]] }, 'beliefs[1]: Expected null or three'],
    ['a string in a belief', { ...good, beliefs: [[0, 1, '1'], null] }, 'beliefs[0]: Expected null or three'],
    ['an infinite belief', '{"seed":1,"actions":["sleep"],"beliefs":[[0,0,1e999]]}', 'three finite'],
    ['beliefs that are null', { ...good, beliefs: null }, 'beliefs: Expected a list of beliefs'],
    ['an unknown profile', { ...good, profile: 'sampeld' }, 'Did you mean "sampled"?'],
    ['a profile of numbers', { ...good, profile: [1] }, 'profile: Expected "sampled", "discrete" or'],
    ['an unknown grader', { ...good, grader: 'v9' }, 'Expected grader to be one of v1, v2, v3, got "v9".'],
    ['five weights', { ...good, grader: [0.2, 0.2, 0.2, 0.2, 0.2] }, 'eight weights'],
    ['weights that sum to 2', { ...good, grader: [1, 1, 0, 0, 0, 0, 0, 0] }, 'sum to 1'],
    ['a misspelt component', { ...good, grader: { name: 'x', weights: { progres: 1 } } }, 'mean "progress"?'],
    ['a grader that is a number', { ...good, grader: 2 }, 'eight weights or a grader, got 2.'],
    ['a newer schema', { ...good, schema: { ...SCHEMAS.episode, version: 2 } }, 'version 1, got "rhythm-vec'],
    ['another schema', { ...good, schema: SCHEMAS.evaluation }, 'got "rhythm-vec/evaluation" version 1.'],
    ['a schema that is null', { ...good, schema: null }, 'version 1, got null. Make'],
    ['a nested schema', JSON.stringify(good).replace('}', `,"schema":${nested}}`), 'got an array of 1. Make'],
    [
      'another world',
      { ...good, world_digest: 'f'.repeat(64) },
      `Expected ${createWorld().digest}, the world`,
    ],
    ['a world that is a number', { ...good, world_digest: 1 }, 'the world of this release, got 1.'],
    ['a line that is too long', ' '.repeat(MAX_LINE_BYTES + 1), `at most ${MAX_LINE_BYTES} bytes`],
  ])('are left out with the reason: %s', async (_, row, reason) => {
    const line = typeof row === 'string' ? row : JSON.stringify(row);
    const { rows, reports, ...counts } = await replayText([`${toLines([good])}${line}\n${toLines([good])}`]);
    expect(counts).toEqual({ valid: 2, invalid: 1 });
    expect(rows).toHaveLength(2);
    expect(reports).toEqual([[2, expect.stringContaining(reason)]]);
  });

  it('are reported and counted; valid rows are written; the exit code is 1, or 0 with --skip-bad', async () => {
    const input = `${toLines([good])}\u001b[31m\n\n${toLines([good])}{}\n`;
    writeFileSync(pathOf('mixed.jsonl'), input);
    const args = ['replay', '--input', pathOf('mixed.jsonl'), '--output', pathOf('mixed.out')];
    for (const [extra, code] of [
      [[], 1],
      [['--skip-bad'], 0],
    ] as const) {
      const result = await runCli([...args, ...extra]);
      expect(result.code).toBe(code);
      expect(result.stderr).toContain(`${pathOf('mixed.jsonl')}:2: Expected one JSON object`);
      expect(result.stderr).toContain(`${pathOf('mixed.jsonl')}:5: seed: Expected`);
      expect(result.stderr).toContain('2 rows replayed, 2 rows invalid and left out.\n');
      expect(result.stderr).not.toContain('\u001b');
      expect(fromLines(readFileSync(pathOf('mixed.out'), 'utf8'))).toHaveLength(2);
    }
  });

  const junk = fc.oneof(
    anyText(),
    fc.json(),
    fc.record({ seed: fc.anything(), actions: fc.anything() }).map((row) => JSON.stringify(row) ?? ''),
    fc
      .record(
        {
          seed: fc.oneof(fc.nat(), fc.double()),
          actions: fc.array(fc.constantFrom('sleep', 'deep_work', 'no'), { maxLength: 30 }),
          beliefs: fc.array(fc.oneof(fc.constant(null), fc.array(fc.double(), { maxLength: 4 }))),
          profile: fc.oneof(fc.constantFrom('sampled', 'discrete', ...PROFILE_NAMES), fc.string()),
          grader: fc.oneof(fc.constantFrom('v1', 'v2', 'v3'), fc.array(fc.jsonValue(), { maxLength: 9 })),
        },
        { requiredKeys: [] },
      )
      .map((row) => JSON.stringify(row)),
    fc.constant(JSON.stringify(good)),
  );

  it('with any content never stop a replay, and the counts add up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(junk, { maxLength: 20 }), async (texts) => {
        const lines = texts.map((text) => text.replaceAll('\n', ' '));
        const { rows, reports, valid, invalid } = await replayText([lines.join('\n')], {}, 3);
        const withoutMark = lines.map((line, i) =>
          i === 0 && line.startsWith('\uFEFF') ? line.slice(1) : line,
        );
        expect(valid + invalid).toBe(withoutMark.filter((line) => line.trim() !== '').length);
        expect(rows).toHaveLength(valid);
        expect(reports).toHaveLength(invalid);
      }),
      { ...DRAWS, numRuns: drawsOf(300) },
    );
  });
});
