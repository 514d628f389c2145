/** Runs `rhythm-vec dataset dpo`: pairs by split, and their card. */
import { counted } from '../../evaluation/format-results.js';
import { whereOf } from '../../evaluation/reevaluation/trajectory-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { dpoCardText, isDpoCard } from '../../training/datasets/dpo/dpo-card.js';
import {
  DPO_COLUMNS,
  type DpoOptions,
  type DpoPlan,
  type DpoRow,
  toDpoPlan,
} from '../../training/datasets/dpo/dpo-rows.js';
import { DpoSelection, dpoExclusion, dpoProvenanceOf } from '../../training/datasets/dpo/dpo-selection.js';
import { PlayedResults } from '../../training/datasets/replay-results.js';
import { SPLITS, type Split } from '../../training/datasets/sft/sft-selection.js';
import { UsageError } from '../command-errors.js';
import { checkNotGrader, readGrader } from '../files/grader-file.js';
import { type Output, Outputs } from '../files/output-file.js';
import { checkTrajectories, inBatches, SkippedLines, toStandardError } from '../files/trajectory-files.js';
import { createProgress } from '../progress.js';
import { checkEngineOptions } from '../shared-options.js';
import { type EpisodeInput, linesOf } from './episode-input.js';
import {
  datasetCommand,
  flag,
  given,
  namedFormat,
  type SelectionCliOptions,
  type SelectionTarget,
} from './selection-options.js';
import { runSelectionShard } from './selection-shard.js';
import { SplitDirectory } from './split-directory.js';

export type DpoCliOptions = SelectionCliOptions & Omit<DpoOptions, 'grader'>;

/** The skipped lines, and the number of episodes that differ from their replay. */
interface ReadCounts {
  readonly skipped: SkippedLines;
  readonly mismatched: number;
}

/**
 * The number of rows that are encoded together: a row group of a Parquet file. Chosen by hand: larger groups take more memory,
 * smaller ones more space in the file.
 */
const BATCH = 2048;

/**
 * Writes the files of the dataset; with --shard, the file of a shard.
 * @returns whether no line was skipped and every replayed episode is as recorded; true with --shard: the merge checks that.
 * @throws UsageError for unusable paths or options, or if there is no training pair; InputError for an impossible plan; the
 *   signal's reason.
 */
export async function runDpo(options: DpoCliOptions, signal: AbortSignal): Promise<boolean> {
  checkEngineOptions(options);
  const plan = toDpoPlan({ ...options, grader: await readGrader(options.grader) });
  checkTrajectories('--jsonl', options.jsonl);
  if (options.shard !== undefined) {
    const accepts = (episode: TrajectoryEpisode): boolean => dpoExclusion(plan, episode) === null;
    const request = { plan: { dataset: 'dpo' as const, ...plan }, shard: options.shard, accepts };
    await runSelectionShard(request, options, signal);
    return true;
  }
  // Pairs have no margins over baselines, so no baselines are played.
  const source = () => PlayedResults.open(plan.grader, options, { baselines: false });
  return writeDpo(
    plan,
    options,
    {
      files: { option: '--jsonl', paths: options.jsonl },
      source,
      lines: (onProgress) => linesOf(options, signal, onProgress),
    },
    signal,
  );
}

/**
 * Writes the files of the dataset.
 * @returns whether no line was skipped and every replayed episode is as recorded.
 * @throws UsageError for unusable paths, or if there is no training pair; the signal's reason.
 */
export async function writeDpo(
  plan: DpoPlan,
  options: SelectionTarget,
  episodes: EpisodeInput,
  signal: AbortSignal,
): Promise<boolean> {
  const directory = new SplitDirectory(options.output, options.format, { name: 'DPO', isCard: isDpoCard });
  directory.checkInputs(episodes.files.option, episodes.files.paths);
  for (const split of SPLITS) checkNotGrader('--output', directory.pathOf(split), options.grader);
  await using selection = new DpoSelection(plan, await episodes.source());
  const read = await readAll(selection, episodes, signal);
  const rows = selection.rows();
  requirePairs(rows, selection);
  await writeAll(directory, { rows, selection, plan, options }, signal);
  process.stderr.write(`${summary(rows, selection, read, options.output)}\n`);
  return read.skipped.total === 0 && read.mismatched === 0;
}

