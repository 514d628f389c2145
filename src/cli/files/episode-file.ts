/** Writes files of trajectories, as JSON lines or as Parquet. */
import { type CompactEpisode, toCompact } from '../../rollouts/trajectories/compact-episode.js';
import {
  EPISODE_COLUMNS,
  type EpisodeRow,
  episodeTableOrigin,
  RowGroups,
  toEpisodeRow,
} from '../../rollouts/trajectories/episode-columns.js';
import { EpisodeReplayer, type ReplayEngine } from '../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { episodeLine, parseEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import type { RowEncoder } from '../../shared/row-files/row-encoder.js';
import { type Committable, type Output, openOutput } from './output-file.js';
import { PartialFile } from './partial-file.js';
import { stat } from './paths.js';

/** A file of trajectories while it is written. The same episodes in the same order give the same bytes. */
export interface EpisodeFile extends Committable {
  /** Writes episodes that this process played. */
  write(episodes: readonly TrajectoryEpisode[]): Promise<void>;
  /** Writes compact episodes: as they are to Parquet, and replayed to JSON lines. */
  writeCompact(compact: readonly CompactEpisode[]): Promise<void>;
  /**
   * Renames an unfinished Parquet file to PATH.partial, and so replaces an earlier PATH.partial. Write the episodes of the
   * earlier file to the new one before.
   */
  publish(): Promise<void>;
  /**
   * Closes an unfinished file, and frees the engine that replays. After `commit` it only frees the engine.
   * @returns the path of the file that keeps the episodes so far; null if they are not kept.
   */
  close(): Promise<string | null>;
}

export interface EpisodeFileOptions {
  /** The engine that replays compact episodes for JSON lines. */
  readonly engine?: ReplayEngine;
  /**
   * When an unfinished Parquet file gets the name PATH.partial: 'begin': with its first row group; 'publish': when `publish`
   * is called; 'never': for episodes that are also kept elsewhere. Default 'begin'.
   */
  readonly partial?: 'begin' | 'publish' | 'never';
}

/**
 * Opens a file of trajectories. By default an unfinished Parquet file is named PATH.partial; it has whole row groups even if
 * the process is killed. The standard output, pipes and devices have no PATH.partial.
 * @param path as `checkOutput` accepted it. @throws LibraryError `library_missing`.
 */
export async function openEpisodeFile(
  path: string,
  format: RowFormat,
  { engine, partial = 'begin' }: EpisodeFileOptions = {},
): Promise<EpisodeFile> {
  if (format.name === 'jsonl') return new LineFile(await openOutput(path), engine);
  const encoder = await format.open<EpisodeRow>(episodeTableOrigin(), EPISODE_COLUMNS);
  const target = stat(path);
  const isFile = path !== '-' && (target === null || target.isFile());
  const sink =
    isFile && partial !== 'never' ? await PartialFile.open(path) : new WholeFile(await openOutput(path));
  return new GroupFile(encoder, sink, partial === 'begin');
}

/** The number of episodes that are compared with their replay at once. Chosen by hand: more take more memory. */
const BATCH = 64;

/**
 * Opens an output that takes lines of trajectories, in pieces of any size, and writes them atomically, in the given format. In
 * Parquet, an episode that differs from its replay is stored as its whole line.
 * Each line must have a line end: Parquet omits a last line without one. Call `discard` after `commit` too: it frees memory.
 * @param path as `checkOutput` accepted it. @throws LibraryError `library_missing`.
 */
export async function openLinesOutput(path: string, format: RowFormat): Promise<Output> {
  return format.name === 'jsonl'
    ? openOutput(path)
    : new TableOutput(await openEpisodeFile(path, format, { partial: 'never' }));
}

/** Converts lines of trajectories to Parquet, BATCH lines at a time. */
class TableOutput implements Output {
  readonly #file: EpisodeFile;
  readonly #replayer = new EpisodeReplayer();
  readonly #decoder = new TextDecoder();
  #lines: string[] = [];
  #rest = '';

  constructor(file: EpisodeFile) {
    this.#file = file;
  }

