/** Lines of trajectories into a re-evaluation, a batch at a time; what is wrong with them is told as it is found. */
import type { Mismatch } from '../reeval/mismatch.js';
import type { Reevaluation } from '../reeval/reevaluation.js';
import type { TrajectoryEpisode } from '../trajectory/episode.js';
import { BadEpisode } from '../trajectory/read.js';
import { describe } from '../validate/values.js';
import { printable } from './lines.js';
import { SkippedLines, type TrajectoryLine } from './trajectory-files.js';

/** Episodes replayed together, and bytes of their lines. */
const BATCH = 256;
const BATCH_BYTES = 32 * 2 ** 20;
/** Mismatches that results name. */
const NAMED = 1000;

/** What came of the files. */
export interface ReevalCounts {
  /** Those that were replayed. */
  episodes: number;
  /** Of these, those that say something else than their replay, and in how many places. */
  mismatchedEpisodes: number;
  mismatches: number;
  readonly skipped: SkippedLines;
}

interface NamedMismatch extends Mismatch {
  /** "teacher.jsonl:3". */
  readonly line: string;
}

export class ReevalStream {
  readonly counts: ReevalCounts = {
    episodes: 0,
    mismatchedEpisodes: 0,
    mismatches: 0,
    skipped: new SkippedLines(),
  };
  /** The first of all mismatches. */
  readonly named: NamedMismatch[] = [];
  readonly #reevaluation: Reevaluation;
  readonly #most: number;
  readonly #report: (text: string) => void;
  #batch: { place: string; episode: TrajectoryEpisode }[] = [];
  #bytes = 0;

  /** @param most how many mismatches of an episode are told. @param report takes a line, without its end. */
  constructor(
    reevaluation: Reevaluation,
    most: number,
    report = (text: string): void => void process.stderr.write(`${text}\n`),
  ) {
    this.#reevaluation = reevaluation;
    this.#most = most;
    this.#report = report;
  }

  /** @returns whether a batch was replayed. */
  take({ place, size, episode }: TrajectoryLine): boolean {
    const fault = episode instanceof BadEpisode ? episode : this.#duplicate(episode);
    if (fault !== null) {
      this.counts.skipped.add(fault);
      this.#report(`${place}: skipped, ${fault.kind}: ${printable(fault.message)}`);
      return false;
    }
    this.#batch.push({ place, episode: episode as TrajectoryEpisode });
    this.#bytes += size;
    if (this.#batch.length < BATCH && this.#bytes < BATCH_BYTES) return false;
    this.flush();
    return true;
  }

  #duplicate(episode: TrajectoryEpisode): BadEpisode | null {
    if (this.#reevaluation.isNew(episode)) return null;
    const { condition, seed, profile_mode: mode } = episode;
    const week = `seed ${seed} (${mode}) of ${condition}`;
    return new BadEpisode('duplicate', `Expected each episode once, got ${week} of the same teacher again.`);
  }

  /** Replays what is left. */
  flush(): void {
    if (this.#batch.length === 0) return;
    const mismatches = this.#reevaluation.add(this.#batch.map(({ episode }) => episode));
    for (const [i, { place }] of this.#batch.entries()) this.#tell(place, mismatches[i]);
    this.counts.episodes += this.#batch.length;
    this.#batch = [];
    this.#bytes = 0;
  }

  #tell(place: string, mismatches: readonly Mismatch[]): void {
    if (mismatches.length === 0) return;
    this.counts.mismatchedEpisodes++;
    this.counts.mismatches += mismatches.length;
    for (const mismatch of mismatches.slice(0, NAMED - this.named.length)) {
      this.named.push({ line: place, ...mismatch });
    }
    for (const mismatch of mismatches.slice(0, this.#most)) this.#report(`${place}: ${textOf(mismatch)}`);
    const more = mismatches.length - this.#most;
    if (more > 0) this.#report(`${place}: and ${more} more`);
  }
}

const textOf = ({ step, field, recorded, recomputed }: Mismatch): string => {
  const where = step === null ? field : `step ${step}, ${field}`;
  return printable(`${where}: recorded ${shown(recorded)}, recomputed ${shown(recomputed)}`);
};

const shown = (value: Mismatch['recorded']): string => (Object.is(value, -0) ? '-0' : describe(value));
