/** Rows for SFT: which answers are taken, where they go, in both formats, and what the card says of them. */
import { writeFileSync } from 'node:fs';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it, test } from 'vitest';
import { toGrader } from '../../../src/engine/graders/grader.js';
import type { TrajectoryEpisode } from '../../../src/rollouts/trajectories/trajectory-episode.js';
import { FORMATS } from '../../../src/training/datasets/file-formats.js';
import { METADATA_KEY } from '../../../src/training/datasets/parquet.js';
import { SftSelection } from '../../../src/training/datasets/sft/selection.js';
import { isSftCard, sftCardText } from '../../../src/training/datasets/sft/sft-card.js';
import { type SftOptions, toSftPlan } from '../../../src/training/datasets/sft/sft-options.js';
import { sftProvenanceOf } from '../../../src/training/datasets/sft/sft-provenance.js';
import { SFT_COLUMNS, type SftRow } from '../../../src/training/datasets/sft/sft-rows.js';
import { splitOf } from '../../../src/training/datasets/sft/split.js';
import { fromLines, temporaryDirectory } from '../../support/cli.js';
import { askPyArrow, whyAbsent } from '../../support/pyarrow.js';
import { refusalOf } from '../../support/refusals.js';
import {
  changedAt,
  episodeStarts,
  playerOf,
  recordEpisodes,
  TEST_POLICIES,
} from '../../support/trajectories.js';

const file = temporaryDirectory();
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);
const player = playerOf({ objective: 'wellbeing' });
const weeks = recordEpisodes(episodeStarts(range(100, 129)), { player });
const talked = recordEpisodes(episodeStarts(range(100, 102)), {
  policy: TEST_POLICIES.talker,
  player: playerOf({ model: 'm|x' }),
});

/** What comes of episodes under options. */
function selected(episodes: readonly TrajectoryEpisode[], options: SftOptions = {}) {
  const plan = toSftPlan(options);
  using selection = new SftSelection(plan, {});
  const wanted = episodes.filter((episode) => selection.wants(episode));
  const { rows, untrue } =
    wanted.length === 0 ? { rows: { train: [], validation: [] }, untrue: [] } : selection.choose(wanted);
  const card = sftCardText({
    provenance: sftProvenanceOf(plan),
    selection,
    files: [{ split: 'train', path: 'train.jsonl' }],
    command: 'rhythm-vec dataset sft',
  });
  const all = [...rows.train, ...rows.validation];
  return { rows, all, untrue, selection, card, leftOut: Object.fromEntries(selection.leftOut) };
}
const seedsOf = (rows: readonly SftRow[]): number[] => [...new Set(rows.map(({ seed }) => seed))].sort();

describe('rows', () => {
  it('are none of answers with half a character, which no reader of their files takes', () => {
    const begun = (text: string) => (completion: string) => `${text}${completion}`;
    const half = changedAt(weeks[0], 'steps.3.completion', begun('\ud83d'));
    const whole = changedAt(half, 'steps.4.completion', begun('\u{1F4A4}'));
    const { all, untrue, selection } = selected([whole], { validation: 0 });
    expect([untrue, selection.answersLeftOut]).toEqual([[], 1]);
    expect(all.map(({ step_index }) => step_index)).toEqual(range(0, 27).filter((step) => step !== 3));
    expect(all[3].messages[2].content).toBe(whole.steps[4].completion);
  });

  it('are what was asked and answered, by week and step', () => {
    const { all, selection } = selected(weeks, { validation: 0 });
    expect(all).toHaveLength(30 * 28);
    for (const [k, row] of all.entries()) {
      const episode = weeks[Math.floor(k / 28)];
      const step = episode.steps[k % 28];
      expect(row).toEqual({
        messages: [
          { role: 'system', content: episode.system },
          { role: 'user', content: step.prompt },
          { role: 'assistant', content: step.completion },
        ],
        seed: episode.seed,
        profile_mode: 'sampled',
        condition: 'custom',
        step_index: k % 28,
        teacher: 'test',
        model: null,
        objective: 'wellbeing',
        final_score: episode.final.final_score,
      });
    }
    expect(Object.keys(all[0])).toEqual(Object.keys(SFT_COLUMNS));
    expect(selection.answersLeftOut).toBe(0);
  });

  it('hold whole answers only: an action and a belief', () => {
    const { all, selection } = selected(talked, { objective: 'none', validation: 0 });
    const whole = talked.flatMap(({ steps }) =>
      steps.filter(({ parsed, belief }) => parsed && belief !== null),
    );
    expect(whole.length).toBeLessThan(3 * 28);
    expect(all.map(({ messages }) => messages[2].content)).toEqual(whole.map(({ completion }) => completion));
    expect(selection.answersLeftOut).toBe(3 * 28 - whole.length);
    expect(selected(talked, { objective: 'none', onlyParsed: true }).leftOut).toEqual({
      'answers without an action': 3,
    });
  });

  it('are of the steps that are asked for', () => {
    const { all } = selected(weeks, { steps: { first: 8, last: 9 }, validation: 0 });
    expect(all.map(({ step_index }) => step_index)).toEqual(weeks.flatMap(() => [8, 9]));
  });

  it('hold nothing of weeks that were not played as they say, nor of those without words', () => {
    const untrue = changedAt(weeks[1], 'steps.4.reward', 1);
    const silent = recordEpisodes(episodeStarts([200]), { policy: TEST_POLICIES.constant, player });
    const found = selected([weeks[0], untrue, ...silent], { validation: 0 });
    expect(seedsOf(found.all)).toEqual([100]);
    expect(found.untrue).toMatchObject([{ index: 1, mismatches: [{ step: 4, field: 'reward' }] }]);
    expect(found.leftOut).toEqual({ 'not as recorded': 1, 'no whole answers': 1 });
  });
});

