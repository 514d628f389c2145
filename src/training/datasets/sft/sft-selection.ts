/** Selects stored episodes that equal their replay and pass the filters, and makes their rows for SFT. */

import type { Grader } from '../../../engine/graders/grader.js';
import { type Graded, PAIRED_BASELINES, pickEpisodes } from '../../../evaluation/reevaluation/baselines.js';
import { ReevaluationTally } from '../../../evaluation/reevaluation/reevaluation.js';
import type { Mismatch } from '../../../evaluation/reevaluation/trajectory-replayer.js';
import type { ReplayEngine } from '../../../rollouts/trajectories/episode-replayer.js';
import type { Player, TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { PlayedResults, type ResultSource } from '../replay-results.js';
import { type EpisodeScore, replayExclusion, storedExclusion } from './sft-filters.js';
import type { SftPlan } from './sft-options.js';
import { type SftRow, sftRowsOf } from './sft-rows.js';
import { type Split, splitOf } from './split.js';

/** Statistics of one teacher's selected episodes, and of heuristic+constant in the same episodes. */
export interface TeacherStatistics {
  readonly player: Player;
  /** The number of rows. */
  rows: number;
  /** The results of the teacher. */
  readonly teacher: ReevaluationTally;
  /** The results of heuristic+constant. */
  readonly constant: ReevaluationTally;
  /** The final score of each episode. */
  readonly scores: number[];
  /** The margin of each episode over heuristic+constant. */
  readonly margins: number[];
}

/** A grader, and the number of selected episodes that were played under it. */
export interface PromptGrader {
  readonly grader: Grader;
  episodes: number;
}

/** The rows, selected episodes and seeds of one split. */
export interface SplitCounts {
  rows: number;
  episodes: number;
  readonly seeds: Set<number>;
}

/** An episode that differs from its replay. */
export interface MismatchedEpisode {
  /** The index in the episodes that were passed. */
  readonly index: number;
  readonly mismatches: readonly Mismatch[];
}

/** The rows of selected episodes by split, and the episodes that differ from their replay. */
export interface Selected {
  readonly rows: Record<Split, SftRow[]>;
  readonly mismatched: MismatchedEpisode[];
}

/** Makes the rows of selected episodes, and counts rows and episodes for the dataset's card. Keeps no rows. */
export class SftSelection implements AsyncDisposable {
  readonly #plan: SftPlan;
  readonly #source: ResultSource;
  readonly #teachers = new Map<string, TeacherStatistics>();
  /** The number of episodes that were left out, by reason. */
  readonly leftOut = new Map<string, number>();
  /** The number of answers of selected episodes, at the plan's steps, that are not usable as rows (`isUsableAnswer`). */
  answersLeftOut = 0;
  /** The graders of the selected episodes, which their prompts describe. The keys are the graders' JSON. */
  readonly graders = new Map<string, PromptGrader>();
  readonly counts: Readonly<Record<Split, SplitCounts>> = {
    train: { rows: 0, episodes: 0, seeds: new Set() },
    validation: { rows: 0, episodes: 0, seeds: new Set() },
  };

  /** @param source replays episodes; `SftSelection` closes it. */
  constructor(plan: SftPlan, source: ResultSource) {
    this.#plan = plan;
    this.#source = source;
  }

  /**
   * Opens a selection that replays episodes and plays baselines. @param engine the options of both.
   * @throws as `createVecEnv`.
   */
  static async open(plan: SftPlan, engine: ReplayEngine): Promise<SftSelection> {
    return new SftSelection(plan, await PlayedResults.open(plan.grader, engine, { baselines: true }));
  }

  /** The statistics of each teacher. */
  get teachers(): TeacherStatistics[] {
    return [...this.#teachers.values()];
  }

  /** Returns whether a stored episode passes the filters that need no replay. Counts it as left out if not. */
  acceptsStored(episode: TrajectoryEpisode): boolean {
    const reason = storedExclusion(this.#plan, episode);
    if (reason !== null) this.#leaveOut(reason);
    return reason === null;
  }

  /**
   * Replays episodes and makes rows of those that pass.
   * @param episodes at least one; `acceptsStored` is true for each.
   */
  async select(episodes: readonly TrajectoryEpisode[]): Promise<Selected> {
    const { mismatches, graded, baselines } = await this.#source.resultsOf(episodes);
    const rows: Record<Split, SftRow[]> = { train: [], validation: [] };
    const mismatched: MismatchedEpisode[] = [];
    for (const [i, episode] of episodes.entries()) {
      if (mismatches[i].length > 0) mismatched.push({ index: i, mismatches: mismatches[i] });
      const reason =
        mismatches[i].length > 0
          ? 'not as recorded'
          : replayExclusion(this.#plan, scoreAt(graded, baselines.get(PAIRED_BASELINES.constant)!, i));
      if (reason === null) this.#add(episode, pickEpisodes(graded, [i]), pickBaselines(baselines, i), rows);
      else this.#leaveOut(reason);
    }
    return { rows, mismatched };
  }

  #add(
    episode: TrajectoryEpisode,
    graded: Graded,
    baselines: ReadonlyMap<string, Graded>,
    rows: Record<Split, SftRow[]>,
  ): void {
    const made = sftRowsOf(this.#plan, episode, graded.finalScores[0]);
    if (made.length === 0) {
      this.#leaveOut('no usable answers');
      return;
    }
    const { first, last } = this.#plan.steps;
    this.answersLeftOut += last - first + 1 - made.length;
    const split = splitOf(this.#plan, episode.seed);
    const counts = this.counts[split];
    counts.rows += made.length;
    counts.episodes++;
    counts.seeds.add(episode.seed);
    rows[split].push(...made);
    this.#countGrader(episode);
    const statistics = this.#statisticsOf(episode);
    statistics.rows += made.length;
    statistics.teacher.add(graded, baselines);
    const constant = baselines.get(PAIRED_BASELINES.constant)!;
    statistics.constant.add(constant, baselines);
    const { score, margin } = scoreAt(graded, constant, 0);
    statistics.scores.push(score);
    statistics.margins.push(margin);
  }

  #countGrader({ grader }: TrajectoryEpisode): void {
    const key = JSON.stringify(grader);
    const counted = this.graders.get(key) ?? { grader, episodes: 0 };
    this.graders.set(key, counted);
    counted.episodes++;
  }

  #leaveOut(reason: string): void {
    this.leftOut.set(reason, (this.leftOut.get(reason) ?? 0) + 1);
  }

  #statisticsOf({ teacher, model, objective, oracle }: TrajectoryEpisode): TeacherStatistics {
    const player = { teacher, model, objective, oracle };
    const key = JSON.stringify(player);
    let statistics = this.#teachers.get(key);
    if (statistics === undefined) {
      const tallies = { teacher: new ReevaluationTally(), constant: new ReevaluationTally() };
      statistics = { player, rows: 0, ...tallies, scores: [], margins: [] };
      this.#teachers.set(key, statistics);
    }
    return statistics;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#source[Symbol.asyncDispose]();
  }
}

/** Returns the results of the episode at an index. @param constant the results of heuristic+constant in the same episodes. */
const scoreAt = (graded: Graded, constant: Graded, i: number): EpisodeScore => ({
  score: graded.finalScores[i],
  margin: graded.finalScores[i] - constant.finalScores[i],
  beliefMae: graded.beliefMae[i],
});

const pickBaselines = (all: ReadonlyMap<string, Graded>, i: number): Map<string, Graded> =>
  new Map(Array.from(all, ([name, graded]) => [name, pickEpisodes(graded, [i])]));
