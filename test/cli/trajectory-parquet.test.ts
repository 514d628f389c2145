/** Trajectories in Parquet: written by teach and eval, read by reeval, report and dataset, and kept when a run is killed. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/command-errors.js';
import { ParquetFile } from '../../src/cli/files/trajectory-table.js';
import { toCompact } from '../../src/rollouts/trajectories/compact-episode.js';
import {
  EPISODE_COLUMNS,
  type EpisodeRow,
  toEpisodeRow,
} from '../../src/rollouts/trajectories/episode-columns.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { GRPO_COLUMNS } from '../../src/training/datasets/grpo/grpo-rows.js';
import { runCli, startStopped, temporaryDirectory } from '../support/cli.js';
import { startModel } from '../support/llm.js';
import { type COMPRESSIONS, compressed, parquetOf, rowsIn, tableOf } from '../support/parquet.js';
import { askPyArrow, whyAbsent } from '../support/pyarrow.js';
import { changedAt, episodeStarts, recordEpisodes, TEST_POLICIES } from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
const filesOf = (name: string) => readdirSync(dirname(pathOf(name))).filter((file) => file.startsWith(name));

/** The seeds of two episodes. A dataset for SFT puts the episode of seed 110 into the validation split. */
const FEW = '109-110';
const TEACH = ['teach', '--policy', 'reactive+constant'];
const teach = (seeds: string, output: string, ...more: string[]) =>
  runCli([...TEACH, '--seeds', seeds, '--output', pathOf(output), ...more]);
const sft = (input: string, output: string) =>
  runCli([
    ...['dataset', 'sft', '--objective', 'none'],
    ...['--jsonl', pathOf(input), '--output', pathOf(output)],
  ]);

/** Returns where the footer begins. A Parquet file ends with the footer, the footer's length (u32) and "PAR1". */
const footerOffset = (file: Buffer): number => file.length - 8 - file.readUInt32LE(file.length - 8);

/** Reads a file. Returns 'problem' if a row group is unreadable, and 'refused' for a usage error. */
async function outcomeOf(path: string): Promise<'rows' | 'problem' | 'refused'> {
  try {
    await using file = await ParquetFile.open(path);
    for await (const { rows } of file.groups(file.columns)) if (rows === null) return 'problem';
    return 'rows';
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return 'refused';
  }
}