describe('the split', () => {
  it('has all rows of a seed on one side, whoever played it, and a share of seeds on the other', () => {
    const others = recordEpisodes(episodeStarts(range(100, 129), 'custom', 'discrete'), { player });
    const { rows } = selected([...weeks, ...others], { validation: 0.4 });
    const [train, validation] = [seedsOf(rows.train), seedsOf(rows.validation)];
    expect([...train, ...validation].sort()).toEqual(range(100, 129));
    expect(validation.length).toBeGreaterThan(4);
    expect(train.length).toBeGreaterThan(8);
  });

  it('is a function of the seed, the share and its own seed', () => {
    const of = (options: SftOptions) => range(100, 9999).map((seed) => splitOf(toSftPlan(options), seed));
    const share = of({}).filter((split) => split === 'validation').length / 9900;
    expect(Math.abs(share - 0.1)).toBeLessThan(0.01);
    expect(of({})).toEqual(of({ validation: 0.1, splitSeed: 0 }));
    expect(of({})).not.toEqual(of({ splitSeed: 1 }));
    expect(of({ validation: 0 })).not.toContain('validation');
    // A larger share keeps what a smaller one has.
    const more = of({ validation: 0.2 });
    expect(of({}).every((split, k) => split === 'train' || more[k] === 'validation')).toBe(true);
  });
});

