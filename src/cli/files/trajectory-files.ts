/** Reads files of trajectories, JSON lines or Parquet: yields their episodes, and a BadEpisode for an invalid line or row. */
import { counted } from '../../evaluation/format-results.js';
import { EpisodeReplayer, type ReplayEngine } from '../../rollouts/trajectories/episode-replayer.js';
import { BadEpisode, type FaultKind, readEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { isOfJournalAlone } from '../llm/journal-bytes.js';
import { checkedStream, checkKind, type FileKind, isParquet, KINDS } from './file-kind.js';
import { checkDifferentFile, checkInput, inputName, openInput } from './input-file.js';
import { type Line, readLines } from './lines.js';
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

/** An open file: its lines, or the episodes of a Parquet file. */
export type OpenedFile =
  | { readonly path: string; readonly lines: AsyncGenerator<Line>; readonly episodes?: undefined }
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
      const bytes = checkedStream(counting(input, count), { ...accepted, name });
      yield { path, lines: readLines(bytes, MAX_LINE_BYTES) };
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

/**
 * Yields an episode or a BadEpisode for each line that is not blank. Skips the lines of a journal that are no episodes.
 * @param name the file's name in `place`.
 */
export async function* episodesIn(
  name: string,
  lines: AsyncIterable<Line> | Iterable<Line>,
): AsyncGenerator<TrajectoryLine> {
  for await (const { number, text, problem } of lines) {
    if (text?.trim() === '' || isOfJournalAlone(text)) continue;
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
