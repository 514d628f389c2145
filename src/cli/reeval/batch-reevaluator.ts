/** Adds batches of episodes to a re-evaluation, and reports mismatches as they are found. */

import type { Reevaluation } from '../../evaluation/reevaluation/reevaluation.js';
import { type Mismatch, whereOf } from '../../evaluation/reevaluation/trajectory-replayer.js';
import { describe } from '../../shared/values.js';
import { printable } from '../files/lines.js';
import type { PlacedEpisode, Report } from '../files/trajectory-files.js';
import { SkippedLines } from '../files/trajectory-files.js';

/** The maximum number of mismatches in the JSON file. Chosen by hand: more make the file larger. The counts include all. */
const MAX_LISTED = 1000;

/** Counts over all files. */
export interface ReevalCounts {
  /** The number of replayed episodes. */
  episodes: number;
  /** The number of episodes that differ from their replay. */
  mismatchedEpisodes: number;
  /** The number of differences. */
  mismatches: number;
  readonly skipped: SkippedLines;
}

interface ListedMismatch extends Mismatch {
  /** File and line, such as "teacher.jsonl:3". */
  readonly line: string;
}

/** A re-evaluation that counts and reports mismatches. */
export class BatchReevaluator {
  readonly counts: ReevalCounts = {
    episodes: 0,
    mismatchedEpisodes: 0,
    mismatches: 0,
    skipped: new SkippedLines(),
  };
  /** The first mismatches of all files, at most MAX_LISTED. */
  readonly listedMismatches: ListedMismatch[] = [];
  readonly #reevaluation: Reevaluation;
  readonly #maxReported: number;
  readonly #report: Report;

  /** @param maxReported the maximum number of mismatches to report per episode. */
  constructor(reevaluation: Reevaluation, maxReported: number, report: Report) {
    this.#reevaluation = reevaluation;
    this.#maxReported = maxReported;
    this.#report = report;
  }

  /** Replays episodes, and counts and reports their mismatches. */
  async add(batch: readonly PlacedEpisode[]): Promise<void> {
    const mismatches = await this.#reevaluation.add(batch.map(({ episode }) => episode));
    for (const [i, { place }] of batch.entries()) this.#reportMismatches(place, mismatches[i]);
    this.counts.episodes += batch.length;
  }

  #reportMismatches(place: string, mismatches: readonly Mismatch[]): void {
    if (mismatches.length === 0) return;
    this.counts.mismatchedEpisodes++;
    this.counts.mismatches += mismatches.length;
    for (const mismatch of mismatches.slice(0, MAX_LISTED - this.listedMismatches.length)) {
      this.listedMismatches.push({ line: place, ...mismatch });
    }
    for (const mismatch of mismatches.slice(0, this.#maxReported))
      this.#report(`${place}: ${textOf(mismatch)}`);
    const more = mismatches.length - this.#maxReported;
    if (more > 0) this.#report(`${place}: and ${more} more`);
  }
}

const textOf = (mismatch: Mismatch): string => {
  const { recorded, recomputed } = mismatch;
  return printable(
    `${whereOf(mismatch)}: recorded ${valueText(recorded)}, recomputed ${valueText(recomputed)}`,
  );
};

const valueText = (value: Mismatch['recorded']): string => (Object.is(value, -0) ? '-0' : describe(value));
