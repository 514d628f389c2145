/**
 * A journal of paid episodes. Each episode is a line of `OUTPUT.partial`, synced to disk as soon as it ends. The next
 * run of the same command reuses the episodes of that file and of OUTPUT. When all episodes are finished, they replace
 * OUTPUT atomically.
 */
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import {
  BadEpisode,
  episodeKey,
  episodeLine,
  parseEpisode,
  readEpisode,
} from '../../rollouts/trajectories/trajectory-lines.js';
import { lineSpans } from '../../shared/line-spans.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { UsageError } from '../command-errors.js';
import { openLinesOutput } from '../files/episode-file.js';
import { checkKind, isParquet, KINDS } from '../files/file-kind.js';
import { LINES } from '../files/format-option.js';
import type { Output } from '../files/output-file.js';
import { makeDirectory, stat, targetOf } from '../files/paths.js';
import { rethrowWithPath } from '../files/rethrow-with-path.js';
import { syncToDisk } from '../files/sync-to-disk.js';
import { readTableEpisodes } from '../files/trajectory-table.js';
import { markLength, withoutMark } from '../files/utf8.js';
import { bytesOf, type Entry, isBeginning, readAmount, writeAt, writeFully } from './journal-bytes.js';
import { lock, lockOf } from './lock.js';

export interface JournalOptions {
  /** The output: a file, which need not exist. */
  readonly path: string;
  /** The format of the output. Default: JSON lines. `OUTPUT.partial` always has JSON lines. */
  readonly format?: RowFormat;
  /** The option that names the output. Default --output. */
  readonly option?: string;
  /** Refuses an episode that this command would not produce. @throws UsageError that names `place`, the file and line. */
  readonly check: (episode: TrajectoryEpisode, place: string) => void;
}

/**
 * Refuses an existing output that is not a file of trajectories, and the standard output. @param user what needs a journal:
 * "a language model", or the option that names one. @throws UsageError.
 */
export function checkJournal(option: string, path: string, user: string): void {
  const existing = path === '-' ? null : stat(path);
  if (path !== '-' && (existing === null || existing.isFile())) {
    checkKind(option, path, [KINDS.trajectories]);
    return;
  }
  throw new UsageError(
    `Expected ${option} to name a file when ${user} is used, got ${path}. Paid episodes are kept beside that file. Name a file.`,
  );
}

const partialOf = (path: string): string => `${path}.partial`;
const spentOf = (path: string): string => `${path}.spent`;

/** Returns the paths of the files that a journal may have beside the output. @param path of the output. */
export const journalFiles = (path: string): string[] =>
  [partialOf, spentOf, lockOf].map((pathOf) => pathOf(targetOf(path)));

/**
 * Returns a line about the episodes that are kept after an interruption. @param path of the journal. @param all the
 * planned episodes, such as "6 episodes".
 */
export const keptText = (path: string, kept: number, all: string): string =>
  kept === 0
    ? `None of ${all} was finished.\n`
    : `${kept} of ${all} ${kept === 1 ? 'is' : 'are'} kept in ${path}; the same command resumes from there.\n`;

/** The fixed number of bytes of a stored amount, so that it can be overwritten in place. No amount needs more. */
const AMOUNT_WIDTH = 64;

/** A journal that is open and locked. */
export class Journal {
  readonly #path: string;
  readonly #option: string;
  readonly #check: JournalOptions['check'];
  readonly #format: RowFormat;
  readonly #unlock: () => void;
  /** The stored episodes, by `episodeKey`. */
  readonly #entries = new Map<string, Entry>();
  #output: FileHandle | null = null;
  /** The new output, from `finish` on. */
  #written: Output | null = null;
  #partial!: FileHandle;
  /** The length of `OUTPUT.partial` in bytes, without an incomplete line. */
  #end = 0;
  #spentFile: number | null = null;
  #finished = { episodes: 0, cost: 0 };
  #spent = 0;

