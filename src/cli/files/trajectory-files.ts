/** Files of trajectories, line by line: episodes, and the lines that are none. */
import { counted } from '../../evaluate/figures.js';
import type { TrajectoryEpisode } from '../../trajectory/episode.js';
import { BadEpisode, type FaultKind, readEpisode } from '../../trajectory/read.js';
import { checkInput, checkOther, inputName, openInput } from './input-file.js';
import { type Line, readLines } from './lines.js';
import { stat } from './output-file.js';

/** An episode whose every answer is as long as one is ever taken from an endpoint, and then some. */
export const MAX_LINE_BYTES = 32 * 2 ** 20;

/** A line of a file: its episode, or why it has none. */
export interface TrajectoryLine {
  /** "teacher.jsonl:3", as people and editors find it. */
  readonly place: string;
  /** Bytes, about. */
  readonly size: number;
  readonly episode: TrajectoryEpisode | BadEpisode;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called with the bytes read and their total; not where the total is unknown. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Refuses what are no files, or the same file as an output. @throws UsageError. */
export function checkTrajectories(
  option: string,
  paths: readonly string[],
  output: { readonly option: string; readonly path: string } | null,
): void {
  for (const path of paths) {
    checkInput(option, path);
    if (output !== null) checkOther(output.option, output.path, option, path);
  }
}

/** Files one after the other, each with its lines, to be read before the next is asked for; '-' is the standard input. */
export async function* openFiles(
  paths: readonly string[],
  { signal, onProgress }: ReadOptions,
): AsyncGenerator<{ readonly path: string; readonly lines: AsyncGenerator<Line> }> {
  const total = bytesOf(paths);
  let done = 0;
  for (const path of paths) {
    const input = openInput(path, signal);
    const bytes = counting(input, (count) => {
      done += count;
      if (total !== null) onProgress?.(done, total);
    });
    try {
      yield { path, lines: readLines(bytes, MAX_LINE_BYTES) };
    } finally {
      input.destroy();
    }
  }
}

/** The episodes of files, one file after the other. Blank lines are none. */
export async function* readTrajectories(
  paths: readonly string[],
  options: ReadOptions,
): AsyncGenerator<TrajectoryLine> {
  for await (const { path, lines } of openFiles(paths, options)) yield* episodesIn(inputName(path), lines);
}

/** The lines of one file. @param name what its lines are called by. */
export async function* episodesIn(
  name: string,
  lines: AsyncIterable<Line> | Iterable<Line>,
): AsyncGenerator<TrajectoryLine> {
  for await (const { number, text, problem } of lines) {
    if (text?.trim() === '') continue;
    const episode = text === null ? new BadEpisode('corrupt', problem!) : readEpisode(text);
    yield { place: `${name}:${number}`, size: text?.length ?? 0, episode };
  }
}

/** Bytes that are counted as they come. */
async function* counting(
  input: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    count(chunk.length);
    yield chunk;
  }
}

/** Of all files; null where one has no size of its own. */
function bytesOf(paths: readonly string[]): number | null {
  const files = paths.map((path) => (path === '-' ? null : stat(path)));
  return files.every((file) => file?.isFile()) ? files.reduce((sum, file) => sum + file!.size, 0) : null;
}

/** How many lines are no episodes, by why. */
export class SkippedLines {
  readonly #counts = new Map<FaultKind, number>();

  add({ kind }: BadEpisode): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** By kind, those that there are. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** "2 lines skipped: 1 corrupt, 1 foreign"; '' for none. */
  get text(): string {
    const { total } = this;
    if (total === 0) return '';
    const kinds = Array.from(this.#counts, ([kind, count]) => `${count} ${kind}`).join(', ');
    return `${counted(total, 'line')} skipped: ${kinds}`;
  }
}
