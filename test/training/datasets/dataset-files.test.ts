/**
 * Files, cards and options of datasets: JSON lines and Parquet have the same rows, other libraries read them, the cards
 * describe them, and invalid options are refused.
 */
import { writeFileSync } from 'node:fs';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it, test } from 'vitest';
import { createWorld } from '../../../src/index.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import { FORMATS } from '../../../src/shared/row-files/file-formats.js';
import { type Columns, METADATA_KEY } from '../../../src/shared/row-files/row-encoder.js';
import { SCHEMAS } from '../../../src/shared/schemas.js';
import { GrpoTally, isCard } from '../../../src/training/datasets/card-parts.js';
import { type DpoOptions, toDpoPlan } from '../../../src/training/datasets/dpo/dpo-rows.js';
import { cardText } from '../../../src/training/datasets/grpo/grpo-card.js';
import {
  GRPO_COLUMNS,
  type GrpoState,
  grpoRows,
  provenanceOf,
} from '../../../src/training/datasets/grpo/grpo-rows.js';
import { isSftCard } from '../../../src/training/datasets/sft/sft-card.js';
import { SFT_COLUMNS, type SftOptions, toSftPlan } from '../../../src/training/datasets/sft/sft-rows.js';
import { sftProvenanceOf } from '../../../src/training/datasets/sft/sft-selection.js';
import { type DatasetOptions, toPlan } from '../../../src/training/datasets/state-sampler.js';
import { fromLines, temporaryDirectory } from '../../support/cli.js';
import { askPyArrow, whyAbsent } from '../../support/pyarrow.js';
import { expectRefusal } from '../../support/refusals.js';
import { range, recordLlm, recordWellbeing, select, wellbeingPlayer } from '../../support/sft.js';
import { episodeStarts, playerOf, recordEpisodes, TEST_POLICIES } from '../../support/trajectories.js';

const pathOf = temporaryDirectory();
const BATCH = 40;
/** A plan whose last batch is not full, with rows of a named profile and rows with an empty history. */
const plan = toPlan({ rows: 2 * BATCH + 7, profiles: ['mix', 'introvert_morning'], seed: 3 });
const batches = [...grpoRows(plan, {}, BATCH)];
const rows = batches.flat();
const episodes = recordWellbeing();
const llmEpisodes = recordLlm();

type Batches = readonly (readonly object[])[];
const MESSAGES = 'list<element: struct<role: string not null, content: string not null> not null>';
/** The types that the datasets library infers from JSON lines. */
const TYPES = { seed: 'int64', profile_mode: 'string', step_index: 'int64' };

async function sftBatches(): Promise<Batches> {
  const { all } = await select(episodes.slice(0, 3), { validation: 0 });
  const { all: withoutBeliefs } = await select(llmEpisodes, { objective: 'none' });
  return [all.slice(0, 50), all.slice(50), withoutBeliefs];
}

