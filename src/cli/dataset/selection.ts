/** Writes the files of `rhythm-vec dataset sft` and `dpo`: rows by split, and their card. */
import { counted } from '../../evaluation/format-results.js';
import { whereOf } from '../../evaluation/reevaluation/trajectory-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import type { Columns, RowEncoder } from '../../shared/row-files/row-encoder.js';
import type { SplitFile } from '../../training/datasets/card-parts.js';
import {
  type Added,
  type BySplit,
  type EpisodeSelection,
  type Filter,
  failedFilter,
  type Selection,
  type SelectionProvenance,
  SPLITS,
  type Split,
} from '../../training/datasets/episode-selection.js';
import { PlayedResults, type ResultSource } from '../../training/datasets/replay-results.js';
import { UsageError } from '../command-errors.js';
import { checkNotGrader, readGrader } from '../files/grader-file.js';
import { type Output, Outputs } from '../files/output-file.js';
import {
  checkTrajectories,
  inBatches,
  readTrajectories,
  SkippedLines,
  toStandardError,
} from '../files/trajectory-files.js';
import type { TrajectoryLine } from '../files/trajectory-table.js';
import { createProgress } from '../progress.js';
import type { SelectionJob } from '../shards/job.js';
import { checkEngineOptions } from '../shared-options.js';
import {
  datasetCommand,
  namedFormat,
  type SelectionCliOptions,
  type SelectionTarget,
} from './selection-options.js';
import { runSelectionShard } from './selection-shard.js';
import { SplitDirectory } from './split-directory.js';

type AnyRow = { readonly seed: number };

/** A kind of dataset that is made of recorded episodes. */
export interface DatasetKind<
  Plan extends EpisodeSelection = EpisodeSelection,
  Row extends AnyRow = AnyRow,
  Chosen extends Selection<Plan, Row> = Selection<Plan, Row>,
> {
  readonly name: 'sft' | 'dpo';
  /** The filters that need no replay. */
  readonly filters: readonly Filter<Plan, TrajectoryEpisode>[];
  /** Whether rows depend on the results of the baselines. */
  readonly baselines: boolean;
  /** Whether an episode may occur several times: samples of a model make pairs. */
  readonly repeats: boolean;
  readonly columns: Columns<Row>;
  readonly open: (plan: Plan, source: ResultSource) => Chosen;
  readonly provenanceOf: (plan: Plan) => SelectionProvenance;
  readonly isCard: (text: string) => boolean;
  readonly cardOf: (card: {
    readonly provenance: SelectionProvenance;
    readonly selection: Chosen;
    readonly files: readonly SplitFile[];
    readonly command: string;
  }) => string;
  /** Returns the options that only this kind has, as words of the command that reproduces the dataset. */
  readonly wordsOf: (plan: Plan) => string[];
  /** Words of the summary: for a row, and for what was done with the episodes. */
  readonly words: { readonly row: string; readonly used: string };
  /** Returns the error of a dataset without rows to train on. @param why the reasons for leaving episodes out; '' for none. */
  readonly noRows: (selection: Chosen, why: string) => string;
}

/** The recorded episodes of a dataset, and the results of their replay. */
export interface EpisodeInput {
  /** The files that are read, and the option that names them. */
  readonly files: { readonly option: string; readonly paths: readonly string[] };
  /** Opens the source of the results. The caller closes it. */
  readonly source: () => Promise<ResultSource>;
  /** Yields episodes and invalid lines. @param onProgress called with the number of bytes read so far, and the size of all files. */
  readonly lines: (onProgress: (done: number, total: number) => void) => AsyncIterable<TrajectoryLine>;
}

/**
 * Writes the files of a dataset; with --shard, the file of a shard.
 * @returns whether no line was skipped and every replayed episode is as recorded; true with --shard: the merge checks that.
 * @throws UsageError for unusable paths or options, or if there are no rows to train on; InputError for an impossible plan;
 *   the signal's reason.
 */
export async function runSelection<
  Plan extends EpisodeSelection,
  Row extends AnyRow,
  Chosen extends Selection<Plan, Row>,
>(
  kind: DatasetKind<Plan, Row, Chosen>,
  options: SelectionCliOptions,
  toPlan: (grader: Plan['grader']) => Plan,
  signal: AbortSignal,
): Promise<boolean> {
  checkEngineOptions(options);
  const plan = toPlan(await readGrader(options.grader));
  const { jsonl, shard, ...engine } = options;
  checkTrajectories('--jsonl', jsonl);
  const source = () => PlayedResults.open(plan.grader, engine, { baselines: kind.baselines });
  if (shard !== undefined) {
    const accepts = (episode: TrajectoryEpisode) => failedFilter(kind.filters, plan, episode) === null;
    const { name: dataset } = kind;
    const named = { dataset, ...plan } as unknown as SelectionJob['options']['plan'] & Plan;
    await runSelectionShard({ plan: named, shard, accepts, source }, options, signal);
    return true;
  }
  const files = { option: '--jsonl', paths: jsonl };
  const lines: EpisodeInput['lines'] = (onProgress) =>
    readTrajectories(jsonl, { signal, onProgress, engine });
  return writeSelection(kind, plan, options, { files, source, lines }, signal);
}

/**
 * The number of rows that are encoded together if all are made at the end. Chosen by hand: more rows take more memory, fewer
 * more space in the file.
 */