  private constructor(
    { path, option = '--output', check, format = LINES }: JournalOptions,
    unlock: () => void,
  ) {
    this.#path = path;
    this.#option = option;
    this.#check = check;
    this.#format = format;
    this.#unlock = unlock;
  }

  /**
   * Reads the stored episodes. An incomplete last line is removed, and its episode is played again.
   * @throws UsageError for invalid lines, for episodes that `check` refuses, and the errors of `lock`. An error loses no stored
   *   episode.
   */
  static async open(options: JournalOptions): Promise<Journal> {
    // All links to a file share one journal.
    const path = targetOf(options.path);
    makeDirectory(dirname(path));
    const journal = new Journal({ ...options, path }, await lock(path));
    try {
      await journal.#read();
    } catch (error) {
      await journal.close();
      throw error;
    }
    return journal;
  }

  /** The number of stored episodes. */
  get size(): number {
    return this.#entries.size;
  }

  /** Returns whether an episode is stored. @param key as `episodeKey` returns it. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** The number of episodes that were stored before the journal was opened and state their cost, and the sum in dollars. */
  get finished(): { readonly episodes: number; readonly cost: number } {
    return this.#finished;
  }

  /** Dollars spent before the journal was opened, including the maximum cost of requests whose answers were lost. */
  get spent(): number {
    return Math.max(this.#spent, this.#finished.cost);
  }

  /** Stores an episode. Once the promise resolves, no crash can lose it. */
  async append(episode: TrajectoryEpisode): Promise<void> {
    const line = Buffer.from(episodeLine(episode));
    const start = this.#end;
    await writeAt(this.#partial, start, line).catch(rethrowWithPath(this.partialPath));
    this.#end = start + line.length;
    this.#entries.set(episodeKey(episode), { handle: this.#partial, start, end: this.#end - 1 });
  }

  /** Writes to `OUTPUT.spent` the largest amount that may have been spent, synchronously. */
  noteSpent(dollars: number): void {
    // Overwrites without truncating, so that the file has an amount even if the process is killed meanwhile.
    this.#spentFile ??= openSync(this.#spentPath, constants.O_WRONLY | constants.O_CREAT, 0o666);
    const text = JSON.stringify({ spent_usd: dollars });
    try {
      writeSync(this.#spentFile, `${text.padEnd(AMOUNT_WIDTH - 1)}\n`, 0);
    } catch (error) {
      rethrowWithPath(this.#spentPath)(error);
    }
  }

  /** Yields the stored episodes of these keys, in the order of `keys`, one at a time. */
  async *read(keys: Iterable<string>): AsyncGenerator<TrajectoryEpisode> {
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) yield parseEpisode((await bytesOf(entry)).toString());
    }
  }

  /**
   * Writes the stored episodes to the new output, which `commit` moves to its place: the episodes of `keys` in that order, after
   * all other episodes. If `OUTPUT.partial` is empty, the output stays as it is.
   */
  async finish(keys: readonly string[]): Promise<void> {
    if (this.#end === 0) return;
    const ordered = new Set(keys);
    const others = [...this.#entries.keys()].filter((key) => !ordered.has(key));
    this.#written = await openLinesOutput(this.#path, this.#format);
    for (const key of [...others, ...keys]) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) await this.#written.write(Buffer.concat([await bytesOf(entry), LINE_END]));
    }
    await this.#written.finish();
  }

  /** Moves the new output to its place. Then removes the files of the journal, and closes it. */
  async commit(): Promise<void> {
    await this.#written?.commit();
    if (this.#end > 0) await rm(this.partialPath, { force: true });
    rmSync(this.#spentPath, { force: true });
    await this.close();
  }

  /** Closes the files, keeps them for the next run, and releases the lock. An empty `OUTPUT.partial` is removed. */
  async close(): Promise<void> {
    const handles = [this.#output, this.#partial];
    if (this.#spentFile !== null) closeSync(this.#spentFile);
    [this.#output, this.#spentFile] = [null, null];
    await this.#written?.discard();
    this.#written = null;
    for (const handle of handles) await handle?.close();
    if (this.#end === 0 && stat(this.partialPath)?.size === 0) await rm(this.partialPath);
    this.#unlock();
  }

  /** The file of episodes while the work is unfinished. */
  get partialPath(): string {
    return partialOf(this.#path);
  }

  get #spentPath(): string {
    return spentOf(this.#path);
  }

  async #read(): Promise<void> {
    const isTable = isParquet(this.#path);
    if (!isTable && stat(this.#path) !== null) {
      this.#output = await open(this.#path, 'r');
      await this.#readEpisodes(this.#output, this.#path, { mayEndEarly: false });
    }
    const exists = stat(this.partialPath) !== null;
    this.#partial = await open(this.partialPath, exists ? 'r+' : 'wx+');
    this.#end = await this.#readEpisodes(this.#partial, this.partialPath, { mayEndEarly: true });
    if (isTable) await this.#copyTable();
    this.#spent = readAmount(this.#spentPath);
  }

  /** Copies the episodes of an output in Parquet to the journal. */
  async #copyTable(): Promise<void> {
    await using replayer = new EpisodeReplayer();
    for await (const { place, episode } of readTableEpisodes(this.#path, this.#path, replayer)) {
      if (!isEpisode(episode)) this.#refuse(episode, place);
      const line = Buffer.from(episodeLine(episode));
      await writeFully(this.#partial, this.#end, line).catch(rethrowWithPath(this.partialPath));
      this.#addEntry(
        episode,
        { handle: this.#partial, start: this.#end, end: this.#end + line.length - 1 },
        place,
      );
      this.#end += line.length;
    }
    await syncToDisk(this.#partial);
  }

  /**
   * Registers the episodes of a file. @returns the offset after the last complete line.
   * @param mayEndEarly whether an incomplete last line is removed, and a missing last line end is added.
   */
  async #readEpisodes(
    handle: FileHandle,
    path: string,
    { mayEndEarly }: { readonly mayEndEarly: boolean },
  ): Promise<number> {
    let end = 0;
    let number = 0;
    for await (const span of lineSpans(handle)) {
      const place = `${path}:${++number}`;
      const bytes = await bytesOf({ handle, ...span });
      const text = withoutMark(bytes.toString());
      const episode = text === '' ? null : readEpisode(text);
      if (mayEndEarly && !span.whole && isBeginning(text) && !isEpisode(episode)) {
        await handle.truncate(span.start);
        return span.start;
      }
      const start = span.start + markLength(bytes);
      if (episode !== null) this.#addEntry(episode, { handle, start, end: span.end }, place);
      end = span.end + 1;
      if (mayEndEarly && !span.whole) await handle.write('\n', span.end);
    }
    return end;
  }

  #refuse({ message }: BadEpisode, place: string): never {
    throw new UsageError(
      `Expected an episode at ${place}, got: ${message} Remove that line or row, or pass another ${this.#option}.`,
    );
  }

  #addEntry(episode: TrajectoryEpisode | BadEpisode, entry: Entry, place: string): void {
    if (!isEpisode(episode)) this.#refuse(episode, place);
    this.#check(episode, place);
    const key = episodeKey(episode);
    // A crash between writing the output and removing the journal leaves an episode in both.
    if (this.#entries.has(key)) return;
    this.#entries.set(key, entry);
    const { cost_usd: cost } = episode.usage ?? {};
    if (cost === undefined) return;
    this.#finished = { episodes: this.#finished.episodes + 1, cost: this.#finished.cost + cost };
  }
}

const LINE_END = Buffer.from('\n');
const isEpisode = (read: TrajectoryEpisode | BadEpisode | null): read is TrajectoryEpisode =>
  read !== null && !(read instanceof BadEpisode);