describe.each([
  {
    name: 'GRPO',
    batches: batches as Batches,
    columns: GRPO_COLUMNS as Columns<object>,
    provenance: provenanceOf(plan) as object,
    types: { prompt: MESSAGES, ...TYPES, action_history: 'list<element: string not null>', policy: 'string' },
  },
  {
    name: 'SFT',
    batches: await sftBatches(),
    columns: SFT_COLUMNS as Columns<object>,
    provenance: sftProvenanceOf(toSftPlan({})) as object,
    types: {
      ...{ messages: MESSAGES, ...TYPES, condition: 'string', teacher: 'string', model: 'string' },
      ...{ objective: 'string', final_score: 'double' },
    },
  },
])('files for $name', ({ name, batches, columns, provenance, types }) => {
  const all = batches.flat();
  async function encoded(format: string, source = batches): Promise<Uint8Array<ArrayBuffer>> {
    const encoder = await FORMATS.find((each) => each.name === format)!.open(provenance as never, columns);
    const pieces = [...source.map((batch) => encoder.add(batch)), encoder.end()];
    return new Uint8Array(Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))));
  }
  /** Reads a file, and converts the reader's BigInts to numbers. */
  const readBack = async ({ buffer }: Uint8Array<ArrayBuffer>) =>
    (await parquetReadObjects({ file: buffer })).map(({ seed, step_index, ...row }) => ({
      ...row,
      seed: Number(seed),
      step_index: Number(step_index),
    }));

  it('in JSON lines and in Parquet have the rows, a row group per batch, and always the same bytes', async () => {
    expect(fromLines(Buffer.from(await encoded('jsonl')).toString())).toEqual(all);
    const parquet = await encoded('parquet');
    expect(await readBack(parquet)).toEqual(all);
    const { num_rows, row_groups, created_by, key_value_metadata } = parquetMetadata(parquet.buffer);
    expect(Number(num_rows)).toBe(all.length);
    expect(row_groups.map((group) => Number(group.num_rows))).toEqual(batches.map(({ length }) => length));
    expect(created_by).toBe(`rhythm-vec ${provenanceOf(plan).version}`);
    const [{ key, value }] = key_value_metadata!;
    expect([key, JSON.parse(value!)]).toEqual([METADATA_KEY, provenance]);
    expect(Buffer.compare(await encoded('parquet'), parquet)).toBe(0);
    const extremes = [0, 2 ** 31, 2 ** 32 - 1].map((seed) => ({ ...all[0], seed }));
    expect(await readBack(await encoded('parquet', [extremes]))).toEqual(extremes);
  });

  const absent = whyAbsent();
  if (absent !== null) test.skip(`PyArrow: NOT TESTED here: ${absent}`, () => {});
  it.runIf(absent === null)('in Parquet have the rows when PyArrow reads them', async () => {
    writeFileSync(pathOf(`${name}.parquet`), await encoded('parquet'));
    const read = askPyArrow(pathOf(`${name}.parquet`));
    expect(read.rows).toEqual(all);
    expect(read.rowGroups).toBe(batches.length);
    expect(JSON.parse(read.metadata[METADATA_KEY])).toEqual(provenance);
    expect(read.types).toEqual(types);
  });
});

it('the rows for GRPO include an empty history and the longest one, and their state in replayable form', () => {
  const steps = rows.map(({ step_index }) => step_index);
  expect([Math.min(...steps), Math.max(...steps)]).toEqual([0, 27]);
  for (const { prompt, step_index, action_history, ...row } of rows) {
    expect(prompt.map(({ role }) => role)).toEqual(['system', 'user']);
    expect([action_history.length, Object.keys(row)]).toEqual([
      step_index,
      ['seed', 'profile_mode', 'policy'],
    ]);
  }
});

