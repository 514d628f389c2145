/**
 * Episodes that were paid for, kept as they end: each is a line of `OUTPUT.partial`, on the disk before the next is
 * waited for. Whoever does the same work again takes from there, and from OUTPUT, what is there. When all is done OUTPUT
 * takes it over, whole or not at all.
 */
import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { SCHEMAS } from '../../schemas.js';
import type { TrajectoryEpisode } from '../../trajectory/episode.js';
import { episodeKey, episodeLine } from '../../trajectory/line.js';
import { BadEpisode, parseEpisode, readEpisode } from '../../trajectory/read.js';
import { UsageError } from '../failure.js';
import { naming } from '../files/file-fault.js';
import { type LineSpan, lineSpans } from '../files/line-spans.js';
import { openOutput, stat, targetOf } from '../files/output-file.js';
import { lock, lockOf } from './lock.js';

export interface JournalOptions {
  /** The output: a file, which need not be there. */
  readonly path: string;
  /** The option that names it. Default --output. */
  readonly option?: string;
  /** Refuses an episode that this work would not have made. @throws UsageError that names the place. */
  readonly check: (episode: TrajectoryEpisode, place: string) => void;
}

/** Refuses what no journal can be kept beside. @param payer what wants one, as an error names it. @throws UsageError. */
export function checkJournal(option: string, path: string, payer: string): void {
  const there = path === '-' ? null : stat(path);
  if (path !== '-' && (there === null || there.isFile())) return;
  throw new UsageError(
    `Expected ${option} to be a file with ${payer}, got ${path}: what was paid for is kept beside it. Name a file.`,
  );
}

const partialOf = (path: string): string => `${path}.partial`;
const spentOf = (path: string): string => `${path}.spent`;

/** The files that a journal keeps until its output is whole. @param path the output's. */
export const journalFiles = (path: string): string[] =>
  [partialOf, spentOf, lockOf].map((nameOf) => nameOf(targetOf(path)));

/** What work that was interrupted leaves, as a line. @param place the journal's. @param all what it was to make: "6 episodes". */
export const keptText = (place: string, kept: number, all: string): string =>
  kept === 0
    ? `Of ${all} none was finished.\n`
    : `${kept} of ${all} ${kept === 1 ? 'is' : 'are'} kept in ${place}; the same command goes on from there.\n`;

/** Where an episode's line stands, without its end. */
interface Entry extends LineSpan {
  readonly handle: FileHandle;
}

/** Wide enough for any amount, so that it is written over in place. */
const AMOUNT_WIDTH = 64;

export class Journal {
  readonly #path: string;
  readonly #option: string;
  readonly #check: JournalOptions['check'];
  readonly #unlock: () => void;
  readonly #entries = new Map<string, Entry>();
  #output: FileHandle | null = null;
  #partial!: FileHandle;
  #end = 0;
  #amounts: number | null = null;
  #finished = { weeks: 0, cost: 0 };
  #spent = 0;

  private constructor({ path, option = '--output', check }: JournalOptions, unlock: () => void) {
    this.#path = path;
    this.#option = option;
    this.#check = check;
    this.#unlock = unlock;
  }

  /**
   * Reads what is there. A last line that was cut off is cut away; its week is played again.
   * @throws UsageError for lines that are no episodes, or none of this work, or where another process works on it; then
   *   nothing is changed.
   */
  static async open(options: JournalOptions): Promise<Journal> {
    // Whoever comes by another name works on the same.
    const path = targetOf(options.path);
    const journal = new Journal({ ...options, path }, lock(path));
    try {
      await journal.#read();
    } catch (error) {
      await journal.close();
      throw error;
    }
    return journal;
  }

  /** The episodes that are there. */
  get size(): number {
    return this.#entries.size;
  }

  /** @param key of `episodeKey`. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Weeks that were there when it was opened and say what they cost, and what that was, in dollars. */
  get finished(): { readonly weeks: number; readonly cost: number } {
    return this.#finished;
  }

