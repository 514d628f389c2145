/**
 * A journal of paid answers and episodes. Each answer of an unfinished episode and each finished episode is a line of
 * `OUTPUT.partial`, synced to disk as soon as it comes; further lines have the amount spent. The next run of the same command
 * reuses the answers and episodes of that file and the episodes of OUTPUT. When all episodes are finished, they replace OUTPUT
 * atomically.
 */
import { createHash } from 'node:crypto';
import { createReadStream, ftruncateSync, writeSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AnswerLog } from '../../agents/llm/language-model.js';
import { ANSWER_HEAD, SPENT_HEAD, StoredAnswers } from '../../agents/llm/stored-answers.js';
import type { Grader } from '../../engine/graders/grader.js';
import type { Sampling, TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import {
  BadEpisode,
  episodeKey,
  episodeLine,
  parseEpisode,
  readEpisode,
} from '../../rollouts/trajectories/trajectory-lines.js';
import { LINES, type RowFormat } from '../../shared/row-files/file-formats.js';
import { SCHEMAS } from '../../shared/schemas.js';
import { UsageError } from '../command-errors.js';
import { isParquet } from '../files/file-kind.js';
import { type Line, LineIndex, readLines, type StoredLine, textOf } from '../files/lines.js';
import { syncToDisk } from '../files/output-file.js';
import { makeDirectory, partialOf, rethrowWithPath, stat, targetOf } from '../files/paths.js';
import { openEpisodeFile } from './episode-file.js';
import type { EpisodeFile } from './growing-file.js';
import { lock } from './lock.js';

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

/** The number of hexadecimal digits by which answers name the grader and the sampling. */
const RUN_DIGITS = 16;

/** A journal that is open and locked. */
export class Journal {
  /** The file of episodes while the work is unfinished. */
  readonly partialPath: string;
  readonly #options: JournalOptions;
  readonly #unlock: () => void;
  readonly #answers: StoredAnswers;
  /** The lines of the stored episodes, by `episodeKey`. */
  readonly #lines = new LineIndex();
  #output: FileHandle | null = null;
  /** The new output, from `finish` on. */
  #written: EpisodeFile | null = null;
  #partial!: FileHandle;
  /** The length of `OUTPUT.partial` in bytes, without an incomplete line. */
  #end = 0;
  /** Resolves when the last sync of `OUTPUT.partial` has ended; the sync that covers all lines written since it began. */
  #syncing: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | null = null;
  #finished = { episodes: 0, cost: 0 };
  #spent = 0;

  private constructor(options: JournalOptions, unlock: () => void) {
    const { path, grader, sampling } = options;
    const run = createHash('sha256')
      .update(JSON.stringify([grader.weights, sampling]))
      .digest('hex');
    this.#answers = new StoredAnswers(
      run.slice(0, RUN_DIGITS),
      async (line) => void (await this.#append(line)),
    );
    this.partialPath = partialOf(path);
    this.#options = options;
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
    return this.#lines.size;
  }

  /** Returns whether an episode is stored. @param key as `episodeKey` returns it. */
  has(key: string): boolean {
    return this.#lines.has(key);
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
    this.#lines.add(episodeKey(episode), await this.#append(episodeLine(episode)));
  }

  /** Stores the largest amount that may have been spent, so that a killed process cannot lose it. */
  noteSpent(dollars: number): void {
    this.#write(`${JSON.stringify({ spent_usd: dollars })}\n`);
  }

  async #append(line: string): Promise<StoredLine> {
    const stored = this.#write(line);
    await this.#sync().catch(rethrowWithPath(this.partialPath));
    return stored;
  }

  /** Writes a line at the end of `OUTPUT.partial`. After a failure, none of it remains. */
  #write(line: string): StoredLine {
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
    for await (const line of this.#lines.read(keys)) yield parseEpisode(line);
  }

  /**
   * Writes the stored episodes to the new output, which `commit` moves to its place: the episodes of `keys` in that order, after
   * all other episodes. If `OUTPUT.partial` is empty, the output stays as it is.
   */
  async finish(keys: readonly string[]): Promise<void> {
    if (this.#end === 0) return;
    const { path, format = LINES } = this.#options;
    const ordered = new Set(keys);
    const others = this.#lines.keys.filter((key) => !ordered.has(key));
    this.#written = await openEpisodeFile(path, format);
    for await (const line of this.#lines.read([...others, ...keys])) await this.#written.writeLines([line]);
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
    await this.#written?.close();
    this.#written = null;
    for (const handle of handles) await handle?.close();
    if (this.#end === 0 && stat(this.partialPath)?.size === 0) await rm(this.partialPath);
    this.#unlock();
  }

  async #read(): Promise<void> {
    const { path } = this.#options;
    const isTable = isParquet(path);
    if (!isTable && stat(path) !== null) {
      this.#output = await open(path, 'r');
      for await (const line of linesOf(path)) this.#addLine(line, this.#output, path);
    }
    const exists = stat(this.partialPath) !== null;
    this.#partial = await open(this.partialPath, exists ? 'r+' : 'wx+');
    await this.#readPartial();
    if (isTable) await this.#copyTable(path);
  }

  /** Reads the lines of `OUTPUT.partial`. Removes an incomplete last line, and adds a missing last line end. */
  async #readPartial(): Promise<void> {
    const handle = this.#partial;
    const { size } = await handle.stat();
    for await (const line of linesOf(this.partialPath)) {
      const { text, number, start, end } = line;
      const isLast = end === size;
      if (isLast && isCutOff(await textOf({ handle, start, end }))) return handle.truncate(start);
      const place = `${this.partialPath}:${number}`;
      if (text?.startsWith(SPENT_HEAD)) this.#spent = spentIn(text, place);
      else if (text?.startsWith(ANSWER_HEAD)) this.#addAnswer(text, place);
      else this.#addLine(line, handle, this.partialPath);
      this.#end = end + 1;
      if (isLast) await handle.write('\n', end);
    }
  }

  /** Copies the episodes of an output in Parquet to the journal. */
  async #copyTable(path: string): Promise<void> {
    // Loaded only if the output is a Parquet file.
    const { readTableFile } = await import('../files/trajectory-table.js');
    for await (const { place, episode } of readTableFile(path)) {
      this.#addEpisode(episode, place, (valid) => this.#write(episodeLine(valid)));
    }
    await syncToDisk(this.#partial);
  }

  #addLine({ text, problem, number, start, end }: Line, handle: FileHandle, path: string): void {
    if (text === '') return;
    const episode = text === null ? new BadEpisode('corrupt', problem!) : readEpisode(text);
    this.#addEpisode(episode, `${path}:${number}`, () => ({ handle, start, end }));
  }

  #addAnswer(text: string, place: string): void {
    if (this.#answers.read(text)) return;
    throw new UsageError(
      `Expected the answers in ${place} to be those of this --grader and these options of sampling, got others. ` +
        `Pass the original options, or pass another ${this.#option}.`,
    );
  }

  /** Registers an episode. @param store returns its line. @throws UsageError for a fault, and as `check`. */
  #addEpisode(
    episode: TrajectoryEpisode | BadEpisode,
    place: string,
    store: (episode: TrajectoryEpisode) => StoredLine,
  ): void {
    if (episode instanceof BadEpisode) {
      throw new UsageError(
        `Expected an episode at ${place}, got: ${episode.message} Remove that line or row, or pass another ${this.#option}.`,
      );
    }
    this.#options.check(episode, place);
    const line = store(episode);
    const key = episodeKey(episode);
    // A crash between writing the output and removing the journal leaves an episode in both.
    if (this.has(key)) return;
    this.#lines.add(key, line);
    const { cost_usd: cost } = episode.usage ?? {};
    if (cost === undefined) return;
    this.#finished = { episodes: this.#finished.episodes + 1, cost: this.#finished.cost + cost };
  }

  get #option(): string {
    return this.#options.option ?? '--output';
  }
}

const linesOf = (path: string): AsyncGenerator<Line> =>
  readLines(createReadStream(path), Number.POSITIVE_INFINITY);

/** The beginning of an episode's line, up to the name of its schema. */
const EPISODE_HEAD = JSON.stringify({ schema: { name: SCHEMAS.trajectory.name } }).slice(0, -2);

/** Returns whether a text is the beginning of a journal's line. A crash may leave zero bytes at its end. */
function isCutOff(text: string): boolean {
  const written = text.replace(/\0+$/, '');
  const isBeginning = [EPISODE_HEAD, ANSWER_HEAD, SPENT_HEAD].some(
    (head) => written.startsWith(head) || head.startsWith(written),
  );
  return isBeginning && !isJson(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the amount in a line. @throws UsageError for a line with another text. */
function spentIn(line: string, place: string): number {
  const amount = /^\{"spent_usd":([\d.e+-]+)\}$/.exec(line)?.[1];
  if (amount !== undefined && Number.isFinite(Number(amount))) return Number(amount);
  throw new UsageError(
    `Expected ${place} to hold the amount spent, got something else. Write {"spent_usd":0} there, with the right amount instead of 0.`,
  );
}
