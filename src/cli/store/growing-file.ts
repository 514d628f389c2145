/** A file of trajectories while it is written: whole or not at all, or as PATH.partial, which a killed run leaves. */
import { type FileHandle, rm, stat as statOf, writeFile } from 'node:fs/promises';
import type { CompactEpisode } from '../../rollouts/trajectories/compact-episode.js';
import type { Player, TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import type { BadEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { UsageError } from '../command-errors.js';
import { type Committable, NewFile, type Output } from '../files/output-file.js';
import { footerOf, partialOf, rethrowWithPath } from '../files/paths.js';

/** A file of trajectories while it is written. The same episodes in the same order give the same bytes. */
export abstract class EpisodeFile implements Committable {
  /** The number of episodes of an earlier run, with which the file begins. */
  earlier = 0;
  protected readonly sink: Sink;
  #isFinished = false;

  constructor(sink: Sink) {
    this.sink = sink;
  }

  /** Writes episodes that this process played. */
  abstract write(episodes: readonly TrajectoryEpisode[]): Promise<void>;
  /**
   * Writes stored lines, without line ends. In Parquet, an episode that differs from its replay is stored as its whole line.
   */
  abstract writeLines(lines: readonly string[]): Promise<void>;
  /** Yields the episodes of an unfinished file. @throws UsageError for a file of another format. */
  abstract read(partial: string): AsyncGenerator<EarlierEpisode>;
  /** Passes the rest of the written episodes to the sink. */
  protected abstract flush(): Promise<void>;
  protected abstract readonly footer: Footer;

  /** Names the file PATH.partial from here on. */
  keep(): Promise<void> {
    return this.sink.keep(this.footer);
  }

  async finish(): Promise<void> {
    if (this.#isFinished) return;
    await this.flush();
    await this.sink.finish(this.footer);
    this.#isFinished = true;
  }

  async commit(): Promise<void> {
    await this.finish();
    await this.sink.commit();
  }

  /**
   * Closes an unfinished file, and frees the engine that replays. After `commit` it only frees the engine.
   * @returns the path of the file that keeps the episodes so far; null if they are not kept.
   */
  close(): Promise<string | null> {
    return this.sink.close(this.footer);
  }
}

/** What identifies a stored episode, and its results. */
export type EpisodeHead = Player &
  Pick<CompactEpisode, 'version' | 'condition' | 'profile_mode' | 'seed' | 'grader' | 'final'>;

/** An episode of an unfinished file, or its fault. */
export interface EarlierEpisode {
  /** File and number of the line or row. */
  readonly place: string;
  readonly episode: EpisodeHead | BadEpisode;
  /** Writes the episode to the new file. */
  copy(): Promise<void>;
}

/** Returns the footer of all parts so far. */
export type Footer = () => Uint8Array;
/** The footer of JSON lines. */
export const NO_FOOTER: Footer = () => new Uint8Array();

/** The destination of a file's parts: row groups of Parquet, or lines, which have an empty footer. */
export interface Sink {
  /** Whether the unfinished file stays after an interruption. */
  readonly keeps: boolean;
  append(group: Uint8Array, footer: Footer): Promise<void>;
  /** Keeps the file from here on. */
  keep(footer: Footer): Promise<void>;
  /** Writes all groups and the footer, and does everything that may fail before `commit`. */
  finish(footer: Footer): Promise<void>;
  /** Moves the finished file to its place. */
  commit(): Promise<void>;
  /** Closes an unfinished file. Does nothing after `commit`. @returns its path if it stays; else null. */
  close(footer: Footer): Promise<string | null>;
}

/** A file that is written whole or not at all, or a stream. */
export const wholeFile = (output: Output): Sink => ({
  keeps: false,
  append: (group) => output.write(group),
  keep: async () => {},
  finish: async (footer) => {
    await output.write(footer());
    await output.finish();
  },
  commit: () => output.commit(),
  close: async () => {
    await output.discard();
    return null;
  },
});

/**
 * Pending groups are written if the last write took less than this share of the time since its end. Chosen by hand: a larger
 * share takes more time for footers; with a smaller one a kill loses more groups.
 */
const WRITING_SHARE = 0.05;

/**
 * An unfinished file. From `keep` on it is named PATH.partial. Each write replaces the last footer by row groups and a footer
 * for all groups so far. During the write PATH.partial.footer has the last footer, so that a kill loses no written group. The
 * finished file is renamed to PATH.
 */
export class PartialFile implements Sink {
  /** The path of the unfinished file. */
  readonly path: string;
  keeps = false;
  readonly #file: NewFile;
  /** Groups that are not yet written. */
  #pending: Uint8Array[] = [];
  /** The number of bytes of all written groups. */
  #end = 0;
  /** The last footer; null before the first write. */
  #footer: Uint8Array | null = null;
  /** When the last write ended, and its duration, in milliseconds. */
  #lastWrite = { at: performance.now(), took: 0 };
  #isNamed = false;
  #isCommitted = false;

  private constructor(file: NewFile) {
    this.#file = file;
    this.path = partialOf(file.target);
  }

  /** Creates the file under a temporary name. @param path of a file, which need not exist. */
  static async create(path: string): Promise<PartialFile> {
    return new PartialFile(await NewFile.create(path));
  }

  /** Writes a group at once, unless writing footers would take much of the time: then with a later group, or at the end. */
  async append(group: Uint8Array, footer: Footer): Promise<void> {
    this.#pending.push(group);
    const { at, took } = this.#lastWrite;
    if (footer === NO_FOOTER || performance.now() - at >= took / WRITING_SHARE) await this.#write(footer());
    if (this.keeps) await this.#giveName(footer);
  }

  async keep(footer: Footer): Promise<void> {
    this.keeps = true;
    await this.#giveName(footer);
  }

  /** Names the file PATH.partial, which replaces any file of that name. Does nothing without groups. */
  async #giveName(footer: Footer): Promise<void> {
    if (this.#isNamed) return;
    if (this.#pending.length > 0) await this.#write(footer());
    if (this.#footer === null) return;
    this.#isNamed = true;
    await this.#file.moveTo(this.path);
  }

  async #write(footer: Uint8Array): Promise<void> {
    const from = performance.now();
    const [{ handle }, last] = [this.#file, this.#footer];
    let end = this.#end;
    try {
      if (last !== null) {
        if (this.#isNamed && last.length > 0) await writeFile(footerOf(this.path), last);
        await handle.truncate(this.#end);
      }
      for (const group of this.#pending) end = await writeAt(handle, group, end);
      await writeAt(handle, footer, end);
    } catch (error) {
      if (last !== null) await this.#restore(last).catch(() => {});
      rethrowWithPath(this.path)(error);
    }
    this.#pending = [];
    this.#end = end;
    this.#footer = footer;
    this.#lastWrite = { at: performance.now(), took: performance.now() - from };
  }

  /** Removes what a failed write left, and writes the last footer again. */
  async #restore(footer: Uint8Array): Promise<void> {
    await this.#file.handle.truncate(this.#end);
    await writeAt(this.#file.handle, footer, this.#end);
  }

  async finish(footer: Footer): Promise<void> {
    await this.#write(footer());
    await this.#file.sync();
    await this.#checkName();
  }

  async commit(): Promise<void> {
    await this.#checkName();
    await this.#file.close();
    await this.#file.moveTo(this.#file.target);
    this.#isCommitted = true;
    if (this.#isNamed) await rm(footerOf(this.path), { force: true });
  }

  /** Checks that no other process replaced PATH.partial. @throws UsageError. */
  async #checkName(): Promise<void> {
    if (!this.#isNamed) return;
    const [own, named] = [await this.#file.handle.stat(), await statOf(this.path).catch(() => null)];
    if (named?.ino === own.ino && named.dev === own.dev) return;
    throw new UsageError(
      `Expected ${this.path} to be the file of this process, but another process replaced it. Run one command for an output at a time.`,
    );
  }

  async close(footer: Footer): Promise<string | null> {
    if (this.#isCommitted) return null;
    try {
      if (this.keeps) await this.#giveName(footer);
      if (this.#isNamed && this.#pending.length > 0) await this.#write(footer());
      if (this.#isNamed) await rm(footerOf(this.path), { force: true });
      return this.#isNamed ? this.path : null;
    } finally {
      await this.#file.discard();
    }
  }
}

/** Returns the offset after the bytes. */
async function writeAt(handle: FileHandle, bytes: Uint8Array, start: number): Promise<number> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
  }
  return start + bytes.length;
}
