/** Encodes and decodes the results of shards as bytes: episodes in compact form, and other rows as their text. */
import { type CompactEpisode, toCompact } from '../../rollouts/trajectories/compact-episode.js';
import type { EpisodeReplayer } from '../../rollouts/trajectories/episode-replayer.js';
import { episodeLine } from '../../rollouts/trajectories/trajectory-lines.js';
import { rowsProblem, type ShardRows } from '../jobs/check-rows.js';
import type { RunnableJob } from '../jobs/job.js';
import type { ShardBatch } from '../jobs/run.js';
import type { JobRecord } from './job-store.js';
import { QueueError } from './queue-error.js';

/** The first character of a result. It names the format of the rest. */
const FORMAT = { episodes: 'E', text: 'T' } as const;
const LF = 0x0a;
/** The number of episodes that are replayed at once. Chosen by hand: more episodes take more memory. */
const REPLAYED = 64;

/** Returns the result of a shard whose rows are episodes. */
export const packEpisodes = (episodes: readonly CompactEpisode[]): Buffer =>
  Buffer.from(`${FORMAT.episodes}${JSON.stringify(episodes)}`);

/** Returns the result of a shard: its episodes, or the text of its other rows. */
export function packResult(batches: readonly ShardBatch[]): Buffer {
  const episodes = batches.flatMap((batch) => batch.episodes);
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
  if (rows === episodes.length) return packEpisodes(episodes.map(toCompact));
  return Buffer.from(`${FORMAT.text}${batches.map(({ text }) => text).join('')}`);
}

/** Returns the episodes of a result, or the number of its lines. */
export function rowsIn(result: Buffer): ShardRows {
  const rest = result.subarray(1);
  if (result.toString('latin1', 0, 1) === FORMAT.episodes) return { episodes: JSON.parse(rest.toString()) };
  let lines = 0;
  for (let at = rest.indexOf(LF); at >= 0; at = rest.indexOf(LF, at + 1)) lines++;
  return { lines };
}

/** Checks that a shard has all its rows and no others. @throws QueueError. */
export function checkRows(
  { name, job, shards }: Pick<JobRecord, 'name' | 'job' | 'shards'>,
  index: number,
  rows: ShardRows,
): void {
  const problem = rowsProblem(JSON.parse(job) as RunnableJob, { index, count: shards }, rows);
  if (problem === null) return;
  throw new QueueError(
    `Expected shard ${index} of ${name} to have ${problem}. Cancel the job and submit it again.`,
  );
}

/** Yields the bytes of a shard's file. @param replayer computes the lines of the episodes from their compact form. */
export async function* unpackResult(result: Buffer, replayer: EpisodeReplayer): AsyncGenerator<Buffer> {
  const rest = result.subarray(1);
  if (result.toString('latin1', 0, 1) === FORMAT.text) {
    yield rest;
    return;
  }
  const compact = JSON.parse(rest.toString()) as CompactEpisode[];
  for (let at = 0; at < compact.length; at += REPLAYED) {
    const episodes = await replayer.fromCompact(compact.slice(at, at + REPLAYED));
    yield Buffer.from(episodes.map(episodeLine).join(''));
  }
}
