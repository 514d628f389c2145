/** Lines of trajectories into rows for SFT, a batch at a time; what is wrong with them is told as it is found. */
import type { SftRow } from '../dataset/sft/rows.js';
import type { SftSelection } from '../dataset/sft/selection.js';
import type { Split } from '../dataset/sft/split.js';
import type { TrajectoryEpisode } from '../trajectory/episode.js';
import { episodeKey } from '../trajectory/line.js';
import { BadEpisode } from '../trajectory/read.js';
import { printable } from './lines.js';
import { SkippedLines, type TrajectoryLine } from './trajectory-files.js';

/** Episodes replayed together, and bytes of their lines. They are a Parquet file's row groups, too. */
const BATCH = 256;
const BATCH_BYTES = 32 * 2 ** 20;

export type SplitRows = Readonly<Record<Split, readonly SftRow[]>>;

export class SftStream {
  readonly skipped = new SkippedLines();
  /** Episodes that say something else than their replay. */
  untrue = 0;
  readonly #selection: SftSelection;
  readonly #report: (text: string) => void;
  readonly #seen = new Set<string>();
  #batch: { place: string; episode: TrajectoryEpisode }[] = [];
  #bytes = 0;

  /** @param report takes a line, without its end. */
  constructor(
    selection: SftSelection,
    report = (text: string): void => void process.stderr.write(`${text}\n`),
  ) {
    this.#selection = selection;
    this.#report = report;
  }

  /** @returns the rows of a batch, if this line has filled one. */
  take({ place, size, episode }: TrajectoryLine): SplitRows | null {
    const fault = episode instanceof BadEpisode ? episode : this.#duplicate(episode);
    if (fault !== null) {
      this.skipped.add(fault);
      this.#report(`${place}: skipped, ${fault.kind}: ${printable(fault.message)}`);
      return null;
    }
    const week = episode as TrajectoryEpisode;
    if (!this.#selection.wants(week)) return null;
    this.#batch.push({ place, episode: week });
    this.#bytes += size;
    return this.#batch.length < BATCH && this.#bytes < BATCH_BYTES ? null : this.flush();
  }

  #duplicate(episode: TrajectoryEpisode): BadEpisode | null {
    const key = episodeKey(episode);
    if (this.#seen.has(key))
      return new BadEpisode('duplicate', `Expected each episode once, got ${key} again.`);
    this.#seen.add(key);
    return null;
  }

  /** The rows of what is left; null for nothing. */
  flush(): SplitRows | null {
    if (this.#batch.length === 0) return null;
    const { rows, untrue } = this.#selection.choose(this.#batch.map(({ episode }) => episode));
    for (const { index, mismatches } of untrue) {
      const [{ step, field }] = mismatches;
      const where = step === null ? field : `step ${step}, ${field}`;
      this.#report(`${this.#batch[index].place}: left out, not as recorded: ${where}`);
    }
    this.untrue += untrue.length;
    this.#batch = [];
    this.#bytes = 0;
    return rows;
  }
}
