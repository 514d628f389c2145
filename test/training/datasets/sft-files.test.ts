/** Files and card of a dataset for SFT: JSON lines and Parquet have the same rows, and the card describes them. */
import { writeFileSync } from 'node:fs';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it, test } from 'vitest';
import { FORMATS } from '../../../src/shared/row-files/file-formats.js';
import { METADATA_KEY } from '../../../src/shared/row-files/row-encoder.js';
import { isSftCard } from '../../../src/training/datasets/sft/sft-card.js';
import { toSftPlan } from '../../../src/training/datasets/sft/sft-options.js';
import { sftProvenanceOf } from '../../../src/training/datasets/sft/sft-provenance.js';
import { SFT_COLUMNS, type SftRow } from '../../../src/training/datasets/sft/sft-rows.js';
import { fromLines, temporaryDirectory } from '../../support/cli.js';
import { askPyArrow, whyAbsent } from '../../support/pyarrow.js';
import { range, recordLlm, recordWellbeing, select, wellbeingPlayer } from '../../support/sft.js';
import { episodeStarts, playerOf, recordEpisodes, TEST_POLICIES } from '../../support/trajectories.js';

const pathOf = temporaryDirectory();
const player = wellbeingPlayer;
const episodes = recordWellbeing();
const llmEpisodes = recordLlm();

describe('files', async () => {
  const { all } = await select([...episodes.slice(0, 3)], { validation: 0 });
  const batches = [all.slice(0, 50), all.slice(50), (await select(llmEpisodes, { objective: 'none' })).all];
  const rows = batches.flat();
  const plan = toSftPlan({});
  const encoded = async (name: string): Promise<Uint8Array> => {
    const encoder = await FORMATS.find((format) => format.name === name)!.open<SftRow>(
      sftProvenanceOf(plan),
      SFT_COLUMNS,
    );
    const pieces = [...batches.map((batch) => encoder.add(batch)), encoder.end()];
    return Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
  };

  it('in JSON lines have the rows', async () => {
    expect(fromLines((await encoded('jsonl')).toString())).toEqual(rows);
  });

  it('in Parquet have the rows when hyparquet reads them, and always the same bytes', async () => {
    const buffer = new Uint8Array(await encoded('parquet')).buffer;
    const read = await parquetReadObjects({ file: buffer });
    const numbers = read.map((row) => ({
      ...row,
      seed: Number(row.seed),
      step_index: Number(row.step_index),
    }));
    expect(numbers).toEqual(rows);
    const { key_value_metadata, row_groups } = parquetMetadata(buffer);
    expect(JSON.parse(key_value_metadata![0].value!)).toEqual(sftProvenanceOf(plan));
    // A row group for each batch.
    expect(row_groups).toHaveLength(3);
    expect(Buffer.compare(await encoded('parquet'), await encoded('parquet'))).toBe(0);
  });

  const absent = whyAbsent();
  if (absent !== null) test.skip(`PyArrow: NOT TESTED here: ${absent}`, () => {});
  it.runIf(absent === null)('in Parquet have the rows when PyArrow reads them', async () => {
    writeFileSync(pathOf('train.parquet'), await encoded('parquet'));
    const read = askPyArrow(pathOf('train.parquet'));
    expect(read.rows).toEqual(rows);
    expect(JSON.parse(read.metadata[METADATA_KEY])).toEqual(sftProvenanceOf(plan));
    expect(read.types).toEqual({
      messages: 'list<element: struct<role: string not null, content: string not null> not null>',
      seed: 'int64',
      profile_mode: 'string',
      condition: 'string',
      step_index: 'int64',
      teacher: 'string',
      model: 'string',
      objective: 'string',
      final_score: 'double',
    });
  });
});

describe('the card', () => {
  it('has the section of the objective, and says that no hidden state or evaluation seeds were used', async () => {
    const wellbeing = (await select(episodes)).card;
    expect(wellbeing).toContain('**Wellbeing**');
    expect(wellbeing).toContain('objective: "wellbeing"');
    expect(wellbeing).toContain('**The prompts differ from the answers**');
    expect(wellbeing).toContain('No teacher used hidden state.');
    expect(wellbeing).toContain('**No evaluation seeds are among them**');
    const scoreEpisodes = recordEpisodes(episodeStarts([100]), { player: playerOf({ objective: 'score' }) });
    expect((await select(scoreEpisodes, { objective: 'score' })).card).toContain(
      "**ONLY THE GRADER'S FINAL SCORE.**",
    );
    expect((await select(scoreEpisodes, { objective: 'score' })).card).not.toContain('The prompts differ');
    const none = (await select(llmEpisodes, { objective: 'none' })).card;
    expect(none).toContain('**None**');
    expect(none).toContain('objective: null');
  });

  it('warns of hidden state and evaluation seeds', async () => {
    const oracle = recordEpisodes(episodeStarts([0, 1, 2, 3]), { player: { ...player, oracle: true } });
    const { card } = await select(oracle, {
      allowOracle: true,
      allowEvalSeeds: true,
      seeds: { first: 0, last: 200 },
      maxBeliefError: 0.9,
    });
    expect(card).toContain('**SOME TEACHERS USED HIDDEN STATE.**');
    expect(card).toContain('**EVALUATION SEEDS ARE AMONG THEM: 0-99.**');
    expect(card).toContain('at most 0.9: SELECTED BY HIDDEN STATE');
    expect(card).toContain('[oracle]');
  });

  it("has the means of both halves, and warns of a first half worse than the heuristic's", async () => {
    const { card } = await select(llmEpisodes, { objective: 'none' });
    expect(card).toContain("**THE FIRST-HALF MEAN IS LOWER THAN THE HEURISTIC'S.**");
    expect(card).toMatch(
      /\| episodes \| final score \| belief MAE \| first-half mean \| second-half mean \| adaptation \|/,
    );
    expect(card).toContain('| test, model m\\|x, objective none | 3 |');
    const mean = llmEpisodes.reduce((sum, { final }) => sum + final.early_mean, 0) / 3;
    expect(card).toContain(` | ${mean.toFixed(3)} | `);
    expect((await select(episodes)).card).not.toContain('IS LOWER THAN');
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
    expect(card).toContain('Selected episodes: 30 seeds, 100-129.');
    expect(card).toContain('  episode_seeds: "100-129"\n');
    expect(isSftCard(card)).toBe(true);
    expect(isSftCard('---\nlicense: mit\n---\n')).toBe(false);
  });

  it('orders seeds as numbers', async () => {
    const { card } = await select(recordEpisodes(episodeStarts([1000, 999]), { player }));
    expect(card).toContain('Selected episodes: 2 seeds, 999-1000.');
    expect(card).toContain('  episode_seeds: "999-1000"\n');
  });
});