describe('filters', () => {
  const oracle = recordEpisodes(episodeStarts([100]), { player: { ...player, oracle: true } });
  const greedy = recordEpisodes(episodeStarts([100]), { player: playerOf({ objective: 'score' }) });

  it('take wellbeing, and nothing else unless it is asked for', () => {
    const all = [...weeks.slice(0, 2), ...greedy, ...talked];
    expect(selected(all).leftOut).toEqual({ 'another objective': 4 });
    expect(seedsOf(selected(all).all)).toEqual([100, 101]);
    const score = selected(all, { objective: 'score' });
    expect([seedsOf(score.all), score.leftOut]).toEqual([[100], { 'another objective': 5 }]);
  });

  it('take no oracle unless it is asked for', () => {
    expect(selected(oracle).leftOut).toEqual({ 'shown hidden numbers': 1 });
    const { all, card, selection } = selected([...oracle, weeks[0]], { allowOracle: true });
    expect([all.length, selection.sources.length]).toEqual([2 * 28, 2]);
    expect(card.match(/\[oracle\]/g)).toHaveLength(1);
  });

  it.each<[string, SftOptions, number]>([
    ['another seed', { seeds: { first: 110, last: 9999 } }, 10],
    ['another seed', { seeds: { first: 100, last: 119 } }, 10],
    ['another teacher', { teacher: ['me', 'you'] }, 30],
    ['another model', { model: ['m'] }, 30],
    ['another condition', { conditions: ['ood'] }, 30],
  ])('leave out what is %s', (why, options, count) => {
    expect(selected(weeks, options).leftOut).toEqual({ [why]: count });
  });

  it('choose by scores under the grader, margins over heuristic+constant, and the error of the belief', () => {
    const constant = recordEpisodes(episodeStarts(range(100, 129)), { policy: TEST_POLICIES.constant });
    const scores = weeks.map(({ final }) => final.final_score);
    const margins = scores.map((score, i) => score - constant[i].final.final_score);
    const count = (values: readonly number[], takes: (value: number) => boolean) =>
      values.filter(takes).length;
    const chosen = (options: SftOptions) => seedsOf(selected(weeks, options).all).length;
    const middle = (values: readonly number[]): number => Float64Array.from(values).sort()[15];
    expect(chosen({ minScore: middle(scores) })).toBe(count(scores, (score) => score >= middle(scores)));
    expect(chosen({ minMargin: middle(margins) })).toBe(
      count(margins, (margin) => margin >= middle(margins)),
    );
    const errors = weeks.map(({ final }) => final.belief_mae);
    expect(chosen({ maxBeliefError: middle(errors) })).toBe(
      count(errors, (error) => error <= middle(errors)),
    );
    expect(chosen({ minScore: 0, minMargin: -1, maxBeliefError: 1 })).toBe(30);
    // v1 pays nothing for a belief, by which alone these weeks differ from the heuristic's.
    expect(chosen({ minMargin: 0.001, grader: toGrader('v1') })).toBe(0);
    // Nor is there a margin in the heuristic's actions with a belief that is nearly the constant one.
    expect(chosen({ minMargin: 0.05 })).toBe(0);
  });

  it.each<[string, SftOptions, string]>([
    ['evaluation seeds', { seeds: { first: 0, last: 200 } }, 'bad_seed'],
    ['an unknown objective', { objective: 'fame' as never }, 'unknown_name'],
    ['a share of all', { validation: 1 }, 'out_of_range'],
    ['a score above 1', { minScore: 1.1 }, 'out_of_range'],
    ['a margin below -1', { minMargin: -2 }, 'out_of_range'],
    ['an error that is NaN', { maxBeliefError: Number.NaN }, 'out_of_range'],
    ['a step too late', { steps: { first: 0, last: 28 } }, 'out_of_range'],
    ['a seed of the split that is none', { splitSeed: 0.5 }, 'out_of_range'],
  ])('%s are refused', (_, options, code) => {
    expect(refusalOf(() => toSftPlan(options)).code).toBe(code);
  });
});

