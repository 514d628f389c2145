/** Stored episodes into rows: replayed, so that nothing is learned from a line that is not true, then chosen. */
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
import { lineRefusal, type Scored, scoreRefusal } from './filters.js';
import type { SftPlan } from './sft-options.js';
import { type SftRow, sftRowsOf } from './sft-rows.js';
import { type Split, splitOf } from './split.js';

/** What is known of a teacher's weeks that became rows, and of the heuristic's with the constant belief in the same. */
export interface Source {
  readonly player: Player;
  rows: number;
  readonly own: RowTally;
  readonly constant: RowTally;
  /** Of each week. */
  readonly scores: number[];
  /** Over the heuristic with the constant belief, of each week. */
  readonly margins: number[];
}

export interface SplitCounts {
  rows: number;
  episodes: number;
  readonly seeds: Set<number>;
}

/** A week that was not played as its line says. */
export interface Untrue {
  /** Its place among those that were passed. */
  readonly index: number;
  readonly mismatches: readonly Mismatch[];
}

export class SftSelection implements Disposable {
  readonly #plan: SftPlan;
  readonly #replayer: TrajectoryReplayer;
  readonly #baselines: BaselinePlayer;
  readonly #sources = new Map<string, Source>();
  /** By why weeks were left out. */
  readonly leftOut = new Map<string, number>();
  /** Answers of chosen weeks that were left out: without an action, a belief or words, or with half a character. */
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

  get sources(): Source[] {
    return [...this.#sources.values()];
  }

  /** Whether a week is asked for, by what its line says; one that is not is counted. */
  wants(episode: TrajectoryEpisode): boolean {
    const refusal = lineRefusal(this.#plan, episode);
    if (refusal !== null) this.#leaveOut(refusal);
    return refusal === null;
  }

  /** @param episodes at least one, all wanted. @returns their rows by split, and the weeks that are not as recorded. */
  choose(episodes: readonly TrajectoryEpisode[]): { rows: Record<Split, SftRow[]>; untrue: Untrue[] } {
    const { mismatches, ...earned } = this.#replayer.replay(episodes);
    const own = gradedBy(earned, this.#plan.grader);
    const rivals = this.#baselines.play(episodes, this.#plan.grader);
    const rows: Record<Split, SftRow[]> = { train: [], validation: [] };
    const untrue: Untrue[] = [];
    for (const [i, episode] of episodes.entries()) {
      if (mismatches[i].length > 0) untrue.push({ index: i, mismatches: mismatches[i] });
      const refusal =
        mismatches[i].length > 0
          ? 'not as recorded'
          : scoreRefusal(this.#plan, scoredAt(own, rivals.get(PAIRED_BASELINES.constant)!, i));
      if (refusal === null) this.#take(episode, picked(own, [i]), pickedAll(rivals, i), rows);
      else this.#leaveOut(refusal);
    }
    return { rows, untrue };
  }

  #take(
    episode: TrajectoryEpisode,
    own: Graded,
    rivals: ReadonlyMap<string, Graded>,
    rows: Record<Split, SftRow[]>,
  ): void {
    const made = sftRowsOf(this.#plan, episode, own.finalScores[0]);
    if (made.length === 0) {
      this.#leaveOut('no whole answers');
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
    const source = this.#sourceOf(episode);
    source.rows += made.length;
    source.own.add(own, rivals);
    const constant = rivals.get(PAIRED_BASELINES.constant)!;
    source.constant.add(constant, rivals);
    const { score, margin } = scoredAt(own, constant, 0);
    source.scores.push(score);
    source.margins.push(margin);
  }

  #leaveOut(why: string): void {
    this.leftOut.set(why, (this.leftOut.get(why) ?? 0) + 1);
  }

  #sourceOf({ teacher, model, objective, oracle }: TrajectoryEpisode): Source {
    const player = { teacher, model, objective, oracle };
    const key = JSON.stringify(player);
    let source = this.#sources.get(key);
    if (source === undefined) {
      source = { player, rows: 0, own: new RowTally(), constant: new RowTally(), scores: [], margins: [] };
      this.#sources.set(key, source);
    }
    return source;
  }

  [Symbol.dispose](): void {
    this.#replayer[Symbol.dispose]();
    this.#baselines[Symbol.dispose]();
  }
}

const scoredAt = (own: Graded, constant: Graded, i: number): Scored => ({
  score: own.finalScores[i],
  margin: own.finalScores[i] - constant.finalScores[i],
  beliefMae: own.beliefMae[i],
});

const pickedAll = (all: ReadonlyMap<string, Graded>, i: number): Map<string, Graded> =>
  new Map(Array.from(all, ([name, graded]) => [name, picked(graded, [i])]));
