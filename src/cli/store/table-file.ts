/** Writes Parquet files of trajectories, which can be read while they grow, or are written whole. */
import { type FileHandle, rm, stat as statOf, writeFile } from 'node:fs/promises';
import { type CompactEpisode, toCompact } from '../../rollouts/trajectories/compact-episode.js';
import {
  EPISODE_COLUMNS,
  type EpisodeRow,
  episodeTableOrigin,
  RowGroups,
  toEpisodeRow,
} from '../../rollouts/trajectories/episode-columns.js';
import { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode, parseEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import type { RowEncoder } from '../../shared/row-files/row-encoder.js';
import { UsageError } from '../command-errors.js';
import { isParquet } from '../files/file-kind.js';
import { type Committable, isStream, NewFile, type Output, openOutput } from '../files/output-file.js';
import { footerOf, partialOf, rethrowWithPath, stat } from '../files/paths.js';
import { readTable } from '../files/trajectory-table.js';

/** A file of trajectories while it is written. The same episodes in the same order give the same bytes. */
export interface EpisodeFile extends Committable {
  /** The number of episodes of an earlier run, with which the file begins. */
  readonly earlier: number;
  /** Writes episodes that this process played. */
  write(episodes: readonly TrajectoryEpisode[]): Promise<void>;
  /**
   * Writes stored lines, without line ends. In Parquet, an episode that differs from its replay is stored as its whole line.
   */
  writeLines(lines: readonly string[]): Promise<void>;
  /**
   * Closes an unfinished file, and frees the engine that replays. After `commit` it only frees the engine.
   * @returns the path of the file that keeps the episodes so far; null if they are not kept.
   */
  close(): Promise<string | null>;
}

/** Says which unfinished file, PATH.partial, an earlier run of the same command left. */
export interface EarlierRun {
  /** The option that names the output. */
  readonly option: string;
  /** Returns whether this run plays the episode at this index of the file. */
  readonly isOwn: (episode: CompactEpisode, index: number) => boolean;
  /** Whether the new file begins with these episodes. Otherwise they are only checked, and played again. */
  readonly continues: boolean;
}

/** Opens a Parquet file. @throws as `openEpisodeFile`. */
export async function openTableFile(
  path: string,
  format: RowFormat,
  run: EarlierRun | undefined,
): Promise<EpisodeFile> {
  const encoder = await format.open<EpisodeRow>(episodeTableOrigin(), EPISODE_COLUMNS);
  if (run === undefined || isStream(path)) return new TableFile(encoder, wholeFile(await openOutput(path)));
  const file = new TableFile(encoder, await PartialTable.create(path));
  try {
    for await (const episodes of earlierEpisodes(path, run)) {
      if (run.continues) await file.writeEarlier(episodes);
    }
    await file.keep();
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

/** Yields the episodes of PATH.partial, one list for each row group; nothing if there is no such file. @throws UsageError. */
async function* earlierEpisodes(
  path: string,
  { option, isOwn }: EarlierRun,
): AsyncGenerator<CompactEpisode[]> {
  const partial = partialOf(path);
  if (stat(partial) === null) return;
  const remedy = `Read it with reeval, move or remove it, or name another ${option}.`;
  if (!isParquet(partial)) {
    throw new UsageError(
      `Expected ${partial} to be an unfinished Parquet file, got a file of another run. ${remedy}`,
    );
  }
  let index = 0;
  for await (const rows of readTable(partial, partial)) {
    yield rows.map(({ place, compact }) => {
      if (!(compact instanceof BadEpisode) && isOwn(compact, index++)) return compact;
      const got = compact instanceof BadEpisode ? compact.message : 'an episode of another run';
      throw new UsageError(`Expected the episodes of this run in ${place}, got: ${got}. ${remedy}`);
    });
  }
}

/** The number of lines that are compared with their replay at once. Chosen by hand: more take more memory. */
const BATCH = 64;

/** A Parquet file, written by row groups. */
class TableFile implements EpisodeFile {
  earlier = 0;
  readonly #encoder: RowEncoder<EpisodeRow>;
  readonly #sink: Sink;
  readonly #groups = new RowGroups();
  readonly #replayer = new EpisodeReplayer();
  /** Lines that are not yet converted. */
  readonly #lines: string[] = [];
  readonly #footer: Footer = () => this.#encoder.end() as Uint8Array;
  #finished = false;

  constructor(encoder: RowEncoder<EpisodeRow>, sink: Sink) {
    this.#encoder = encoder;
    this.#sink = sink;
  }

  write(episodes: readonly TrajectoryEpisode[]): Promise<void> {
    return this.#add(episodes.map(toCompact));
  }

  async writeEarlier(episodes: readonly CompactEpisode[]): Promise<void> {
    await this.#add(episodes);
    this.earlier += episodes.length;
  }

  async writeLines(lines: readonly string[]): Promise<void> {
    this.#lines.push(...lines);
    while (this.#lines.length >= BATCH) await this.#convert();
  }

  async #convert(): Promise<void> {
    const episodes = this.#lines.splice(0, BATCH).map(parseEpisode);
    await this.#add(await this.#replayer.toCompact(episodes));
  }

  async #add(episodes: readonly CompactEpisode[]): Promise<void> {
    for (const episode of episodes) await this.#append(this.#groups.add(episode));
  }

  async #append(rows: readonly CompactEpisode[] | null): Promise<void> {
    if (rows === null || rows.length === 0) return;
    await this.#sink.append(this.#encoder.add(rows.map(toEpisodeRow)) as Uint8Array, this.#footer);
  }

  keep(): Promise<void> {
    return this.#sink.keep(this.#footer);
  }

  async finish(): Promise<void> {
    if (this.#finished) return;
    if (this.#lines.length > 0) await this.#convert();
    await this.#append(this.#groups.rest());
    await this.#sink.finish(this.#footer);
    this.#finished = true;
  }

  async commit(): Promise<void> {
    await this.finish();
    await this.#sink.commit();
  }

  async close(): Promise<string | null> {
    await this.#replayer[Symbol.asyncDispose]();
    if (this.#sink.keeps) await this.#append(this.#groups.rest());
    return this.#sink.close(this.#footer);
  }
}

/** Returns the footer of all row groups that the encoder has encoded. */
type Footer = () => Uint8Array;

/** The destination of a Parquet file's row groups. */
interface Sink {
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
const wholeFile = (output: Output): Sink => ({
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
class PartialTable implements Sink {
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
  static async create(path: string): Promise<PartialTable> {
    return new PartialTable(await NewFile.create(path));
  }

  /** Writes a group at once, unless writing footers would take much of the time: then with a later group, or at the end. */
  async append(group: Uint8Array, footer: Footer): Promise<void> {
    this.#pending.push(group);
    const { at, took } = this.#lastWrite;
    if (performance.now() - at >= took / WRITING_SHARE) await this.#write(footer());
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
    const groups = Buffer.concat(this.#pending);
    try {
      if (last !== null) {
        if (this.#isNamed) await writeFile(footerOf(this.path), last);
        await handle.truncate(this.#end);
      }
      await writeAt(handle, Buffer.concat([groups, footer]), this.#end);
    } catch (error) {
      if (last !== null) await this.#restore(last).catch(() => {});
      rethrowWithPath(this.path)(error);
    }
    this.#pending = [];
    this.#end += groups.length;
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

async function writeAt(handle: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
  }
}
