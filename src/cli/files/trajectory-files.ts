/**
 * Reads files of trajectories, JSON lines or Parquet: yields their episodes, and a BadEpisode for an invalid line or row. Groups
 * the episodes into batches for replay, and reports invalid lines and duplicates as they are found.
 */

import { ANSWER_HEAD, SPENT_HEAD } from '../../agents/llm/stored-answers.js';
import { yieldTurn } from '../../engine/engine-calls.js';
import { counted } from '../../evaluation/format-results.js';
import { EpisodeReplayer, type ReplayEngine } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import {
  BadEpisode,
  type FaultKind,
  playerKey,
  readEpisode,
} from '../../rollouts/trajectories/trajectory-lines.js';
import { checkedStream, checkKind, type FileKind, isParquet, KINDS } from './file-kind.js';
import { checkDifferentFile, checkInput, inputName, openInput } from './input-file.js';
import { type Line, printable, readLines } from './lines.js';
import { stat } from './paths.js';
import { readTableEpisodes, type TrajectoryLine } from './trajectory-table.js';

/**
 * The maximum length of a line in bytes. 28 answers of MAX_BODY_BYTES (src/agents/llm/endpoint.ts) and their prompts fit, even if
 * the line has each answer twice, as completion and as reasoning.
 */
export const MAX_LINE_BYTES = 64 * 2 ** 20;

/** The kinds of files that an option accepts. */
export interface AcceptedFiles {
  /** The option, such as "--jsonl". */
  readonly option: string;
  readonly kinds: readonly FileKind[];
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Default: trajectories of --jsonl. */
  readonly accepted?: AcceptedFiles;
  /** The engine that replays the rows of Parquet files. */
  readonly engine?: ReplayEngine;
  /** Called with the bytes read and their total, unless the total is unknown. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Refuses a path that is no file of trajectories, or that names the output file. @throws UsageError. */
export function checkTrajectories(
  option: string,
  paths: readonly string[],
  output: { readonly option: string; readonly path: string } | null = null,
): void {
  for (const path of paths) {
    checkInput(option, path);
    checkKind(option, path, [KINDS.trajectories]);
    if (output !== null) checkDifferentFile(output.option, output.path, option, path);
  }
}

/** The default of `accepted`. */
const TRAJECTORIES: AcceptedFiles = { option: '--jsonl', kinds: [KINDS.trajectories] };

/** The lines of an open file. */
export interface OpenLines {
  readonly path: string;
  readonly lines: AsyncGenerator<Line>;
  /** Returns the kind of the file, once a line was read; null if it is unknown. */
  readonly kind: () => FileKind | null;
  readonly episodes?: undefined;
}

/** An open file: its lines, or the episodes of a Parquet file. */
export type OpenedFile =
  | OpenLines
  | { readonly path: string; readonly lines?: undefined; readonly episodes: AsyncGenerator<TrajectoryLine> };

/**
 * Opens files one after the other. The content of each must be read before the next file is requested. '-' is the
 * standard input.
 */
export async function* openFiles(
  paths: readonly string[],
  { signal, onProgress, accepted = TRAJECTORIES, engine }: ReadOptions,
): AsyncGenerator<OpenedFile> {
  const total = bytesOf(paths);
  let done = 0;
  const count = (bytes: number): void => {
    done += bytes;
    if (total !== null) onProgress?.(done, total);
  };
  await using replayer = new EpisodeReplayer(engine);
  for (const path of paths) {
    const name = inputName(path);
    if (isParquet(path)) {
      yield { path, episodes: readTableEpisodes(path, name, replayer, count) };
      continue;
    }
    const input = openInput(path, signal);
    try {
      let kind: FileKind | null = null;
      const bytes = checkedStream(counting(input, count), { ...accepted, name }, (found) => {
        kind = found;
      });
      yield { path, lines: readLines(bytes, MAX_LINE_BYTES), kind: () => kind };
    } finally {
      input.destroy();
    }
  }
}

/** Yields the episodes of files, one file after the other; a BadEpisode for an invalid line or row. Skips blank lines. */
export async function* readTrajectories(
  paths: readonly string[],
  options: ReadOptions,
): AsyncGenerator<TrajectoryLine> {
  for await (const { path, lines, episodes } of openFiles(paths, options))
    yield* episodes ?? episodesIn(inputName(path), lines);
}

/** The beginnings of a journal's lines that are no episodes. */
const JOURNAL_HEADS = [ANSWER_HEAD, SPENT_HEAD];

/**
 * Yields an episode or a BadEpisode for each line that is not blank. Skips the lines of a journal that are no episodes.
 * @param name the file's name in `place`.
 */
export async function* episodesIn(
  name: string,
  lines: AsyncIterable<Line> | Iterable<Line>,
): AsyncGenerator<TrajectoryLine> {
  for await (const { number, text, problem } of lines) {
    if (text?.trim() === '' || JOURNAL_HEADS.some((head) => text?.startsWith(head))) continue;
    const episode = text === null ? new BadEpisode('corrupt', problem!) : readEpisode(text);
    yield { place: `${name}:${number}`, size: text?.length ?? 0, episode };
  }
}

/** Passes bytes on and counts them. */
async function* counting(
  input: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    count(chunk.length);
    yield chunk;
  }
}