  /** Dollars that this work had spent when it was opened, with what lost requests may have cost. */
  get spent(): number {
    return Math.max(this.#spent, this.#finished.cost);
  }

  /** Keeps an episode: when this settles, no crash can lose it. */
  async append(episode: TrajectoryEpisode): Promise<void> {
    const line = Buffer.from(episodeLine(episode));
    const start = this.#end;
    await writeAt(this.#partial, start, line).catch(naming(this.partialPath));
    this.#end = start + line.length;
    this.#entries.set(episodeKey(episode), { handle: this.#partial, start, end: this.#end - 1 });
  }

  /** Notes, at once, what will have been spent at the most; `OUTPUT.spent` has it until the work is done. */
  noteSpent(dollars: number): void {
    // Never cut to nothing first: it says something whenever the process may end.
    this.#amounts ??= openSync(this.#spentPath, constants.O_WRONLY | constants.O_CREAT, 0o666);
    const text = JSON.stringify({ spent_usd: dollars });
    try {
      writeSync(this.#amounts, `${text.padEnd(AMOUNT_WIDTH - 1)}\n`, 0);
    } catch (error) {
      naming(this.#spentPath)(error);
    }
  }

  /** The episodes of these keys that are there, in their order, one at a time. */
  async *read(keys: Iterable<string>): AsyncGenerator<TrajectoryEpisode> {
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) yield parseEpisode((await bytesOf(entry)).toString());
    }
  }

  /** Puts all that is there in the output's place: the episodes of `keys` in that order, after any others. */
  async finish(keys: readonly string[]): Promise<void> {
    if (this.#end > 0) {
      const asked = new Set(keys);
      const others = [...this.#entries.keys()].filter((key) => !asked.has(key));
      await this.#write([...others, ...keys]);
      await rm(this.partialPath, { force: true });
    }
    rmSync(this.#spentPath, { force: true });
    await this.close();
  }

  /** Leaves what is there for another time; no file where there is nothing. */
  async close(): Promise<void> {
    const handles = [this.#output, this.#partial];
    if (this.#amounts !== null) closeSync(this.#amounts);
    [this.#output, this.#amounts] = [null, null];
    for (const handle of handles) await handle?.close();
    if (this.#end === 0 && stat(this.partialPath)?.size === 0) await rm(this.partialPath);
    this.#unlock();
  }

  /** Where episodes are kept until all are there. */
  get partialPath(): string {
    return partialOf(this.#path);
  }

  get #spentPath(): string {
    return spentOf(this.#path);
  }

  async #write(keys: readonly string[]): Promise<void> {
    const output = await openOutput(this.#path);
    try {
      for (const key of keys) {
        const entry = this.#entries.get(key);
        if (entry !== undefined) await output.write(Buffer.concat([await bytesOf(entry), LINE_END]));
      }
      await output.commit();
    } finally {
      await output.discard();
    }
  }

  async #read(): Promise<void> {
    if (stat(this.#path) !== null) {
      this.#output = await open(this.#path, 'r');
      await this.#take(this.#output, this.#path, false);
    }
    const there = stat(this.partialPath) !== null;
    this.#partial = await open(this.partialPath, there ? 'r+' : 'wx+');
    this.#end = await this.#take(this.#partial, this.partialPath, true);
    this.#spent = readAmount(this.#spentPath);
  }

  /** Notes the episodes of a file. @returns where its last whole line ends; a line without its end may be `torn`. */
  async #take(handle: FileHandle, path: string, torn: boolean): Promise<number> {
    let end = 0;
    let number = 0;
    for await (const span of lineSpans(handle)) {
      const place = `${path}:${++number}`;
      const text = (await bytesOf({ handle, ...span })).toString();
      const episode = text === '' ? null : readEpisode(text);
      if (torn && !span.whole && mayBeTorn(text) && !isEpisode(episode)) {
        await handle.truncate(span.start);
        return span.start;
      }
      if (episode !== null) this.#note(episode, { handle, ...span }, place);
      end = span.end + 1;
      if (torn && !span.whole) await handle.write('\n', span.end);
    }
    return end;
  }

  #note(episode: TrajectoryEpisode | BadEpisode, entry: Entry, place: string): void {
    if (!isEpisode(episode)) {
      throw new UsageError(
        `Expected an episode at ${place}, got: ${episode!.message} Remove that line, or pass another ${this.#option}.`,
      );
    }
    this.#check(episode, place);
    const key = episodeKey(episode);
    // In both files after a crash between writing the one and removing the other.
    if (this.#entries.has(key)) return;
    this.#entries.set(key, entry);
    const { cost_usd: cost } = episode.usage ?? {};
    if (cost === undefined) return;
    this.#finished = { weeks: this.#finished.weeks + 1, cost: this.#finished.cost + cost };
  }
}

const LINE_END = Buffer.from('\n');
/** How every episode's line begins. */
const LINE_HEAD = JSON.stringify({ schema: { name: SCHEMAS.trajectory.name } }).slice(0, -2);

/** Whether it is the beginning of an episode's line, with zeros where a system that crashed wrote nothing. */
function mayBeTorn(text: string): boolean {
  const written = text.replace(/\0+$/, '');
  return written.startsWith(LINE_HEAD) || LINE_HEAD.startsWith(written);
}

/** Writes to the disk: when this settles, it is there. */
async function writeAt(handle: FileHandle, start: number, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
  }
  await handle.sync();
}

async function bytesOf({ handle, start, end }: Entry): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0)
      throw new UsageError('Expected nobody else to write to the output meanwhile. Try again.');
    done += bytesRead;
  }
  return bytes;
}

const isEpisode = (read: TrajectoryEpisode | BadEpisode | null): read is TrajectoryEpisode =>
  read !== null && !(read instanceof BadEpisode);

/** 0 where there is no file. @throws UsageError for a file that says nothing. */
function readAmount(path: string): number {
  if (stat(path) === null) return 0;
  const text = readFileSync(path, 'utf8').trim();
  if (text === '') return 0;
  const amount = /^\{"spent_usd":([\d.e+-]+)\}$/.exec(text)?.[1];
  if (amount !== undefined && Number.isFinite(Number(amount))) return Number(amount);
  throw new UsageError(
    `Expected ${path} to say what was spent, got something else. Write {"spent_usd":0} into it, with the amount.`,
  );
}