const GROUP = 2048;

/** A file of the dataset while it is written. */
interface Sink<Row> {
  readonly split: Split;
  readonly output: Output;
  readonly encoder: RowEncoder<Row>;
}

/**
 * Writes the files of a dataset. Replaces an earlier dataset when all files are written.
 * @returns and @throws as `runSelection`.
 */
export async function writeSelection<
  Plan extends EpisodeSelection,
  Row extends AnyRow,
  Chosen extends Selection<Plan, Row>,
>(
  kind: DatasetKind<Plan, Row, Chosen>,
  plan: NoInfer<Plan>,
  options: SelectionTarget,
  episodes: EpisodeInput,
  signal: AbortSignal,
): Promise<boolean> {
  const directory = new SplitDirectory(options.output, options.format, kind);
  directory.checkInputs(episodes.files.option, episodes.files.paths);
  for (const split of SPLITS) checkNotGrader('--output', directory.pathOf(split), options.grader);
  await using selection = kind.open(plan, await episodes.source());
  const provenance = kind.provenanceOf(plan);
  let written = false;
  directory.create();
  try {
    await using outputs = new Outputs();
    const sinks: Sink<Row>[] = [];
    for (const split of SPLITS) {
      const output = await outputs.open(directory.pathOf(split));
      sinks.push({ split, output, encoder: await namedFormat(options).open(provenance, kind.columns) });
    }
    const read = await readAll(kind, selection, sinks, episodes, signal);
    await writeRows(sinks, selection.end(), GROUP);
    if (selection.counts.train.rows === 0) {
      const why = Array.from(selection.leftOut, ([reason, count]) => `${reason} (${count})`).join(', ');
      throw new UsageError(kind.noRows(selection, why));
    }
    const filled = sinks.filter(({ split }) => selection.counts[split].rows > 0);
    for (const { output, encoder } of filled) await output.write(encoder.end());
    const files = filled.map(({ split }) => ({ split, path: directory.nameOf(split) }));
    const command = datasetCommand(kind.name, plan, options, kind.wordsOf(plan));
    const card = await outputs.open(directory.card);
    await card.write(kind.cardOf({ provenance, selection, files, command }));
    await outputs.finish();
    signal.throwIfAborted();
    // Removes the old card first, so that it never describes other rows, even if the process is killed between two commits.
    directory.removeCard();
    for (const { output } of filled) await output.commit();
    for (const sink of sinks) if (!filled.includes(sink)) directory.removeSplit(sink.split);
    await card.commit();
    written = true;
    process.stderr.write(`${summary(kind, selection, read, options.output)}\n`);
    return read.skipped.total === 0 && read.mismatched === 0;
  } finally {
    if (!written) directory.removeCreated();
  }
}

/** The skipped lines, and the number of episodes that differ from their replay. */
interface ReadCounts {
  readonly skipped: SkippedLines;
  readonly mismatched: number;
}

/** Adds all episodes to the selection, writes their rows, and reports episodes that differ from their replay. */
async function readAll<Row extends AnyRow>(
  { repeats }: Pick<DatasetKind, 'repeats'>,
  selection: { add(episodes: readonly TrajectoryEpisode[]): Promise<Added<Row>> },
  sinks: readonly Sink<Row>[],
  { lines }: EpisodeInput,
  signal: AbortSignal,
): Promise<ReadCounts> {
  using progress = createProgress('bytes');
  const skipped = new SkippedLines();
  let count = 0;
  const options = { skipped, report: toStandardError, signal, repeats };
  for await (const batch of inBatches(lines(progress.update), options)) {
    const { rows, mismatched } = await selection.add(batch.map(({ episode }) => episode));
    for (const { index, mismatches } of mismatched)
      toStandardError(`${batch[index].place}: left out, not as recorded: ${whereOf(mismatches[0])}`);
    count += mismatched.length;
    await writeRows(sinks, rows);
  }
  return { skipped, mismatched: count };
}

/** Writes rows. @param group the maximum number of rows that are encoded together: a row group of a Parquet file. */
async function writeRows<Row>(
  sinks: readonly Sink<Row>[],
  rows: BySplit<readonly Row[]>,
  group = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  for (const { split, output, encoder } of sinks) {
    for (let first = 0; first < rows[split].length; first += group)
      await output.write(encoder.add(rows[split].slice(first, first + group)));
  }
}

type Counts = Pick<Selection<EpisodeSelection, AnyRow>, 'counts' | 'leftOut' | 'total'>;

function summary(
  { words }: Pick<DatasetKind, 'words'>,
  selection: Counts,
  read: ReadCounts,
  output: string,
): string {
  const { train, validation } = selection.counts;
  const leftOut = [...selection.leftOut.values()].reduce((sum, count) => sum + count, 0);
  return [
    `${counted(train.rows, `training ${words.row}`)} and ${counted(validation.rows, `validation ${words.row}`)} in ${output}, with their card.`,
    `${counted(selection.total('episodes'), 'episode')} ${words.used}, ${leftOut} left out.`,
    ...(read.mismatched === 0 ? [] : [`${read.mismatched} NOT AS RECORDED: see rhythm-vec reeval.`]),
    ...(read.skipped.total === 0 ? [] : [`${read.skipped.text}.`]),
  ].join(' ');
}