/** Returns the size of all files; null if one has no size. */
function bytesOf(paths: readonly string[]): number | null {
  const files = paths.map((path) => (path === '-' ? null : stat(path)));
  return files.every((file) => file?.isFile()) ? files.reduce((sum, file) => sum + file!.size, 0) : null;
}

/** Counts skipped lines by kind. */
export class SkippedLines {
  readonly #counts = new Map<FaultKind, number>();

  add({ kind, lines }: BadEpisode): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + lines);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The number of lines by kind. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** Describes the counts: "2 lines skipped: 1 corrupt, 1 foreign"; '' without lines. */
  get text(): string {
    const { total } = this;
    if (total === 0) return '';
    const kinds = Array.from(this.#counts, ([kind, count]) => `${count} ${kind}`).join(', ');
    return `${counted(total, 'line')} skipped: ${kinds}`;
  }
}

/**
 * The maximum number of reports: of invalid lines, duplicates and unreadable row groups. Later ones are only counted. Chosen by
 * hand.
 */
const MAX_REPORTED = 10;
/** The maximum number of episodes of a batch. Chosen by hand: a larger batch takes more memory. */
const MAX_BATCH = 256;
/** A batch of at least this many bytes is complete. Chosen by hand: it limits the memory of episodes with long answers. */
const MIN_BATCH_BYTES = 32 * 2 ** 20;

export interface PlacedEpisode {
  /** File and line, such as "teacher.jsonl:3". */
  readonly place: string;
  readonly episode: TrajectoryEpisode;
}

/** Receives a message to print, without a line end. */
export type Report = (text: string) => void;

export const toStandardError: Report = (text) => void process.stderr.write(`${text}\n`);

export interface BatchOptions {
  /** Counts the lines left out: invalid lines and duplicate episodes. */
  readonly skipped: SkippedLines;
  readonly report: Report;
  readonly signal: AbortSignal;
  /**
   * Whether a player (teacher, model, objective, oracle) may have several episodes of a seed, such as samples. Default false.
   */
  readonly repeats?: boolean;
}

/**
 * Yields batches of at least one episode each. Leaves out invalid lines and, without `repeats`, duplicates; counts and reports
 * them. Returns to the event loop between batches, so that signals and timers run. @throws the signal's reason.
 */
export async function* inBatches(
  lines: AsyncIterable<TrajectoryLine>,
  { skipped, report, signal, repeats = false }: BatchOptions,
): AsyncGenerator<PlacedEpisode[]> {
  const seen = new SeenEpisodes();
  let batch: PlacedEpisode[] = [];
  let bytes = 0;
  let [reports, unreported] = [0, 0];
  for await (const { place, size, episode } of lines) {
    signal.throwIfAborted();
    const fault = episode instanceof BadEpisode ? episode : repeats ? null : seen.faultOf(episode);
    if (fault !== null) {
      skipped.add(fault);
      if (++reports > MAX_REPORTED) unreported += fault.lines;
      else report(`${place}: skipped, ${fault.kind}: ${printable(fault.message)}`);
      continue;
    }
    batch.push({ place, episode: episode as TrajectoryEpisode });
    bytes += size;
    if (batch.length < MAX_BATCH && bytes < MIN_BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
    await yieldTurn();
  }
  signal.throwIfAborted();
  if (unreported > 0) report(`... and ${counted(unreported, 'more line')} skipped`);
  if (batch.length > 0) yield batch;
}

/** The seeds that each player played, by condition and profile: about 40 bytes per episode. */
class SeenEpisodes {
  readonly #seeds = new Map<string, Set<number>>();

  /** Returns the fault of a duplicate. For a new episode, returns null and stores its seed. */
  faultOf(episode: TrajectoryEpisode): BadEpisode | null {
    const { condition, seed, profile_mode: mode } = episode;
    const key = playerKey(episode);
    const seeds = this.#seeds.get(key) ?? new Set();
    this.#seeds.set(key, seeds);
    if (seeds.has(seed)) {
      const which = `seed ${seed} (${mode}, ${condition})`;
      return new BadEpisode(
        'duplicate',
        `Expected each episode once, got ${which} of the same player again. Remove one of the two.`,
      );
    }
    seeds.add(seed);
    return null;
  }
}
