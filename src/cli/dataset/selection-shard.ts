/** Computes a shard of `rhythm-vec dataset sft` or `dpo`: replays a part of the episodes, and writes them with the results. */
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { yieldTurn } from '../../engine/engine-calls.js';
import { counted } from '../../evaluation/format-results.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import type { EpisodeSelection } from '../../training/datasets/episode-filters.js';
import { PlayedResults, type ReplayResults, resultAt } from '../../training/datasets/replay-results.js';
import { UsageError } from '../command-errors.js';
import { checkOutput } from '../files/check-outputs.js';
import { isParquet } from '../files/file-kind.js';
import type { Line } from '../files/lines.js';
import { openOutput } from '../files/output-file.js';
import { episodesIn, openFiles } from '../files/trajectory-files.js';
import type { TrajectoryLine } from '../files/trajectory-table.js';
import { createProgress } from '../progress.js';
import { createJob, type SelectionJob } from '../shards/job.js';
import { partOf, type Shard, shardText } from '../shards/shard.js';
import {
  beginShard,
  checkShardFormat,
  checkShardOutput,
  contentsOf,
  endShard,
} from '../shards/shard-file.js';
import { namedFormat, type SelectionCliOptions } from './selection-options.js';
import { storedText } from './stored-lines.js';

/** The shard of a dataset, and which of its episodes to replay. */
export interface SelectionShard {
  /** The options that select the episodes and make the rows, and the grader. */
  readonly plan: SelectionJob['options']['plan'] & Pick<EpisodeSelection, 'grader'>;
  readonly shard: Shard;
  /** Returns whether an episode passes the filters that need no replay. */
  readonly accepts: (episode: TrajectoryEpisode) => boolean;
}

/** The maximum number of lines that are replayed together. Chosen by hand: more lines take more memory. */
const BATCH = 128;

/**
 * Writes the episodes of a shard and their results as JSON lines.
 * @throws UsageError for paths or a format that a shard cannot use; InputError for more shards than lines; the signal's reason.
 */
export async function runSelectionShard(
  { plan, shard, accepts }: SelectionShard,
  options: SelectionCliOptions,
  signal: AbortSignal,
): Promise<void> {
  const { output: path, jsonl } = options;
  checkShardOutput('--output', path);
  checkShardFormat('--format', namedFormat(options));
  checkOutput('--output', path);
  for (const input of jsonl) checkShardInput(input);
  const inputs = await readInputs(jsonl);
  const job = jobOf(plan, inputs, options);
  const part = partOf(
    inputs.reduce((sum, { lines }) => sum + lines, 0),
    shard,
    'lines of --jsonl',
  );
  const file = { job, shard, path, part: `lines ${part.first + 1}-${part.end}`, option: '--output' };
  const isComplete = await beginShard(file);
  if (isComplete) return;
  // Baselines are played only for SFT. An episode's margin is its score minus that of heuristic+constant (sft-selection.ts).
  await using source = await PlayedResults.open(plan.grader, options, { baselines: plan.dataset === 'sft' });
  const output = await openOutput(path);
  const progress = createProgress('lines');
  try {
    let done = 0;
    for await (const batch of batchesIn(linesOfShard(inputs, part, signal))) {
      signal.throwIfAborted();
      const accepted = batch.flatMap(({ episode }) =>
        episode instanceof BadEpisode || !accepts(episode) ? [] : [episode],
      );
      const results = accepted.length === 0 ? null : await source.resultsOf(accepted);
      await output.write(textOf(batch, accepted, results));
      done += batch.length;
      progress.update(done, part.end - part.first);
    }
    signal.throwIfAborted();
    await output.commit();
  } finally {
    progress.stop();
    await output.discard();
  }
  const { rows } = await endShard(file);
  process.stderr.write(`Shard ${shardText(shard)}: ${counted(rows, 'episode')} in ${path}.\n`);
}

/** A file of episodes. */
interface Input {
  readonly path: string;
  readonly sha256: string;
  /** The number of lines, including a last line without a line end. */
  readonly lines: number;
}

/** Refuses the standard input and Parquet files. */
function checkShardInput(path: string): void {
  if (path !== '-' && !isParquet(path)) return;
  throw new UsageError(
    `Expected --jsonl to be files of JSON lines with --shard, got ${path === '-' ? 'the standard input' : path}. Write the episodes to a .jsonl file.`,
  );
}

async function readInputs(paths: readonly string[]): Promise<Input[]> {
  const inputs: Input[] = [];
  for (const path of paths) {
    const { rows, bytes, sha256 } = await contentsOf(path);
    inputs.push({ path, sha256, lines: rows + ((await lacksLastLineEnd(path, bytes)) ? 1 : 0) });
  }
  return inputs;
}

/** Returns whether the last line has no line end. */
async function lacksLastLineEnd(path: string, size: number): Promise<boolean> {
  if (size === 0) return false;
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer.toString() !== '\n';
  } finally {
    await file.close();
  }
}

function jobOf(
  { grader, ...plan }: SelectionShard['plan'],
  inputs: readonly Input[],
  options: SelectionCliOptions,
): SelectionJob {
  return createJob<SelectionJob>('selection', grader, {
    plan: plan as SelectionJob['options']['plan'],
    files: inputs.map(({ path, sha256 }) => ({ name: basename(path), sha256 })),
    grader: basename(options.grader),
    skip_bad: options.skipBad,
  });
}

/** Yields the episodes and invalid lines among the lines `first` to `end - 1` of all inputs. Parses no other lines. */
async function* linesOfShard(
  inputs: readonly Input[],
  { first, end }: { readonly first: number; readonly end: number },
  signal: AbortSignal,
): AsyncGenerator<TrajectoryLine> {
  let before = 0;
  for (const input of inputs) {
    const own = { first: first - before, end: end - before };
    before += input.lines;
    if (own.end <= 0 || own.first >= input.lines) continue;
    for await (const { path, lines } of openFiles([input.path], { signal }))
      yield* episodesIn(basename(path), within(lines!, own));
  }
}

/** Yields the lines with the indices `first` to `end - 1`. A line's index is its number less 1. */
async function* within(
  lines: AsyncIterable<Line>,
  { first, end }: { readonly first: number; readonly end: number },
): AsyncGenerator<Line> {
  for await (const line of lines) {
    if (line.number > end) return;
    if (line.number > first) yield line;
  }
}

async function* batchesIn(lines: AsyncIterable<TrajectoryLine>): AsyncGenerator<TrajectoryLine[]> {
  let batch: TrajectoryLine[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
    await yieldTurn();
  }
  if (batch.length > 0) yield batch;
}

/** Returns a batch as lines of the shard's file. @param accepted the episodes that have results, in the order of the batch. */
function textOf(
  batch: readonly TrajectoryLine[],
  accepted: readonly TrajectoryEpisode[],
  results: ReplayResults | null,
): string {
  let next = 0;
  return batch
    .map(({ place, size, episode }): string => {
      if (episode instanceof BadEpisode) {
        const { kind, message, lines } = episode;
        return storedText({ place, size, fault: { kind, message, lines } });
      }
      if (accepted[next] !== episode) return storedText({ place, size, episode });
      return storedText({ place, size, episode, result: resultAt(results!, next++) });
    })
    .join('');
}
