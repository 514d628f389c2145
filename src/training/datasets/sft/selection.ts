/** Replays stored episodes, selects those that equal their replay and pass the filters, and makes their rows for SFT. */
import {
  BaselinePlayer,
  type Graded,
  gradedBy,
  PAIRED_BASELINES,
  picked,
} from '../../../evaluation/reevaluation/baselines.js';
import type { Mismatch } from '../../../evaluation/reevaluation/mismatch.js';
import { RowTally } from '../../../evaluation/reevaluation/reevaluation-tally.js';
import { type Engine, TrajectoryReplayer } from '../../../evaluation/reevaluation/replayer.js';
import type { Player, TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { type EpisodeScore, lineRefusal, scoreRefusal } from './filters.js';
import type { SftPlan } from './sft-options.js';
import { type SftRow, sftRowsOf } from './sft-rows.js';
import { type Split, splitOf } from './split.js';

/** Statistics of one teacher's selected episodes, and of heuristic+constant in the same episodes. */
export interface TeacherStatistics {
  readonly player: Player;
  rows: number;
  readonly teacher: RowTally;
  readonly constant: RowTally;
  /** The final score of each episode. */
  readonly scores: number[];
  /** The margin of each episode over heuristic+constant. */
  readonly margins: number[];
}

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

export interface Selected {
  readonly rows: Record<Split, SftRow[]>;
  readonly mismatched: MismatchedEpisode[];
}

export class SftSelection implements Disposable {
  readonly #plan: SftPlan;
  readonly #replayer: TrajectoryReplayer;
  readonly #baselines: BaselinePlayer;
  readonly #teachers = new Map<string, TeacherStatistics>();
  /** The number of episodes that were left out, by reason. */
  readonly leftOut = new Map<string, number>();
  /** The number of answers of selected episodes that are no rows. See `isUsable` of sft-rows.ts. */
  answersLeftOut = 0;
  readonly counts: Readonly<Record<Split, SplitCounts>> = {
    train: { rows: 0, episodes: 0, seeds: new Set() },
    validation: { rows: 0, episodes: 0, seeds: new Set() },
  };

  /** @throws as `createVecEnv`. */
  constructor(plan: SftPlan, engine: Engine) {
    this.#plan = plan;
    this.#replayer = new TrajectoryReplayer(engine);
    this.#baselines = new BaselinePlayer(engine);
  }

  get teachers(): TeacherStatistics[] {
    return [...this.#teachers.values()];
  }

  /** Whether an episode passes the filters of its line. Counts one that does not. */
  acceptsLine(episode: TrajectoryEpisode): boolean {
    const refusal = lineRefusal(this.#plan, episode);
    if (refusal !== null) this.#leaveOut(refusal);
    return refusal === null;
  }

  /**
   * Replays episodes and makes rows of those that pass.
   * @param episodes at least one; `acceptsLine` is true for each.
   */
  select(episodes: readonly TrajectoryEpisode[]): Selected {
    const { mismatches, ...replayed } = this.#replayer.replay(episodes);
    const graded = gradedBy(replayed, this.#plan.grader);
    const baselines = this.#baselines.play(episodes, this.#plan.grader);
    const rows: Record<Split, SftRow[]> = { train: [], validation: [] };
    const mismatched: MismatchedEpisode[] = [];
    for (const [i, episode] of episodes.entries()) {
      if (mismatches[i].length > 0) mismatched.push({ index: i, mismatches: mismatches[i] });
      const refusal =
        mismatches[i].length > 0
          ? 'not as recorded'
          : scoreRefusal(this.#plan, scoreAt(graded, baselines.get(PAIRED_BASELINES.constant)!, i));
      if (refusal === null) this.#add(episode, picked(graded, [i]), pickedAll(baselines, i), rows);
      else this.#leaveOut(refusal);
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
    const statistics = this.#statisticsOf(episode);
    statistics.rows += made.length;
    statistics.teacher.add(graded, baselines);
    const constant = baselines.get(PAIRED_BASELINES.constant)!;
    statistics.constant.add(constant, baselines);
    const { score, margin } = scoreAt(graded, constant, 0);
    statistics.scores.push(score);
    statistics.margins.push(margin);
  }

  #leaveOut(reason: string): void {
    this.leftOut.set(reason, (this.leftOut.get(reason) ?? 0) + 1);
  }

  #statisticsOf({ teacher, model, objective, oracle }: TrajectoryEpisode): TeacherStatistics {
    const player = { teacher, model, objective, oracle };
    const key = JSON.stringify(player);
    let statistics = this.#teachers.get(key);
    if (statistics === undefined) {
      const tallies = { teacher: new RowTally(), constant: new RowTally() };
      statistics = { player, rows: 0, ...tallies, scores: [], margins: [] };
      this.#teachers.set(key, statistics);
    }
    return statistics;
  }

  [Symbol.dispose](): void {
    this.#replayer[Symbol.dispose]();
    this.#baselines[Symbol.dispose]();
  }
}

const scoreAt = (graded: Graded, constant: Graded, i: number): EpisodeScore => ({
  score: graded.finalScores[i],
  margin: graded.finalScores[i] - constant.finalScores[i],
  beliefMae: graded.beliefMae[i],
});

const pickedAll = (all: ReadonlyMap<string, Graded>, i: number): Map<string, Graded> =>
  new Map(Array.from(all, ([name, graded]) => [name, picked(graded, [i])]));