describe('both formats', () => {
  it('of teach give the same results and the same rows', async () => {
    expect(await teach(FEW, 'a.jsonl')).toMatchObject({ code: 0 });
    expect(await teach(FEW, 'a.parquet')).toMatchObject({ code: 0, stdout: '' });
    expect(await teach(FEW, 'b.data', '--format', 'parquet')).toMatchObject({ code: 0 });
    expect(digestOf(pathOf('b.data'))).toBe(digestOf(pathOf('a.parquet')));
    expect(filesOf('a.')).toEqual(['a.jsonl', 'a.parquet']);
    const [lines, rows] = await Promise.all(
      ['a.jsonl', 'a.parquet'].map((name) => runCli(['reeval', '--jsonl', pathOf(name)])),
    );
    expect(lines).toMatchObject({ code: 0, stderr: '' });
    expect(rows).toEqual(lines);
    for (const name of ['jsonl', 'parquet']) expect(await sft(`a.${name}`, name)).toMatchObject({ code: 0 });
    for (const split of ['train', 'validation'])
      expect(digestOf(pathOf(`parquet/${split}.jsonl`))).toBe(digestOf(pathOf(`jsonl/${split}.jsonl`)));
    const report = await runCli(['report', pathOf('a.parquet'), '--output', pathOf('a.parquet-report')]);
    expect(report.code).toBe(0);
    expect(filesOf('a.parquet-report')).toHaveLength(1);
  });

  it('of eval give the same results, in a fraction of the space', async () => {
    const evaluate = (name: string) =>
      runCli([
        ...['eval', '--policies', 'random,heuristic+constant', '--episodes', '12'],
        ...['--conditions', 'ood,discrete', '--trajectories', pathOf(name)],
      ]);
    const [lines, rows] = [await evaluate('e.jsonl'), await evaluate('e.parquet')];
    expect([rows.code, rows.stderr]).toEqual([lines.code, lines.stderr]);
    const reevaluations = [];
    for (const name of ['e.jsonl', 'e.parquet'])
      reevaluations.push(await runCli(['reeval', '--jsonl', pathOf(name)]));
    expect(reevaluations[1]).toEqual(reevaluations[0]);
    expect(statSync(pathOf('e.parquet')).size).toBeLessThan(statSync(pathOf('e.jsonl')).size / 10);
  });

  it('of a language model give the same results, and a second run adds episodes to the Parquet file', async () => {
    const fake = await startModel();
    const teachModel = (seeds: string, name: string) =>
      runCli(
        ['teach', '--policy', 'llm:fake', '--seeds', seeds, '--output', pathOf(name)],
        '',
        fake.environment,
      );
    expect(await teachModel('100-101', 'l.jsonl')).toMatchObject({ code: 0 });
    const before = fake.requests.length;
    expect(await teachModel('100-100', 'l.parquet')).toMatchObject({ code: 0 });
    expect(await teachModel('100-101', 'l.parquet')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('2 episodes in'),
    });
    expect(fake.requests).toHaveLength(2 * before);
    expect(filesOf('l.')).toEqual(['l.jsonl', 'l.parquet']);
    const [lines, rows] = [
      await runCli(['reeval', '--jsonl', pathOf('l.jsonl')]),
      await runCli(['reeval', '--jsonl', pathOf('l.parquet')]),
    ];
    expect(rows).toEqual(lines);
    const [{ completions, usage_requests, sampling_max_tokens }] = await rowsIn(
      readFileSync(pathOf('l.parquet')),
    );
    expect([(completions as string[]).length, usage_requests, sampling_max_tokens]).toEqual([28, 28, 512]);
  });
});

const absent = whyAbsent();

describe('a run that is killed', () => {
  /** The seeds of 66 episodes. The first row group has 64 of them. */
  const seeds = '100-165';
  beforeAll(() => teach(seeds, 'whole.parquet'));

  it(`keeps whole row groups, and the same command continues${absent ? ` (not with PyArrow: ${absent})` : ''}`, async () => {
    expect(await rowsIn(readFileSync(pathOf('whole.parquet')))).toHaveLength(66);
    const output = pathOf('k.parquet');
    const stop = { signal: 'SIGKILL', path: `${output}.partial` } as const;
    await startStopped([...TEACH, '--seeds', seeds, '--output', output], stop).finished;
    expect(await rowsIn(readFileSync(`${output}.partial`))).toHaveLength(64);
    if (absent === null) expect(askPyArrow(`${output}.partial`).rows).toHaveLength(64);
    const partial = await runCli(['reeval', '--jsonl', `${output}.partial`]);
    expect(partial.stdout).toContain('64 episodes replayed, all as recorded, bit for bit.');
    const other = await teach(seeds, 'k.parquet', '--grader', 'v3');
    expect(other.code).toBe(2);
    expect(other.stderr).toContain(
      'k.parquet.partial:1, got: an episode of another run. Read it with reeval',
    );
    expect(await teach(seeds, 'k.parquet')).toMatchObject({ code: 0 });
    expect(digestOf(output)).toBe(digestOf(pathOf('whole.parquet')));
    expect(filesOf('k.')).toEqual(['k.parquet']);
  });

  it('during a write leaves a file that is read with the last footer, which is stored beside it', async () => {
    const output = pathOf('torn.parquet');
    const compact = recordEpisodes(episodeStarts([100, 101, 102, 103]), {
      policy: TEST_POLICIES.constant,
    }).map(toCompact);
    const file = await tableOf(compact);
    const footerAt = footerOffset(file);
    // The killed run had written a part of the next row group over the footer.
    writeFileSync(`${output}.partial`, Buffer.concat([file.subarray(0, footerAt), Buffer.alloc(5000, 7)]));
    expect(await runCli(['reeval', '--jsonl', `${output}.partial`])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('to be a whole Parquet file, got: parquet file invalid'),
    });
    writeFileSync(`${output}.partial.footer`, file.subarray(footerAt));
    const { stdout } = await runCli(['reeval', '--jsonl', `${output}.partial`]);
    expect(stdout).toContain('4 episodes replayed, all as recorded, bit for bit.');
  });

  it('by SIGINT keeps whole row groups, and prints their number of episodes', async () => {
    const output = pathOf('s.parquet');
    const stop = { signal: 'SIGINT', path: `${output}.partial` } as const;
    const { stderr } = await startStopped([...TEACH, '--seeds', seeds, '--output', output], stop).finished;
    expect(await rowsIn(readFileSync(`${output}.partial`))).toHaveLength(64);
    expect(stderr).toContain(`64 of 66 episodes are kept in ${output}.partial; the same command resumes`);
    expect(await teach(seeds, 's.parquet')).toMatchObject({ code: 0 });
    expect(digestOf(output)).toBe(digestOf(pathOf('whole.parquet')));
  });
});

