/** Runs `rhythm-vec dataset sft`: rows by split, and their card. */

import { counted } from '../../evaluation/format-results.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import type { RowEncoder } from '../../shared/row-files/row-encoder.js';
import { PlayedResults } from '../../training/datasets/replay-results.js';
import { sftCardText } from '../../training/datasets/sft/sft-card.js';
import {
  OBJECTIVES,
  SFT_COLUMNS,
  type SftOptions,
  type SftPlan,
  type SftRow,
  toSftPlan,
} from '../../training/datasets/sft/sft-rows.js';
import {
  SftSelection,
  SPLITS,
  type Split,
  sftProvenanceOf,
  storedExclusion,
} from '../../training/datasets/sft/sft-selection.js';
import { rangeText } from '../../training/datasets/state-sampler.js';
import { UsageError } from '../command-errors.js';
import { checkNotGrader, readGrader } from '../files/grader-file.js';
import { type Output, Outputs } from '../files/output-file.js';
import { checkTrajectories, inBatches, toStandardError } from '../files/trajectory-files.js';
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
import { SftConverter } from './sft-converter.js';
import { SplitDirectory } from './split-directory.js';

export type SftCliOptions = SelectionCliOptions & Omit<SftOptions, 'grader'>;

/** A file of the dataset while it is written. */
interface Sink {
  readonly split: Split;
  readonly output: Output;
  readonly encoder: RowEncoder<SftRow>;
}

/**
 * Writes the files of the dataset; with --shard, the file of a shard.
 * @returns whether no line was skipped and every replayed episode is as recorded; true with --shard: the merge checks that.
 */
export async function runSft(options: SftCliOptions, signal: AbortSignal): Promise<boolean> {
  checkEngineOptions(options);
  const plan = toSftPlan({ ...options, grader: await readGrader(options.grader) });
  checkTrajectories('--jsonl', options.jsonl);
  if (options.shard !== undefined) {
    const accepts = (episode: TrajectoryEpisode): boolean => storedExclusion(plan, episode) === null;
    const request = { plan: { dataset: 'sft' as const, ...plan }, shard: options.shard, accepts };
    await runSelectionShard(request, options, signal);
    return true;
  }
  // Plays the baselines too: the margin of an episode is its score minus that of heuristic+constant.
  const source = () => PlayedResults.open(plan.grader, options, { baselines: true });
  return writeSft(
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
 */
export async function writeSft(
  plan: SftPlan,
  options: SelectionTarget,
  episodes: EpisodeInput,
  signal: AbortSignal,
): Promise<boolean> {
  const directory = new SplitDirectory(options.output, options.format);
  directory.checkInputs(episodes.files.option, episodes.files.paths);
  for (const split of SPLITS) checkNotGrader('--output', directory.pathOf(split), options.grader);
  await using selection = new SftSelection(plan, await episodes.source());
  let written = false;
  directory.create();
  try {
    await using outputs = new Outputs();
    const sinks = await openSinks(directory, namedFormat(options), plan, outputs);
    const converter = new SftConverter(selection, toStandardError);
    await readAll(converter, sinks, episodes, signal);
    requireRows(selection, plan);
    const filled = sinks.filter(({ split }) => selection.counts[split].rows > 0);
    for (const { output, encoder } of filled) await output.write(encoder.end());
    const card = await outputs.open(directory.card);
    const files = filled.map(({ split }) => ({ split, path: directory.nameOf(split) }));
    const command = commandOf(plan, options);
    await card.write(sftCardText({ provenance: sftProvenanceOf(plan), selection, files, command }));
    await outputs.finish();
    signal.throwIfAborted();
    // Removes the old card first, so that it never describes other rows, even if the process is killed between two commits.
    directory.removeCard();
    for (const { output } of filled) await output.commit();
    for (const sink of sinks) if (!filled.includes(sink)) directory.removeSplit(sink.split);
    await card.commit();
    written = true;
    process.stderr.write(`${summary(selection, converter, options.output)}\n`);
    return converter.skipped.total === 0 && converter.mismatched === 0;
  } finally {
    if (!written) directory.removeCreated();
  }
}

const commandOf = (plan: SftPlan, options: SelectionTarget): string =>
  datasetCommand('sft', plan, options, [
    ...given('--objective', plan.objective),
    ...flag('--only-parsed', plan.onlyParsed),
    ...given('--min-score', plan.minScore),
    ...given('--min-margin', plan.minMargin),
    ...given('--max-belief-error', plan.maxBeliefError),
  ]);

async function openSinks(
  directory: SplitDirectory,
  format: RowFormat,
  plan: SftPlan,
  outputs: Outputs,
): Promise<Sink[]> {
  const sinks: Sink[] = [];
  for (const split of SPLITS) {
    const output = await outputs.open(directory.pathOf(split));
    sinks.push({ split, output, encoder: await format.open(sftProvenanceOf(plan), SFT_COLUMNS) });
  }
  return sinks;
}

async function readAll(
  converter: SftConverter,
  sinks: readonly Sink[],
  { lines }: EpisodeInput,
  signal: AbortSignal,
): Promise<void> {
  const progress = createProgress('bytes');
  const { skipped } = converter;
  try {
    for await (const batch of inBatches(lines(progress.update), {
      skipped,
      report: toStandardError,
      signal,
    })) {
      const rows = await converter.rowsOf(batch);
      for (const { split, output, encoder } of sinks) {
        if (rows[split].length > 0) await output.write(encoder.add(rows[split]));
      }
    }
  } finally {
    progress.stop();
  }
}

/** Remedies, by the reason for which episodes were left out. */
const REMEDIES: Readonly<Record<string, (plan: SftPlan) => string>> = {
  'another objective': ({ objective }) =>
    `Only teachers of objective ${objective} are used. Choose another (${OBJECTIVES.filter((name) => name !== objective).join(', ')}) with --objective.`,
  'used hidden state': () => 'Pass --allow-oracle to admit teachers that used hidden state.',
  'another seed': ({ seeds }) => `Only seeds ${rangeText(seeds)} are used. Choose others with --seeds.`,
};

function requireRows({ counts, leftOut }: SftSelection, plan: SftPlan): void {
  if (counts.train.rows > 0) return;
  const why = Array.from(leftOut, ([name, count]) => `${name} (${count})`).join(', ');
  const remedies = Object.entries(REMEDIES).filter(([name]) => leftOut.has(name));
  const remedy =
    remedies.length > 0
      ? remedies.map(([, text]) => ` ${text(plan)}`).join('')
      : ' Relax the filters, or pass a file that rhythm-vec teach wrote.';
  throw new UsageError(
    `Expected rows to train on, got none${why === '' ? '' : `; episodes left out because of: ${why}`}.${remedy}`,
  );
}

function summary(
  { counts, leftOut }: SftSelection,
  { skipped, mismatched }: SftConverter,
  directory: string,
) {
  const { train, validation } = counts;
  const leftOutCount = [...leftOut.values()].reduce((sum, count) => sum + count, 0);
  return [
    `${counted(train.rows, 'training row')} and ${counted(validation.rows, 'validation row')} in ${directory}, with their card.`,
    `${counted(train.episodes + validation.episodes, 'episode')} used, ${leftOutCount} left out.`,
    ...(mismatched === 0 ? [] : [`${mismatched} NOT AS RECORDED: see rhythm-vec reeval.`]),
    ...(skipped.total === 0 ? [] : [`${skipped.text}.`]),
  ].join(' ');
}
