/** Batches of episodes into a re-evaluation; what is not as recorded is told as it is found. */
import { type Mismatch, whereOf } from '../../reeval/mismatch.js';
import type { Reevaluation } from '../../reeval/reevaluation.js';
import { describe } from '../../validate/values.js';
import { printable } from '../files/lines.js';
import type { PlacedEpisode, Report } from '../files/trajectory-batches.js';
import { SkippedLines } from '../files/trajectory-files.js';

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
  readonly #report: Report;

  /** @param most how many mismatches of an episode are told. */
  constructor(reevaluation: Reevaluation, most: number, report: Report) {
    this.#reevaluation = reevaluation;
    this.#most = most;
    this.#report = report;
  }

  add(batch: readonly PlacedEpisode[]): void {
    const mismatches = this.#reevaluation.add(batch.map(({ episode }) => episode));
    for (const [i, { place }] of batch.entries()) this.#tell(place, mismatches[i]);
    this.counts.episodes += batch.length;
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

const textOf = (mismatch: Mismatch): string => {
  const { recorded, recomputed } = mismatch;
  return printable(`${whereOf(mismatch)}: recorded ${shown(recorded)}, recomputed ${shown(recomputed)}`);
};

const shown = (value: Mismatch['recorded']): string => (Object.is(value, -0) ? '-0' : describe(value));
