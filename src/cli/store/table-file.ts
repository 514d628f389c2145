/** Writes Parquet files of trajectories, by row groups. */
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
import { isParquet } from '../files/file-kind.js';
import { readTable } from '../files/trajectory-table.js';
import { type EarlierEpisode, EpisodeFile, type Footer, type Sink } from './growing-file.js';

/** Returns a function that opens a Parquet file. @throws LibraryError `library_missing`. */
export async function tableOpener(format: RowFormat): Promise<(sink: Sink) => EpisodeFile> {
  const encoder = await format.open<EpisodeRow>(episodeTableOrigin(), EPISODE_COLUMNS);
  return (sink) => new TableFile(encoder, sink);
}

/** The number of lines that are compared with their replay at once. Chosen by hand: more take more memory. */
const BATCH = 64;

/** A Parquet file, written by row groups. */
class TableFile extends EpisodeFile {
  readonly #encoder: RowEncoder<EpisodeRow>;
  readonly #groups = new RowGroups();
  readonly #replayer = new EpisodeReplayer();
  /** Lines that are not yet converted. */
  readonly #lines: string[] = [];
  protected readonly footer: Footer = () => this.#encoder.end() as Uint8Array;

  constructor(encoder: RowEncoder<EpisodeRow>, sink: Sink) {
    super(sink);
    this.#encoder = encoder;
  }

  write(episodes: readonly TrajectoryEpisode[]): Promise<void> {
    return this.#add(episodes.map(toCompact));
  }

  async writeLines(lines: readonly string[]): Promise<void> {
    this.#lines.push(...lines);
    while (this.#lines.length >= BATCH) await this.#convert();
  }

  async *read(partial: string): AsyncGenerator<EarlierEpisode> {
    if (!isParquet(partial)) {
      const problem = 'Expected an unfinished Parquet file, got a file of another run.';
      yield { place: partial, episode: new BadEpisode('corrupt', problem), copy: async () => {} };
      return;
    }
    for await (const rows of readTable(partial, partial)) {
      for (const { place, compact } of rows)
        yield { place, episode: compact, copy: () => this.#add([compact as CompactEpisode]) };
    }
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
    await this.sink.append(this.#encoder.add(rows.map(toEpisodeRow)) as Uint8Array, this.footer);
  }

  protected async flush(): Promise<void> {
    if (this.#lines.length > 0) await this.#convert();
    await this.#append(this.#groups.rest());
  }

  override async close(): Promise<string | null> {
    await this.#replayer[Symbol.asyncDispose]();
    if (this.sink.keeps) await this.#append(this.#groups.rest());
    return this.sink.close(this.footer);
  }
}
