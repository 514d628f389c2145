import { basename } from 'node:path';
import { yieldTurn } from '../../engine/engine-calls.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { decodeArrays, encodeArrays } from '../../shared/array-json.js';
import type { EpisodeSelection } from '../../training/datasets/episode-selection.js';
import type { EpisodeResult, ResultSource, StoredResults } from '../../training/datasets/replay-results.js';
import { UsageError } from '../command-errors.js';
import { checkOutput } from '../files/check-outputs.js';
import { isParquet } from '../files/file-kind.js';
import type { Line } from '../files/lines.js';
import { episodesIn, openFiles } from '../files/trajectory-files.js';
import type { TrajectoryLine } from '../files/trajectory-table.js';
import { createJob, type SelectionJob } from '../shards/job.js';
import { partOf, type Shard } from '../shards/shard.js';
import { checkShardFile, contentsOf, lineBatches, writeShard } from '../shards/shard-file.js';
import { namedFormat, type SelectionCliOptions } from './selection-options.js';

/** The shard of a dataset, and which of its episodes to replay. */
export interface SelectionShard {
  /** The options that select the episodes and make the rows, and the grader. */
  readonly plan: SelectionJob['options']['plan'] & Pick<EpisodeSelection, 'grader'>;
  readonly shard: Shard;
  /** Returns whether an episode passes the filters that need no replay. */
  readonly accepts: (episode: TrajectoryEpisode) => boolean;
  readonly source: () => Promise<ResultSource>;
}

/** The maximum number of lines that are replayed together. Chosen by hand: more lines take more memory. */
const BATCH = 128;

/**
 * Writes the episodes of a shard and their results as JSON lines.
 * @throws UsageError for paths or a format that a shard cannot use; InputError for more shards than lines; the signal's reason.
 */
export async function runSelectionShard(
  { plan, shard, accepts, ...request }: SelectionShard,
  options: SelectionCliOptions,
  signal: AbortSignal,
): Promise<void> {
  const { output: path, jsonl } = options;
  checkShardFile('--output', path, namedFormat(options), '--format');
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
  async function* pieces() {
    await using source = await request.source();
    for await (const batch of batchesIn(linesOfShard(inputs, part, signal))) {
      const accepted = batch.flatMap(({ episode }) =>
        episode instanceof BadEpisode || !accepts(episode) ? [] : [episode],
      );
      const results = await source.resultsOf(accepted);
      const resultOf = new Map(accepted.map((episode, i) => [episode, results[i]]));
      yield { text: batch.map((line) => storedText(line, resultOf)).join(''), work: batch.length };
    }
  }
  await writeShard(file, { unit: 'lines', total: part.end - part.first, row: 'episode' }, pieces(), signal);
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
    const { rows: lines, sha256 } = await contentsOf(path);
    inputs.push({ path, sha256, lines });
  }
  return inputs;
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

/** A line of a shard's file. */
interface StoredLine {
  /** The file and line of the episode, such as "teacher.jsonl:3". */
  readonly place: string;
  /** The approximate size of the episode in its file, in bytes. `merge` limits its batches by the sum of these sizes. */
  readonly size: number;
  /** Absent if the line is valid. */
  readonly fault?: Pick<BadEpisode, 'kind' | 'message' | 'lines'>;
  readonly episode?: TrajectoryEpisode;
  /** Absent if the line has a fault, or filters leave the episode out. */
  readonly result?: EpisodeResult;
}

/** Returns the text of a line, with its line end. @param resultOf the results of accepted episodes. */
function storedText(
  { place, size, episode }: TrajectoryLine,
  resultOf: ReadonlyMap<TrajectoryEpisode, EpisodeResult>,
): string {
  if (episode instanceof BadEpisode) {
    const { kind, message, lines } = episode;
    return `${JSON.stringify({ place, size, fault: { kind, message, lines } } satisfies StoredLine)}\n`;
  }
  const result = resultOf.get(episode);
  const line: StoredLine = { place, size, episode };
  return `${JSON.stringify(result === undefined ? line : { ...line, result: encodeArrays(result) })}\n`;
}

/** Yields the lines of shards in order. @param results receives the result of each episode that has one. */
export async function* readStoredLines(
  paths: readonly string[],
  results: StoredResults,
  signal: AbortSignal,
): AsyncGenerator<TrajectoryLine> {
  for await (const [text] of lineBatches(paths, 1)) {
    signal.throwIfAborted();
    const { place, size, fault, episode, result } = JSON.parse(text) as StoredLine;
    if (result !== undefined) results.store(episode!, decodeArrays(result) as EpisodeResult);
    yield { place, size, episode: episode ?? new BadEpisode(fault!.kind, fault!.message, fault!.lines) };
  }
}
