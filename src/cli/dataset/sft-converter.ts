/** Converts batches of episodes to rows for SFT, and reports episodes that differ from their replay. */

import { whereOf } from '../../evaluation/reevaluation/trajectory-replayer.js';
import type { SftRow } from '../../training/datasets/sft/sft-rows.js';
import type { SftSelection, Split } from '../../training/datasets/sft/sft-selection.js';
import type { PlacedEpisode, Report } from '../files/trajectory-files.js';
import { SkippedLines } from '../files/trajectory-files.js';

export type SplitRows = Readonly<Record<Split, readonly SftRow[]>>;

const NO_ROWS: SplitRows = { train: [], validation: [] };

export class SftConverter {
  readonly skipped = new SkippedLines();
  /** The number of episodes that differ from their replay. */
  mismatched = 0;
  readonly #selection: SftSelection;
  readonly #report: Report;

  constructor(selection: SftSelection, report: Report) {
    this.#selection = selection;
    this.#report = report;
  }

  /** Returns the rows of a batch, by split. Counts and reports episodes that differ from their replay. */
  async rowsOf(batch: readonly PlacedEpisode[]): Promise<SplitRows> {
    const accepted = batch.filter(({ episode }) => this.#selection.acceptsStored(episode));
    if (accepted.length === 0) return NO_ROWS;
    const { rows, mismatched } = await this.#selection.select(accepted.map(({ episode }) => episode));
    for (const { index, mismatches } of mismatched) {
      const where = whereOf(mismatches[0]);
      this.#report(`${accepted[index].place}: left out, not as recorded: ${where}`);
    }
    this.mismatched += mismatched.length;
    return rows;
  }
}