describe('the card for GRPO', () => {
  const tally = new GrpoTally(plan);
  for (const batch of batches) tally.add(batch);
  const cardWith = (provenance = provenanceOf(plan)) =>
    cardText({ provenance, tally, file: 'train.parquet', command: 'rhythm-vec dataset grpo --rows 87' });
  const cardOf = (options: DatasetOptions) => cardWith(provenanceOf(toPlan(options)));
  const card = cardWith();

  it('has the fields that loaders read, the provenance without machine or date, and the command', () => {
    const [, header] = card.split('---\n');
    // Every value of the YAML header is JSON.
    const entries = Object.fromEntries(
      Array.from(header.matchAll(/^( *\w+): (.+)$/gm), ([, key, value]) => [key, JSON.parse(value)]),
    );
    const configs = [{ config_name: 'default', data_files: 'train.parquet' }];
    expect(entries).toMatchObject({ license: 'mit', size_categories: ['n<1K'], configs });
    const origin = ['schema', 'version', 'world_digest'];
    const request = ['rows', 'seeds', 'profile_modes', 'steps', 'seed', 'grader'];
    const keys = [...origin, ...request, 'eval_seeds_allowed', 'eval_seeds'];
    expect(Object.keys(provenanceOf(plan))).toEqual(keys);
    const stored = Object.fromEntries(keys.map((key) => [key, entries[`  ${key}`]]));
    expect(stored).toEqual(provenanceOf(plan));
    expect(stored).toMatchObject({ schema: SCHEMAS.grpoDataset, world_digest: createWorld().digest });
    expect(card).toContain('```sh\nrhythm-vec dataset grpo --rows 87\n```');
  });

  it.each<[string, keyof GrpoState]>([
    ['policy', 'policy'],
    ['profile mode', 'profile_mode'],
    ['step_index', 'step_index'],
  ])('counts rows by %s', (column, key) => {
    const [, table] = card.split(`\n| ${column} | `);
    const [lines] = table.split('\n\n');
    const counted = Array.from(lines.matchAll(/^\| ([^|]+) \| (\d+) \|/gm), ([, value, count]) => [
      value,
      +count,
    ]);
    for (const [value, count] of counted)
      expect(count, String(value)).toBe(rows.filter((row) => String(row[key]) === value).length);
    expect(counted.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(rows.length);
  });

  it('names the requested seeds outside 100-9999, which are the evaluation seeds', () => {
    const asked = (first: number, last: number) => ({
      rows: 1,
      seeds: { first, last },
      allowEvalSeeds: true,
    });
    expect(cardOf(asked(100, 9999))).toContain('**No evaluation seeds are among them**');
    const warning = cardOf(asked(50, 10_049));
    expect(warning).toContain('**EVALUATION SEEDS ARE AMONG THEM: 50-99 and 10000-10049.**');
    expect(warning).toContain('eval_seeds_allowed: true\n  eval_seeds: ["50-99","10000-10049"]\n');
    expect(warning).not.toContain('No evaluation seeds');
  });

  it.each([
    [1, 'n<1K'],
    [1000, '1K<n<10K'],
    [99_999, '10K<n<100K'],
    [1e6, '1M<n<10M'],
    [2 ** 32 - 1, '1B<n<10B'],
  ])('has the size category for %i rows: %s', (count, size) => {
    expect(cardOf({ rows: count })).toContain(`size_categories: ["${size}"]`);
  });

  it('is recognised as a card, and other README files are not', () => {
    const other = '---\nlicense: mit\n---\n\n# Another dataset\n';
    expect([card, '# A project\n', other].map(isCard)).toEqual([true, false, false]);
  });
});

describe('the card for SFT', () => {
  it('names the objective, and warns of hidden state, evaluation seeds and a neglected first half', async () => {
    const { card: wellbeing } = await select(episodes);
    const scored = recordEpisodes(episodeStarts([100]), { player: playerOf({ objective: 'score' }) });
    const { card: score } = await select(scored, { objective: 'score' });
    const { card: none } = await select(llmEpisodes, { objective: 'none' });
    const oracle = recordEpisodes(episodeStarts([0, 1, 2, 3]), {
      player: { ...wellbeingPlayer, oracle: true },
    });
    const allowed = { allowOracle: true, allowEvalSeeds: true, maxBeliefError: 0.9 };
    const { card: hidden } = await select(oracle, { ...allowed, seeds: { first: 0, last: 200 } });
    const cards = [wellbeing, score, none, hidden];
    const saying = (text: string) => cards.map((card) => Number(card.includes(text)));
    expect(saying('objective: "wellbeing"')).toEqual([1, 0, 0, 1]);
    expect(saying('objective: null')).toEqual([0, 0, 1, 0]);
    expect(saying('**The prompts differ from the answers**')).toEqual([1, 0, 0, 1]);
    expect(saying("**ONLY THE GRADER'S FINAL SCORE.**")).toEqual([0, 1, 0, 0]);
    expect(saying('No teacher used hidden state.')).toEqual([1, 1, 1, 0]);
    expect(saying('**SOME TEACHERS USED HIDDEN STATE.**')).toEqual([0, 0, 0, 1]);
    expect(saying('[oracle]')).toEqual([0, 0, 0, 1]);
    expect(saying('**No evaluation seeds are among them**')).toEqual([1, 1, 1, 0]);
    expect(saying('**EVALUATION SEEDS ARE AMONG THEM: 0-99.**')).toEqual([0, 0, 0, 1]);
    expect(saying('at most 0.9: SELECTED BY HIDDEN STATE')).toEqual([0, 0, 0, 1]);
    const mean = (of: typeof episodes) =>
      of.reduce((sum, { final }) => sum + final.early_mean, 0) / of.length;
    expect(none).toContain("**THE FIRST-HALF MEAN IS LOWER THAN THE HEURISTIC'S.**");
    expect(wellbeing).not.toContain('IS LOWER THAN');
    expect(none).toContain('| test, model m\\|x, objective none | 3 |');
    expect(none).toContain(` | ${mean(llmEpisodes).toFixed(3)} | `);
  });

  it('has minimum, median and maximum of scores and margins', async () => {
    const constant = recordEpisodes(episodeStarts(range(100, 129)), { policy: TEST_POLICIES.constant });
    const scores = episodes.map(({ final }) => final.final_score);
    /** Returns the table cells with the minimum, median and maximum of 30 values. The card writes -0.000 as 0.000. */
    const spread = (values: readonly number[]): string => {
      const sorted = Float64Array.from(values).sort();
      const figures = [sorted[0], (sorted[14] + sorted[15]) / 2, sorted[29]].map((value) => value.toFixed(3));
      return figures.map((figure) => figure.replace(/^-(0\.000)$/, '$1')).join(' | ');
    };
    const { card } = await select(episodes);
    expect(card).toContain(`| final score | ${spread(scores)} |`);
    const margins = scores.map((score, i) => score - constant[i].final.final_score);
    expect(card).toContain(`| margin over heuristic+constant | ${spread(margins)} |`);
    expect(card).toContain('| heuristic+constant | 30 |');
  });

  it('counts rows, episodes and seeds, and the episodes that were left out', async () => {
    const { card, selection } = await select([...episodes, ...llmEpisodes], { validation: 0.3 });
    const { train, validation } = selection.counts;
    expect(card).toContain(`| train | ${train.rows} | ${train.episodes} | ${train.seeds.size} |`);
    expect(card).toContain(`| validation | ${validation.rows} | ${validation.episodes} | `);
    expect(train.episodes + validation.episodes).toBe(30);
    expect(card).toContain('| another objective | 3 |');
    expect(card).toContain('rows: 840\n  episodes: 30\n');
    expect(card).toContain('Requested seeds: 100-9999.');
    expect([isSftCard(card), isSftCard('---\nlicense: mit\n---\n')]).toEqual([true, false]);
    const unordered = recordEpisodes(episodeStarts([1000, 999]), { player: wellbeingPlayer });
    const { card: ordered } = await select(unordered);
    expect(ordered).toContain('Selected episodes: 2 seeds, 999-1000.');
    expect(ordered).toContain('  episode_seeds: "999-1000"\n');
  });
});

describe('options are refused, with the code and the place:', () => {
  const seeds = (first: number, last: number) => ({ seeds: { first, last } });
  const grpo = (options: Partial<DatasetOptions>) => toPlan({ rows: 1, ...options });

  it.each<[ErrorCode, mention: string, call: () => unknown]>([
    ['bad_seed', '50-99', () => grpo(seeds(50, 200))],
    ['bad_seed', '--allow-eval-seeds', () => grpo(seeds(9000, 10_000))],
    ['bad_seed', '0-99 and 10000-20000', () => grpo(seeds(0, 20_000))],
    ['out_of_range', 'the last of seeds', () => grpo(seeds(200, 100))],
    ['out_of_range', 'the last of steps', () => grpo({ steps: { first: 0, last: 28 } })],
    ['out_of_range', 'rows', () => grpo({ rows: 0 })],
    ['out_of_range', 'rows', () => grpo({ rows: 0.5 })],
    ['out_of_range', 'seed', () => grpo({ seed: -1 })],
    ['unknown_name', 'introvert', () => grpo({ profiles: ['sampled', 'introvert'] })],
    ['wrong_length', 'profile', () => grpo({ profiles: [] })],
    ...[toSftPlan, toDpoPlan].flatMap((toAnyPlan): [ErrorCode, string, () => unknown][] => [
      ['bad_seed', '0-99', () => toAnyPlan(seeds(0, 200) as SftOptions & DpoOptions)],
      ['out_of_range', '--validation', () => toAnyPlan({ validation: 1 })],
      ['out_of_range', 'steps', () => toAnyPlan({ steps: { first: 0, last: 28 } })],
      ['out_of_range', '--split-seed', () => toAnyPlan({ splitSeed: 0.5 })],
    ]),
    ['unknown_name', 'objective', () => toSftPlan({ objective: 'fame' as never })],
    ['out_of_range', '--min-score', () => toSftPlan({ minScore: 1.1 })],
    ['out_of_range', '--min-margin', () => toSftPlan({ minMargin: -2 })],
    ['out_of_range', '--max-belief-error', () => toSftPlan({ maxBeliefError: Number.NaN })],
    ['unknown_name', 'by', () => toDpoPlan({ by: 'reward' as never })],
    ['out_of_range', '--min-margin', () => toDpoPlan({ minMargin: -1 })],
  ])('%s, %s', (code, mention, call) => {
    expectRefusal(call, code, mention);
  });
});