describe('files', () => {
  const { all } = selected([...weeks.slice(0, 3)], { validation: 0 });
  const batches = [all.slice(0, 50), all.slice(50), selected(talked, { objective: 'none' }).all];
  const rows = batches.flat();
  const plan = toSftPlan({});
  const written = async (name: string): Promise<Uint8Array> => {
    const encoder = await FORMATS.find((format) => format.name === name)!.open<SftRow>(
      sftProvenanceOf(plan),
      SFT_COLUMNS,
    );
    const pieces = [...batches.map((batch) => encoder.add(batch)), encoder.end()];
    return Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
  };

  it('of JSON lines are the rows', async () => {
    expect(fromLines((await written('jsonl')).toString())).toEqual(rows);
  });

  it('of Parquet read by hyparquet are the rows', async () => {
    const buffer = new Uint8Array(await written('parquet')).buffer;
    const read = await parquetReadObjects({ file: buffer });
    const numbers = read.map((row) => ({
      ...row,
      seed: Number(row.seed),
      step_index: Number(row.step_index),
    }));
    expect(numbers).toEqual(rows);
    const { key_value_metadata, row_groups } = parquetMetadata(buffer);
    expect(JSON.parse(key_value_metadata![0].value!)).toEqual(sftProvenanceOf(plan));
    expect(row_groups).toHaveLength(3);
    expect(Buffer.compare(await written('parquet'), await written('parquet'))).toBe(0);
  });

  const absent = whyAbsent();
  if (absent !== null) test.skip(`against PyArrow: NOT READ BACK here: ${absent}`, () => {});
  it.runIf(absent === null)('of Parquet read by PyArrow are the rows', async () => {
    writeFileSync(file('train.parquet'), await written('parquet'));
    const read = askPyArrow(file('train.parquet'));
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
  it('says what the teacher wanted', () => {
    const wellbeing = selected(weeks).card;
    expect(wellbeing).toContain('**Wellbeing**');
    expect(wellbeing).toContain('objective: "wellbeing"');
    expect(wellbeing).toContain('**The prompts say otherwise than the answers do**');
    expect(wellbeing).toContain('No teacher was shown hidden numbers.');
    expect(wellbeing).toContain('**No evaluation seeds are among them**');
    const greedy = recordEpisodes(episodeStarts([100]), { player: playerOf({ objective: 'score' }) });
    expect(selected(greedy, { objective: 'score' }).card).toContain(
      "**THE GRADER'S FINAL SCORE, AND NOTHING ELSE.**",
    );
    expect(selected(greedy, { objective: 'score' }).card).not.toContain('The prompts say otherwise');
    const none = selected(talked, { objective: 'none' }).card;
    expect(none).toContain('Nothing by name');
    expect(none).toContain('objective: null');
  });

  it('says what is not to be missed', () => {
    const oracle = recordEpisodes(episodeStarts([0, 1, 2, 3]), { player: { ...player, oracle: true } });
    const { card } = selected(oracle, {
      allowOracle: true,
      allowEvalSeeds: true,
      seeds: { first: 0, last: 200 },
      maxBeliefError: 0.9,
    });
    expect(card).toContain('**SOME TEACHERS WERE SHOWN HIDDEN NUMBERS.**');
    expect(card).toContain('**EVALUATION SEEDS ARE AMONG THEM: 0-99.**');
    expect(card).toContain('at most 0.9: CHOSEN BY HIDDEN NUMBERS');
    expect(card).toContain('[oracle]');
  });

  it('has the means of both halves beside the heuristic, and warns of neglect', () => {
    const { card } = selected(talked, { objective: 'none' });
    expect(card).toContain("**THE FIRST HALF OF THESE WEEKS WENT WORSE THAN THE HEURISTIC'S.**");
    expect(card).toMatch(
      /\| weeks \| final score \| belief MAE \| first-half mean \| second-half mean \| adaptation \|/,
    );
    expect(card).toContain('| test, model m\\|x, objective none | 3 |');
    const mean = talked.reduce((sum, { final }) => sum + final.early_mean, 0) / 3;
    expect(card).toContain(` | ${mean.toFixed(3)} | `);
    expect(selected(weeks).card).not.toContain('WENT WORSE');
  });

  it('has the least, the median and the most of scores and margins', () => {
    const constant = recordEpisodes(episodeStarts(range(100, 129)), { policy: TEST_POLICIES.constant });
    const scores = weeks.map(({ final }) => final.final_score);
    const spread = (values: readonly number[]): string => {
      const sorted = Float64Array.from(values).sort();
      const figures = [sorted[0], (sorted[14] + sorted[15]) / 2, sorted[29]].map((value) => value.toFixed(3));
      return figures.map((figure) => figure.replace(/^-(0\.000)$/, '$1')).join(' | ');
    };
    const { card } = selected(weeks);
    expect(card).toContain(`| final score | ${spread(scores)} |`);
    const margins = scores.map((score, i) => score - constant[i].final.final_score);
    expect(card).toContain(`| margin over heuristic+constant | ${spread(margins)} |`);
    expect(card).toContain('| heuristic+constant | 30 |');
  });

  it('counts what it has and what it lacks', () => {
    const { card, selection } = selected([...weeks, ...talked], { validation: 0.3 });
    const { train, validation } = selection.counts;
    expect(card).toContain(`| train | ${train.rows} | ${train.episodes} | ${train.seeds.size} |`);
    expect(card).toContain(`| validation | ${validation.rows} | ${validation.episodes} | `);
    expect(train.episodes + validation.episodes).toBe(30);
    expect(card).toContain('| another objective | 3 |');
    expect(card).toContain('rows: 840\n  episodes: 30\n');
    expect(card).toContain('Seeds asked for are 100-9999.');
    expect(card).toContain('Weeks that are there: of 30 seeds, 100-129.');
    expect(card).toContain('  episode_seeds: "100-129"\n');
    expect(isSftCard(card)).toBe(true);
    expect(isSftCard('---\nlicense: mit\n---\n')).toBe(false);
  });

  it('orders seeds as numbers', () => {
    const { card } = selected(recordEpisodes(episodeStarts([1000, 999]), { player }));
    expect(card).toContain('Weeks that are there: of 2 seeds, 999-1000.');
    expect(card).toContain('  episode_seeds: "999-1000"\n');
  });
});