describe('errors about a file', () => {
  const episodes = recordEpisodes(episodeStarts([100, 101, 102]), { policy: TEST_POLICIES.constant });
  const compact = episodes.map(toCompact);
  const reevalOf = async (name: string, bytes: Uint8Array) => {
    writeFileSync(pathOf(name), bytes);
    return runCli(['reeval', '--jsonl', pathOf(name)]);
  };
  const changed = (column: string, value: unknown) =>
    tableOf(compact, (row, i) => (i === 1 ? { ...row, [column]: value } : row));

  it.each<[string, unknown, string]>([
    ['actions', ['fly', ...Array(27).fill('sleep')], 'actions[0]: Expected one of deep_work'],
    ['actions', Array(27).fill('sleep'), 'actions: Expected a list of 28 entries, one per step, got 27.'],
    ['belief_work', Array(28).fill(Number.NaN), 'beliefs[0]: Expected null or three numbers from 0 to 1'],
    ['belief_work', Array(28).fill(null), 'beliefs[0]: Expected null or three numbers from 0 to 1'],
    ['belief_work', Array(30).fill(0.5), 'beliefs: Expected a list of 28 entries, one per step, got 30.'],
    ['seed', 2 ** 40, 'seed: Expected an integer from 0 to 4294967295, got 1099511627776.'],
    ['grader_weights', Array(9).fill(0.125), 'Expected no weights but'],
    ['final_score', Number.NaN, 'final.final_score: Expected a finite number, got NaN.'],
    ['world_digest', 'x', 'foreign: world_digest: Expected'],
    ['line', '{}', 'foreign: schema: Expected'],
    ['completions', Array(3).fill(null), 'completions: Expected a list of 28 entries'],
    ['profile_mode', 'nobody', 'profile_mode: Expected one of'],
  ])('name the row and the fault if column %s is %j', async (column, value, fault) => {
    const { code, stderr, stdout } = await reevalOf('bad.parquet', await changed(column, value));
    expect(code).toBe(1);
    expect(stderr).toContain('bad.parquet:2: skipped, ');
    expect(stderr).toContain(fault);
    expect(stdout).toContain('2 episodes replayed');
  });

  it('name the field of an edited grade or reward, and both values', async () => {
    const { code, stderr } = await reevalOf('grade.parquet', await changed('final_score', 0.25));
    expect(code).toBe(1);
    expect(stderr).toContain('grade.parquet:2: final.final_score: recorded 0.25, recomputed ');
    const line = JSON.stringify(changedAt(episodes[1], 'steps.3.reward', 0.5));
    const edited = await reevalOf(
      'line.parquet',
      await tableOf(compact.map((each, i) => (i === 1 ? { ...each, line } : each))),
    );
    expect(edited.stderr).toContain('line.parquet:2: step 3, reward: recorded 0.5, recomputed ');
  });

  it('name the fault of a file that is cut off, or not of trajectories', async () => {
    const bytes = await tableOf(compact);
    const few = { seed: EPISODE_COLUMNS.seed };
    const files: [string, Uint8Array, string][] = [
      ['cut', bytes.subarray(0, bytes.length / 2), 'to be a whole Parquet file, got: parquet file invalid'],
      ['short', Buffer.from('PAR1'), 'to be a whole Parquet file, got: '],
      [
        'columns',
        await parquetOf<EpisodeRow>([[{ seed: 1 }]], few),
        'to have the columns of trajectories, got none named version',
      ],
      ['rows', await parquetOf([[]], GRPO_COLUMNS, SCHEMAS.grpoDataset), 'which is a dataset for GRPO.'],
      [
        'newer',
        await parquetOf<EpisodeRow>([[{ seed: 1 }]], few, { ...SCHEMAS.trajectoryTable, version: 2 }),
        'version 1 in ',
      ],
    ];
    for (const [name, content, fault] of files) {
      const { code, stderr } = await reevalOf(`${name}.parquet`, content);
      expect([code, stderr]).toEqual([2, expect.stringContaining(fault)]);
    }
  });

  it('are usage errors or unreadable row groups if a damaged byte of the footer makes reading fail', async () => {
    const bytes = await tableOf(compact);
    const path = pathOf('footer.parquet');
    const outcomes = new Set<string>();
    // Damages one bit at a time, of every 31st byte to save time. 31 is odd, so the bit takes all eight places of a byte.
    for (let i = footerOffset(bytes); i < bytes.length; i += 31) {
      const damaged = Buffer.from(bytes);
      damaged[i] ^= 1 << (i % 8);
      writeFileSync(path, damaged);
      outcomes.add(await outcomeOf(path));
    }
    expect([...outcomes].sort()).toEqual(['problem', 'refused', 'rows']);
  });

  it('do not arise from compressions of other tools, except LZO', async () => {
    const reevalWith = async (codec: keyof typeof COMPRESSIONS) =>
      reevalOf(`${codec}.parquet`, await compressed(await tableOf(compact), codec));
    for (const codec of ['ZSTD', 'GZIP', 'BROTLI', 'LZ4', 'LZ4_RAW'] as const) {
      const { code, stdout, stderr } = await reevalWith(codec);
      expect([code, stderr], codec).toEqual([0, '']);
      expect(stdout).toContain('3 episodes replayed, all as recorded, bit for bit.');
    }
    const { code, stderr } = await reevalWith('LZO');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/ZSTD, .* or none, got LZO\. Write it again/)]);
  });

  it('name the rows of a damaged row group, and the other row groups are read', async () => {
    const groups = compact.map((each) => [toEpisodeRow(each)]);
    const bytes = await parquetOf<EpisodeRow>(groups, EPISODE_COLUMNS);
    // Damages the first row group, which begins after the 4 bytes "PAR1".
    bytes.fill(0xff, 8, 40);
    const { code, stderr, stdout } = await reevalOf('damaged.parquet', bytes);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /damaged\.parquet:1: skipped, corrupt: rows 1 to 1: Expected a whole row group, got: /,
    );
    expect(stdout).toContain('2 episodes replayed, all as recorded, bit for bit.');
  });

  it('say that Parquet is not read from the standard input', async () => {
    const { code, stderr } = await runCli(['reeval', '--jsonl', '-'], 'PAR1 and more\n');
    expect([code, stderr]).toEqual([2, expect.stringContaining('are read from files, not from pipes.')]);
  });
});