async function readAll(
  selection: DpoSelection,
  { lines }: EpisodeInput,
  signal: AbortSignal,
): Promise<ReadCounts> {
  const progress = createProgress('bytes');
  const skipped = new SkippedLines();
  let mismatched = 0;
  try {
    // A model may have played a seed several times: these samples make pairs.
    const batches = inBatches(lines(progress.update), {
      skipped,
      report: toStandardError,
      signal,
      repeats: true,
    });
    for await (const batch of batches) {
      const episodes = batch.map(({ episode }) => episode);
      for (const { index, mismatches } of await selection.add(episodes)) {
        mismatched++;
        toStandardError(`${batch[index].place}: left out, not as recorded: ${whereOf(mismatches[0])}`);
      }
    }
    return { skipped, mismatched };
  } finally {
    progress.stop();
  }
}

function requirePairs(rows: Readonly<Record<Split, readonly DpoRow[]>>, selection: DpoSelection): void {
  if (rows.train.length > 0) return;
  const why = Array.from(selection.leftOut, ([name, count]) => `${name} (${count})`).join(', ');
  throw new UsageError(
    `Expected pairs to train on, got none from ${selection.episodes} episodes${why === '' ? '' : `; left out because of: ${why}`}. ` +
      'Pass episodes of several policies on the same seeds, or several samples of one model, or relax the filters.',
  );
}

/** The pairs of a dataset by split, and what its card describes. */
interface Pairs {
  readonly rows: Readonly<Record<Split, readonly DpoRow[]>>;
  readonly selection: DpoSelection;
  readonly plan: DpoPlan;
  readonly options: SelectionTarget;
}

/** Writes the files of the pairs and the card. Replaces an earlier dataset when all files are written. */
async function writeAll(
  directory: SplitDirectory,
  { rows, selection, plan, options }: Pairs,
  signal: AbortSignal,
): Promise<void> {
  let written = false;
  directory.create();
  try {
    await using outputs = new Outputs();
    const filled = SPLITS.filter((split) => rows[split].length > 0);
    const files: Output[] = [];
    for (const split of filled) {
      const output = await outputs.open(directory.pathOf(split));
      await writeRows(output, rows[split], plan, namedFormat(options));
      files.push(output);
    }
    const card = await outputs.open(directory.card);
    const named = filled.map((split) => ({ split, path: directory.nameOf(split) }));
    const command = commandOf(plan, options);
    await card.write(
      dpoCardText({ provenance: dpoProvenanceOf(plan), selection, rows, files: named, command }),
    );
    await outputs.finish();
    signal.throwIfAborted();
    // Removes the old card first, so that it never describes other rows, even if the process is killed now.
    directory.removeCard();
    for (const output of files) await output.commit();
    for (const split of SPLITS) if (!filled.includes(split)) directory.removeSplit(split);
    await card.commit();
    written = true;
  } finally {
    if (!written) directory.removeCreated();
  }
}

async function writeRows(
  output: Output,
  rows: readonly DpoRow[],
  plan: DpoPlan,
  format: RowFormat,
): Promise<void> {
  const encoder = await format.open(dpoProvenanceOf(plan), DPO_COLUMNS);
  for (let first = 0; first < rows.length; first += BATCH) {
    await output.write(encoder.add(rows.slice(first, first + BATCH)));
  }
  await output.write(encoder.end());
}

const commandOf = (plan: DpoPlan, options: SelectionTarget): string =>
  datasetCommand('dpo', plan, options, [
    ...given('--by', plan.by),
    ...given('--min-margin', plan.minMargin),
    ...flag('--all-pairs', plan.allPairs),
  ]);

function summary(
  rows: Readonly<Record<Split, readonly DpoRow[]>>,
  { episodes, leftOut }: DpoSelection,
  { skipped, mismatched }: ReadCounts,
  directory: string,
): string {
  const leftOutCount = [...leftOut.values()].reduce((sum, count) => sum + count, 0);
  return [
    `${counted(rows.train.length, 'training pair')} and ${counted(rows.validation.length, 'validation pair')} in ${directory}, with their card.`,
    `${counted(episodes, 'episode')} compared, ${leftOutCount} left out.`,
    ...(mismatched === 0 ? [] : [`${mismatched} NOT AS RECORDED: see rhythm-vec reeval.`]),
    ...(skipped.total === 0 ? [] : [`${skipped.text}.`]),
  ].join(' ');
}
