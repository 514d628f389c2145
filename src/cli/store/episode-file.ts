/** Writes files of trajectories, as JSON lines or as Parquet. */
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
import { BadEpisode, episodeLine, parseEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import type { RowFormat } from '../../shared/row-files/file-formats.js';
import { LINES } from '../../shared/row-files/file-formats.js';
import type { RowEncoder } from '../../shared/row-files/row-encoder.js';
import { UsageError } from '../command-errors.js';
import { isParquet } from '../files/file-kind.js';
import { type Committable, isStream, type Output, openOutput } from '../files/output-file.js';
import { partialOf, stat } from '../files/paths.js';
import { readTable } from '../files/trajectory-table.js';
import { type Footer, PartialTable, type Sink, wholeFile } from './partial-table.js';

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

/**
 * Opens a file of trajectories. JSON lines are written whole or not at all. With `run`, an unfinished Parquet file is named
 * PATH.partial; it has whole row groups even if the process is killed. The standard output, pipes and devices have none.
 * @param path as `checkOutput` accepted it.
 * @throws LibraryError `library_missing`; UsageError if PATH.partial has episodes of another run, which would be lost.
 */
export async function openEpisodeFile(
  path: string,
  format: RowFormat,
  run?: EarlierRun,
): Promise<EpisodeFile> {
  if (format === LINES) return lineFile(await openOutput(path));
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

/** A file of JSON lines. */
const lineFile = (output: Output): EpisodeFile => ({
  earlier: 0,
  write: (episodes) => output.write(episodes.map(episodeLine).join('')),
  writeLines: (lines) => output.write(lines.map((line) => `${line}\n`).join('')),
  finish: () => output.finish(),
  commit: () => output.commit(),
  close: async () => {
    await output.discard();
    return null;
  },
});

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
