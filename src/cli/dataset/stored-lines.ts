/** Lines of the shards of `dataset sft` and `dpo`: an episode and the result of its replay, or the fault of a line. */
import { createReadStream } from 'node:fs';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode } from '../../rollouts/trajectories/trajectory-lines.js';
import { decodeArrays, encodeArrays } from '../../shared/array-json.js';
import type { EpisodeResult, StoredResults } from '../../training/datasets/replay-results.js';
import { readLines } from '../files/lines.js';
import type { TrajectoryLine } from '../files/trajectory-table.js';

/** A line of a shard's file. */
interface StoredLine {
  /** The file and line of the episode, such as "teacher.jsonl:3". */
  readonly place: string;
  /** The approximate size of the episode in its file, in bytes. `merge` limits its batches by the sum of these sizes. */
  readonly size: number;
  /** Absent if the line is valid. */
  readonly fault?: Pick<BadEpisode, 'kind' | 'message' | 'lines'>;
  readonly episode?: TrajectoryEpisode;
  /** Absent if the line has a fault, or filters leave the episode out. */
  readonly result?: EpisodeResult;
}

/** The maximum length of a line in bytes: many times the length of an episode with its result. */
const MAX_LINE_BYTES = 2 ** 28;

/** Returns the text of a line, with its line end. */
export const storedText = ({ result, ...line }: StoredLine): string =>
  `${JSON.stringify(result === undefined ? line : { ...line, result: encodeArrays(result) })}\n`;

/** Yields the lines of shards in order. @param results receives the result of each episode that has one. */
export async function* readStoredLines(
  paths: readonly string[],
  results: StoredResults,
  signal: AbortSignal,
): AsyncGenerator<TrajectoryLine> {
  for (const path of paths) {
    for await (const { text } of readLines(createReadStream(path), MAX_LINE_BYTES)) {
      signal.throwIfAborted();
      const { place, size, fault, episode, result } = JSON.parse(text!) as StoredLine;
      if (result !== undefined) results.store(episode!, decodeArrays(result) as EpisodeResult);
      yield { place, size, episode: episode ?? new BadEpisode(fault!.kind, fault!.message, fault!.lines) };
    }
  }
}