  async write(data: string | Uint8Array): Promise<void> {
    const text = typeof data === 'string' ? data : this.#decoder.decode(data, { stream: true });
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop()!;
    this.#lines.push(...lines);
    while (this.#lines.length >= BATCH) await this.#convert();
  }

  async #convert(): Promise<void> {
    const episodes = this.#lines.splice(0, BATCH).map(parseEpisode);
    await this.#file.writeCompact(await this.#replayer.toCompact(episodes));
  }

  async finish(): Promise<void> {
    if (this.#lines.length > 0) await this.#convert();
    await this.#file.finish();
  }

  async commit(): Promise<void> {
    await this.finish();
    await this.#file.commit();
  }

  async discard(): Promise<void> {
    await this.#replayer[Symbol.asyncDispose]();
    await this.#file.close();
  }
}

/** A file of JSON lines. */
class LineFile implements EpisodeFile {
  readonly #output: Output;
  readonly #replayer: EpisodeReplayer;

  constructor(output: Output, engine?: ReplayEngine) {
    this.#output = output;
    this.#replayer = new EpisodeReplayer(engine);
  }

  write(episodes: readonly TrajectoryEpisode[]): Promise<void> {
    return this.#output.write(episodes.map(episodeLine).join(''));
  }

  async writeCompact(compact: readonly CompactEpisode[]): Promise<void> {
    await this.write(await this.#replayer.fromCompact(compact));
  }

  async publish(): Promise<void> {}

  finish(): Promise<void> {
    return this.#output.finish();
  }

  commit(): Promise<void> {
    return this.#output.commit();
  }

  async close(): Promise<null> {
    await this.#replayer[Symbol.asyncDispose]();
    await this.#output.discard();
    return null;
  }
}

/** Returns the footer of all row groups that the encoder has encoded. */
type Footer = () => Uint8Array;

/** The destination of a Parquet file's row groups. */
type Sink = Pick<PartialFile, 'append' | 'publish' | 'finish' | 'commit' | 'end' | 'path'>;

/** A file that is written whole or not at all, or a stream. */
class WholeFile implements Sink {
  readonly path = '';
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  append(group: Uint8Array): Promise<void> {
    return this.#output.write(group);
  }

  async publish(): Promise<void> {}

  async finish(footer: Footer): Promise<void> {
    await this.#output.write(footer());
    await this.#output.finish();
  }

  commit(): Promise<void> {
    return this.#output.commit();
  }

  async end(): Promise<boolean> {
    await this.#output.discard();
    return false;
  }
}

/** A Parquet file, written by row groups. */
class GroupFile implements EpisodeFile {
  readonly #encoder: RowEncoder<EpisodeRow>;
  readonly #groups = new RowGroups();
  readonly #sink: Sink;
  readonly #footer: Footer;
  /** Whether the unfinished file has the name PATH.partial, or gets it with its first row group. */
  #published: boolean;
  #finished = false;

  constructor(encoder: RowEncoder<EpisodeRow>, sink: Sink, published: boolean) {
    this.#encoder = encoder;
    this.#sink = sink;
    this.#published = published;
    this.#footer = () => encoder.end() as Uint8Array;
  }

  write(episodes: readonly TrajectoryEpisode[]): Promise<void> {
    return this.writeCompact(episodes.map(toCompact));
  }

  async writeCompact(compact: readonly CompactEpisode[]): Promise<void> {
    for (const episode of compact) await this.#append(this.#groups.add(episode));
  }

  async #append(rows: readonly CompactEpisode[] | null): Promise<void> {
    if (rows === null || rows.length === 0) return;
    await this.#sink.append(this.#encoder.add(rows.map(toEpisodeRow)) as Uint8Array, this.#footer);
    if (this.#published) await this.#sink.publish(this.#footer);
  }

  async publish(): Promise<void> {
    this.#published = true;
    await this.#sink.publish(this.#footer);
  }

  async finish(): Promise<void> {
    if (this.#finished) return;
    await this.#append(this.#groups.rest());
    await this.#sink.finish(this.#footer);
    this.#finished = true;
  }

  async commit(): Promise<void> {
    await this.finish();
    await this.#sink.commit();
  }

  async close(): Promise<string | null> {
    if (this.#published) await this.#append(this.#groups.rest());
    return (await this.#sink.end(this.#footer, this.#published)) ? this.#sink.path : null;
  }
}
