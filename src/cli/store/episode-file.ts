/** Opens files of trajectories, as JSON lines or as Parquet, which continue after an interruption. */
import { createReadStream } from 'node:fs';
import { stat as statOf } from 'node:fs/promises';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode, episodeLine, readEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { LINES, type RowFormat } from '../../shared/row-files/file-formats.js';
import { UsageError } from '../command-errors.js';
import { readLines } from '../files/lines.js';
import { isStream, openOutput } from '../files/output-file.js';
import { partialOf, stat } from '../files/paths.js';
import {
  type EarlierEpisode,
  EpisodeFile,
  type EpisodeHead,
  NO_FOOTER,
  PartialFile,
  wholeFile,
} from './growing-file.js';

/** Says which unfinished file, PATH.partial, an earlier run of the same command left. */
export interface EarlierRun {
  /** The option that names the output. */
  readonly option: string;
  /** Returns whether this run plays the episode at this index of the file. */
  readonly isOwn: (episode: EpisodeHead, index: number) => boolean;
  /** Whether the new file begins with these episodes. Otherwise they are only checked, and played again. */
  readonly continues: boolean;
}

/**
 * Opens a file of trajectories. With `run`, it is named PATH.partial until `commit`, and begins with the episodes that an earlier
 * run left there. The standard output, pipes and devices have no such file.
 * @param path as `checkOutput` accepted it.
 * @throws LibraryError `library_missing`; UsageError if PATH.partial has episodes of another run, which would be lost.
 */
export async function openEpisodeFile(
  path: string,
  format: RowFormat,
  run?: EarlierRun,
): Promise<EpisodeFile> {
  // Loaded only if a Parquet file is written.
  const openTable = format === LINES ? null : await (await import('./table-file.js')).tableOpener(format);
  const isWhole = run === undefined || isStream(path);
  const sink = isWhole ? wholeFile(await openOutput(path)) : await PartialFile.create(path);
  const file = openTable === null ? new LineFile(sink) : openTable(sink);
  if (isWhole) return file;
  try {
    await copyEarlier(file, partialOf(path), run);
    await file.keep();
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

/** Writes the episodes of `partial` to the file that replaces it. @throws UsageError. */
async function copyEarlier(file: EpisodeFile, partial: string, run: EarlierRun): Promise<void> {
  if (stat(partial) === null) return;
  let index = 0;
  for await (const { place, episode, copy } of file.read(partial)) {
    if (episode instanceof BadEpisode || !run.isOwn(episode, index++)) {
      const got = episode instanceof BadEpisode ? episode.message : 'an episode of another run.';
      throw new UsageError(
        `Expected the episodes of this run in ${place}, got: ${got} ` +
          `Read it with reeval, move or remove it, or name another ${run.option}.`,
      );
    }
    if (!run.continues) continue;
    await copy();
    file.earlier++;
  }
}

/** A file of JSON lines. */
class LineFile extends EpisodeFile {
  protected readonly footer = NO_FOOTER;

  write(episodes: readonly TrajectoryEpisode[]): Promise<void> {
    return this.#append(episodes.map(episodeLine));
  }

  writeLines(lines: readonly string[]): Promise<void> {
    return this.#append(lines.map((line) => `${line}\n`));
  }

  #append(lines: readonly string[]): Promise<void> {
    return this.sink.append(Buffer.from(lines.join('')), this.footer);
  }

  /** Leaves out an incomplete last line, whose episode is played again. */
  async *read(partial: string): AsyncGenerator<EarlierEpisode> {
    const { size } = await statOf(partial);
    for await (const { text, problem, number, end } of readLines(createReadStream(partial), Infinity)) {
      if (end === size) return;
      const episode = text === null ? new BadEpisode('corrupt', problem!) : readEpisode(text);
      yield { place: `${partial}:${number}`, episode, copy: () => this.writeLines([text!]) };
    }
  }

  protected async flush(): Promise<void> {}
}
