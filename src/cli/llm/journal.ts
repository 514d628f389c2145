/**
 * A journal of paid answers and episodes. Each answer of an unfinished episode and each finished episode is a line of
 * `OUTPUT.partial`, synced to disk as soon as it comes; further lines have the amount spent. The next run of the same command
 * reuses the answers and episodes of that file and the episodes of OUTPUT. When all episodes are finished, they replace OUTPUT
 * atomically.
 */
import { createHash } from 'node:crypto';
import { ftruncateSync, writeSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AnswerLog } from '../../agents/llm/language-model.js';
import { ANSWER_HEAD, StoredAnswers } from '../../agents/llm/stored-answers.js';
import type { Grader } from '../../engine/graders/grader.js';
import { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import type { Sampling, TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
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
import { markLength, withoutMark } from '../files/lines.js';
import type { Output } from '../files/output-file.js';
import { makeDirectory, stat, targetOf } from '../files/paths.js';
import { rethrowWithPath } from '../files/rethrow-with-path.js';
import { syncToDisk } from '../files/sync-to-disk.js';
import { readTableEpisodes } from '../files/trajectory-table.js';
import { LINES } from '../shared-options.js';
import {
  bytesOf,
  type Entry,
  isBeginning,
  isWhole,
  SPENT_HEAD,
  spentIn,
  spentLine,
} from './journal-bytes.js';
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
  /** The grader and the sampling of this command, on which the answers of its language models depend. */
  readonly grader: Grader;
  readonly sampling: Sampling;
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

/** Returns the paths of the files that a journal may have beside the output. @param path of the output. */
export const journalFiles = (path: string): string[] =>
  [partialOf, lockOf].map((pathOf) => pathOf(targetOf(path)));

/**
 * Returns a line about the episodes that are kept after an interruption. @param path of the journal. @param all the
 * planned episodes, such as "6 episodes". @param answers whether answers of an unfinished episode are kept.
 */
export function keptText(path: string, kept: number, all: string, answers = false): string {
  if (kept === 0 && !answers) return `None of ${all} was finished.\n`;
  const what = kept === 0 ? `Answers of ${all}` : `${kept} of ${all}`;
  return `${what} ${kept === 1 ? 'is' : 'are'} kept in ${path}; the same command resumes from there.\n`;
}

/** A journal that is open and locked. */
export class Journal {
  readonly #path: string;
  readonly #option: string;
  readonly #check: JournalOptions['check'];
  readonly #format: RowFormat;
  readonly #unlock: () => void;
  readonly #answers: StoredAnswers;
  /** The stored episodes, by `episodeKey`. */
  readonly #entries = new Map<string, Entry>();
  #output: FileHandle | null = null;
  /** The new output, from `finish` on. */
  #written: Output | null = null;
  #partial!: FileHandle;
  /** The length of `OUTPUT.partial` in bytes, without an incomplete line. */
  #end = 0;
  /** Resolves when the last sync of `OUTPUT.partial` has ended; the sync that covers all lines written since it began. */
  #syncing: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | null = null;
  #finished = { episodes: 0, cost: 0 };
  #spent = 0;

  private constructor(
    { path, option = '--output', check, format = LINES, grader, sampling }: JournalOptions,
    unlock: () => void,
  ) {
    const run = createHash('sha256')
      .update(JSON.stringify([grader.weights, sampling]))
      .digest('hex');
    this.#answers = new StoredAnswers(
      run.slice(0, RUN_DIGITS),
      async (line) => void (await this.#append(line)),
    );
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

  /** The answers of unfinished episodes. */
  get answers(): AnswerLog & { readonly size: number } {
    return this.#answers;
  }

  /** Stores an episode. Once the promise resolves, no crash can lose it. */
  async append(episode: TrajectoryEpisode): Promise<void> {
    this.#entries.set(episodeKey(episode), await this.#append(episodeLine(episode)));
  }

  /** Stores the largest amount that may have been spent, so that a killed process cannot lose it. */
  noteSpent(dollars: number): void {
    this.#write(spentLine(dollars));
  }

  async #append(line: string): Promise<Entry> {
    const entry = this.#write(line);
    await this.#sync().catch(rethrowWithPath(this.partialPath));
    return entry;
  }

  /** Writes a line at the end of `OUTPUT.partial`. After a failure, none of it remains. */
  #write(line: string): Entry {
    const bytes = Buffer.from(line);
    const start = this.#end;
    const { fd } = this.#partial;
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(fd, bytes, done, bytes.length - done, start + done);
    } catch (error) {
      ftruncateSync(fd, start);
      rethrowWithPath(this.partialPath)(error);
    }
    this.#end = start + bytes.length;
    return { handle: this.#partial, start, end: this.#end - 1 };
  }

  /** Syncs all lines that were written so far. Calls during a sync share the next one. */
  #sync(): Promise<void> {
    this.#nextSync ??= this.#syncing
      .catch(() => {})
      .then(() => {
        this.#nextSync = null;
        this.#syncing = syncToDisk(this.#partial);
        return this.#syncing;
      });
    return this.#nextSync;
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
    await this.close();
  }

  /** Closes the files, keeps them for the next run, and releases the lock. An empty `OUTPUT.partial` is removed. */
  async close(): Promise<void> {
    const handles = [this.#output, this.#partial];
    this.#output = null;
    await this.#syncing.catch(() => {});
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
  }

  /** Copies the episodes of an output in Parquet to the journal. */
  async #copyTable(): Promise<void> {
    await using replayer = new EpisodeReplayer();
    for await (const { place, episode } of readTableEpisodes(this.#path, this.#path, replayer)) {
      if (!isEpisode(episode)) this.#refuse(episode, place);
      this.#addEntry(episode, this.#write(episodeLine(episode)), place);
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
      if (mayEndEarly && !span.whole && isBeginning(text) && !isWhole(text)) {
        await handle.truncate(span.start);
        return span.start;
      }
      if (!mayEndEarly || !this.#readOther(text, place)) {
        const episode = text === '' ? null : readEpisode(text);
        const start = span.start + markLength(bytes);
        if (episode !== null) this.#addEntry(episode, { handle, start, end: span.end }, place);
      }
      end = span.end + 1;
      if (mayEndEarly && !span.whole) await handle.write('\n', span.end);
    }
    return end;
  }

  /** Reads a line that has an answer or the amount spent. @returns false for any other line. @throws UsageError. */
  #readOther(text: string, place: string): boolean {
    if (text.startsWith(SPENT_HEAD)) this.#spent = spentIn(text, place);
    else if (!text.startsWith(ANSWER_HEAD)) return false;
    else if (!this.#answers.read(text)) {
      throw new UsageError(
        `Expected the answers in ${place} to be those of this --grader and these options of sampling, got others. ` +
          `Pass the original options, or pass another ${this.#option}.`,
      );
    }
    return true;
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
/** The number of hexadecimal digits by which answers name the grader and the sampling. */
const RUN_DIGITS = 16;
const isEpisode = (read: TrajectoryEpisode | BadEpisode | null): read is TrajectoryEpisode =>
  read !== null && !(read instanceof BadEpisode);
