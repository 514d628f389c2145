/** Batches of episodes into rows for SFT; weeks that are not as recorded are told as they are found. */
import type { SftRow } from '../../dataset/sft/rows.js';
import type { SftSelection } from '../../dataset/sft/selection.js';
import type { Split } from '../../dataset/sft/split.js';
import { whereOf } from '../../reeval/mismatch.js';
import type { PlacedEpisode, Report } from '../files/trajectory-batches.js';
import { SkippedLines } from '../files/trajectory-files.js';

export type SplitRows = Readonly<Record<Split, readonly SftRow[]>>;

const NO_ROWS: SplitRows = { train: [], validation: [] };

export class SftStream {
  readonly skipped = new SkippedLines();
  /** Episodes that say something else than their replay. */
  untrue = 0;
  readonly #selection: SftSelection;
  readonly #report: Report;

  constructor(selection: SftSelection, report: Report) {
    this.#selection = selection;
    this.#report = report;
  }

  /** The rows of a batch. */
  rowsOf(batch: readonly PlacedEpisode[]): SplitRows {
    const wanted = batch.filter(({ episode }) => this.#selection.wants(episode));
    if (wanted.length === 0) return NO_ROWS;
    const { rows, untrue } = this.#selection.choose(wanted.map(({ episode }) => episode));
    for (const { index, mismatches } of untrue) {
      const where = whereOf(mismatches[0]);
      this.#report(`${wanted[index].place}: left out, not as recorded: ${where}`);
    }
    this.untrue += untrue.length;
    return rows;
  }
}
