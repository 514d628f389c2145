/** Groups episodes of files into batches for replay, and reports invalid lines and duplicates as they are found. */

import { yieldTurn } from '../../engine/engine-calls.js';
import { counted } from '../../evaluation/format-results.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';
import { BadEpisode, playerKey } from '../../rollouts/trajectories/trajectory-lines.js';
import { printable } from './lines.js';
import type { SkippedLines } from './trajectory-files.js';
import type { TrajectoryLine } from './trajectory-table.js';

/**
 * The maximum number of reports: of invalid lines, duplicates and unreadable row groups. Later ones are only counted. Chosen by
 * hand.
 */
const MAX_REPORTED = 10;
/** The maximum number of episodes of a batch. Chosen by hand: a larger batch takes more memory. */
const MAX_BATCH = 256;
/** A batch of at least this many bytes is complete. Chosen by hand: it limits the memory of episodes with long answers. */
const MIN_BATCH_BYTES = 32 * 2 ** 20;

export interface PlacedEpisode {
  /** File and line, such as "teacher.jsonl:3". */
  readonly place: string;
  readonly episode: TrajectoryEpisode;
}

/** Receives a message to print, without a line end. */
export type Report = (text: string) => void;

export const toStandardError: Report = (text) => void process.stderr.write(`${text}\n`);

export interface BatchOptions {
  /** Counts the lines left out: invalid lines and duplicate episodes. */
  readonly skipped: SkippedLines;
  readonly report: Report;
  readonly signal: AbortSignal;
  /**
   * Whether a player (teacher, model, objective, oracle) may have several episodes of a seed, such as samples. Default false.
   */
  readonly repeats?: boolean;
}

/**
 * Yields batches of at least one episode each. Leaves out invalid lines and, without `repeats`, duplicates; counts and reports
 * them. Returns to the event loop between batches, so that signals and timers run. @throws the signal's reason.
 */
export async function* inBatches(
  lines: AsyncIterable<TrajectoryLine>,
  { skipped, report, signal, repeats = false }: BatchOptions,
): AsyncGenerator<PlacedEpisode[]> {
  const seen = new SeenEpisodes();
  let batch: PlacedEpisode[] = [];
  let bytes = 0;
  let [reports, unreported] = [0, 0];
  for await (const { place, size, episode } of lines) {
    signal.throwIfAborted();
    const fault = episode instanceof BadEpisode ? episode : repeats ? null : seen.faultOf(episode);
    if (fault !== null) {
      skipped.add(fault);
      if (++reports > MAX_REPORTED) unreported += fault.lines;
      else report(`${place}: skipped, ${fault.kind}: ${printable(fault.message)}`);
      continue;
    }
    batch.push({ place, episode: episode as TrajectoryEpisode });
    bytes += size;
    if (batch.length < MAX_BATCH && bytes < MIN_BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
    await yieldTurn();
  }
  signal.throwIfAborted();
  if (unreported > 0) report(`... and ${counted(unreported, 'more line')} skipped`);
  if (batch.length > 0) yield batch;
}

/** The seeds that each player played, by condition and profile: about 40 bytes per episode. */
class SeenEpisodes {
  readonly #seeds = new Map<string, Set<number>>();

  /** Returns the fault of a duplicate. For a new episode, returns null and stores its seed. */
  faultOf(episode: TrajectoryEpisode): BadEpisode | null {
    const { condition, seed, profile_mode: mode } = episode;
    const key = playerKey(episode);
    const seeds = this.#seeds.get(key) ?? new Set();
    this.#seeds.set(key, seeds);
    if (seeds.has(seed)) {
      const which = `seed ${seed} (${mode}, ${condition})`;
      return new BadEpisode(
        'duplicate',
        `Expected each episode once, got ${which} of the same player again. Remove one of the two.`,
      );
    }
    seeds.add(seed);
    return null;
  }
}
