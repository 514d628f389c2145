/** Selects stored episodes that equal their replay and pass the filters, and makes their pairs. */

import type { ReplayEngine } from '../../../rollouts/trajectories/episode-replayer.js';
import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { PlayedResults, type ResultSource } from '../replay-results.js';
import type { MismatchedEpisode } from '../sft/sft-selection.js';
import { SPLITS, type Split, splitOf } from '../sft/split.js';
import { type Candidate, toCandidate } from './candidates.js';
import { dpoExclusion } from './dpo-filters.js';
import type { DpoPlan } from './dpo-options.js';
import type { DpoRow } from './dpo-rows.js';
import { pairsOf } from './pairs.js';

/** Holds the selected episodes in memory, without their observations: about 40 kB each. */
export class DpoSelection implements AsyncDisposable {
  readonly #plan: DpoPlan;
  readonly #source: ResultSource;
  readonly #candidates: Candidate[] = [];
  /** The number of episodes that were left out, by reason. */
  readonly leftOut = new Map<string, number>();

  /** @param source replays episodes; `DpoSelection` closes it. */
  constructor(plan: DpoPlan, source: ResultSource) {
    this.#plan = plan;
    this.#source = source;
  }

  /** Opens a selection that replays the episodes. @param engine the options of the replay. @throws as `createVecEnv`. */
  static async open(plan: DpoPlan, engine: ReplayEngine): Promise<DpoSelection> {
    return new DpoSelection(plan, await PlayedResults.open(plan.grader, engine, { baselines: false }));
  }

  /** The number of selected episodes. */
  get episodes(): number {
    return this.#candidates.length;
  }

  /**
   * Replays the episodes that pass the filters, and keeps those that equal their replay and have prompts.
   * @returns the episodes that differ from their replay.
   */
  async add(episodes: readonly TrajectoryEpisode[]): Promise<MismatchedEpisode[]> {
    const accepted = episodes
      .map((episode, index) => ({ episode, index }))
      .filter(({ episode }) => this.#accepts(episode));
    if (accepted.length === 0) return [];
    const { mismatches, graded } = await this.#source.resultsOf(accepted.map(({ episode }) => episode));
    const mismatched: MismatchedEpisode[] = [];
    for (const [i, { episode, index }] of accepted.entries()) {
      if (mismatches[i].length === 0) this.#keep(episode, graded.finalScores[i]);
      else {
        this.#leaveOut('not as recorded');
        mismatched.push({ index, mismatches: mismatches[i] });
      }
    }
    return mismatched;
  }

  /** Returns the rows of all selected episodes, by split. */
  rows(): Record<Split, DpoRow[]> {
    const rows = Object.fromEntries(SPLITS.map((split) => [split, []])) as unknown as Record<Split, DpoRow[]>;
    for (const row of pairsOf(this.#candidates, this.#plan)) rows[splitOf(this.#plan, row.seed)].push(row);
    return rows;
  }

  #accepts(episode: TrajectoryEpisode): boolean {
    const reason = dpoExclusion(this.#plan, episode);
    if (reason !== null) this.#leaveOut(reason);
    return reason === null;
  }

  #keep(episode: TrajectoryEpisode, score: number): void {
    const candidate = toCandidate(episode, this.#plan.by, score);
    if (candidate === null) this.#leaveOut('no text');
    else this.#candidates.push(candidate);
  }

  #leaveOut(reason: string): void {
    this.leftOut.set(reason, (this.leftOut.get(reason) ?? 0) + 1);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#source[Symbol.asyncDispose]();
  }
}
