/** Selects stored episodes that equal their replay and pass the filters, and makes their rows for SFT. */
import type { Grader } from '../../../engine/graders/grader.js';
import { type Draw, threefry } from '../../../engine/reference/threefry.js';
import { type Graded, PAIRED_BASELINES, pickEpisodes } from '../../../evaluation/reevaluation/baselines.js';
import { ReevaluationTally } from '../../../evaluation/reevaluation/reevaluation.js';
import type { Mismatch } from '../../../evaluation/reevaluation/trajectory-replayer.js';
import type { ReplayEngine } from '../../../rollouts/trajectories/episode-replayer.js';
import type { Player, TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { SCHEMAS, type Schema } from '../../../shared/schemas.js';
import { packageVersion } from '../../../shared/version.js';
import { createWorld } from '../../../world/world.js';
import {
  episodeFilters,
  type Filter,
  failedFilter,
  type SelectionProvenance,
  selectionProvenance,
} from '../episode-filters.js';
import { PlayedResults, type ResultSource } from '../replay-results.js';
import { type SftPlan, type SftRow, sftRowsOf } from './sft-rows.js';

export const SPLITS = ['train', 'validation'] as const;
export type Split = (typeof SPLITS)[number];

/** The second word of the Threefry key of its draws: "SPLT" in ASCII. No stream of the published world has this number. */
const STREAM = 0x53504c54;
const draw: Draw = { x0: 0, x1: 0 };

/**
 * Returns the split of all rows of a seed. The split does not depend on the teacher or on other episodes, so a row keeps its
 * split when the dataset grows.
 */
export const splitOf = (
  { validation, splitSeed }: Pick<SftPlan, 'validation' | 'splitSeed'>,
  seed: number,
): Split => (threefry(splitSeed, STREAM, seed, 0, draw).x0 < validation * 2 ** 32 ? 'validation' : 'train');

/** Results of a replayed episode. */
interface EpisodeScore {
  readonly score: number;
  /** The score minus that of heuristic+constant, the heuristic with the constant belief, in the same episode. */
  readonly margin: number;
  readonly beliefMae: number;
}

/** Filters of stored episodes, which need no replay. */
const STORED_FILTERS: readonly Filter<SftPlan, TrajectoryEpisode>[] = [
  {
    reason: 'another objective',
    describe: ({ objective }) => `objective ${objective}`,
    accepts: (plan, { objective }) => (objective ?? 'none') === plan.objective,
  },
  ...episodeFilters('teacher'),
  {
    reason: 'answers without an action',
    describe: ({ onlyParsed }) => (onlyParsed ? 'every completion of the episode names an action' : null),
    accepts: ({ onlyParsed }, { steps }) => !onlyParsed || steps.every(({ parsed }) => parsed),
  },
];

/** Filters of the replay's results. */
const REPLAY_FILTERS: readonly Filter<SftPlan, EpisodeScore>[] = [
  {
    reason: 'a lower score',
    describe: ({ minScore, grader }) =>
      minScore === null ? null : `a final score of at least ${minScore} under ${grader.name}`,
    accepts: ({ minScore }, { score }) => minScore === null || score >= minScore,
  },
  {
    reason: 'a smaller margin over heuristic+constant',
    describe: ({ minMargin, grader }) =>
      minMargin === null
        ? null
        : `a margin of at least ${minMargin} over heuristic+constant in the same episode, under ${grader.name}`,
    accepts: ({ minMargin }, { margin }) => minMargin === null || margin >= minMargin,
  },
  {
    reason: 'a larger belief error',
    describe: ({ maxBeliefError }) =>
      maxBeliefError === null
        ? null
        : `an error of the last belief of at most ${maxBeliefError}: SELECTED BY HIDDEN STATE, which no agent sees`,
    accepts: ({ maxBeliefError }, { beliefMae }) => maxBeliefError === null || beliefMae <= maxBeliefError,
  },
];

/** Returns the reason why a stored episode is left out before the replay; null if it is accepted. */
export const storedExclusion = (plan: SftPlan, episode: TrajectoryEpisode): string | null =>
  failedFilter(STORED_FILTERS, plan, episode);

/** Returns the reason why a replayed episode is left out; null if it is accepted. */
const replayExclusion = (plan: SftPlan, scored: EpisodeScore): string | null =>
  failedFilter(REPLAY_FILTERS, plan, scored);

/** Describes the filters of a plan, as cards list them. */
const filterTexts = (plan: SftPlan): string[] =>
  [...STORED_FILTERS, ...REPLAY_FILTERS].flatMap(({ describe }) => describe(plan) ?? []);

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
interface PromptGrader {
  readonly grader: Grader;
  episodes: number;
}

/** The rows, selected episodes and seeds of one split. */
interface SplitCounts {
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

/** The provenance, in snake_case as it is written. */
export interface SftProvenance extends SelectionProvenance {
  readonly schema: Schema;
  /** The version of the package. */
  readonly version: string;
  readonly world_digest: string;
  /** The teachers' objective; null for teachers without one. */
  readonly objective: string | null;
}

/** Returns the provenance of a plan. */
export const sftProvenanceOf = (plan: SftPlan): SftProvenance => ({
  schema: SCHEMAS.sftDataset,
  version: packageVersion(),
  world_digest: createWorld().digest,
  objective: plan.objective === 'none' ? null : plan.objective,
  ...selectionProvenance(plan, filterTexts(plan)),
});
