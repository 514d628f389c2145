/** Episodes of files in batches that are replayed together; lines that are none are told as they are found. */
import type { TrajectoryEpisode } from '../../trajectory/episode.js';
import { playerKey } from '../../trajectory/line.js';
import { BadEpisode } from '../../trajectory/read.js';
import { othersTurn } from '../../vec-env/turns.js';
import { printable } from './lines.js';
import type { SkippedLines, TrajectoryLine } from './trajectory-files.js';

/** Lines that are named as no episodes; of more, as where another kind of file was passed, the number is enough. */
const NAMED = 10;
/** Episodes of a batch, and bytes of their lines. */
const BATCH = 256;
const BATCH_BYTES = 32 * 2 ** 20;

export interface PlacedEpisode {
  /** "teacher.jsonl:3". */
  readonly place: string;
  readonly episode: TrajectoryEpisode;
}

/** Takes a line for people, without its end. */
export type Report = (text: string) => void;

export const toStandardError: Report = (text) => void process.stderr.write(`${text}\n`);

export interface BatchOptions {
  /** Counts the lines that are left out: no episodes, or there twice. */
  readonly skipped: SkippedLines;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/** Batches of at least one episode each. Between them signals and timers get their turn. */
export async function* inBatches(
  lines: AsyncIterable<TrajectoryLine>,
  { skipped, report, signal }: BatchOptions,
): AsyncGenerator<PlacedEpisode[]> {
  const seen = new SeenEpisodes();
  let batch: PlacedEpisode[] = [];
  let bytes = 0;
  for await (const { place, size, episode } of lines) {
    signal.throwIfAborted();
    const fault = episode instanceof BadEpisode ? episode : seen.faultOf(episode);
    if (fault !== null) {
      skipped.add(fault);
      if (skipped.total <= NAMED) report(`${place}: skipped, ${fault.kind}: ${printable(fault.message)}`);
      continue;
    }
    batch.push({ place, episode: episode as TrajectoryEpisode });
    bytes += size;
    if (batch.length < BATCH && bytes < BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
    // A file is read faster than its end would let anybody in.
    await othersTurn();
  }
  signal.throwIfAborted();
  if (skipped.total > NAMED) report(`... and ${skipped.total - NAMED} more lines skipped`);
  if (batch.length > 0) yield batch;
}

/** Which seeds each player has played, under which condition and whose: some 40 bytes of each. */
class SeenEpisodes {
  readonly #seeds = new Map<string, Set<number>>();

  /** What is wrong with an episode that is there already; null for a new one, which then is. */
  faultOf(episode: TrajectoryEpisode): BadEpisode | null {
    const { condition, seed, profile_mode: mode } = episode;
    const key = playerKey(episode);
    const seeds = this.#seeds.get(key) ?? new Set();
    this.#seeds.set(key, seeds);
    if (seeds.has(seed)) {
      const week = `seed ${seed} (${mode}) of ${condition}`;
      return new BadEpisode(
        'duplicate',
        `Expected each episode once, got ${week} of the same teacher again.`,
      );
    }
    seeds.add(seed);
    return null;
  }
}
