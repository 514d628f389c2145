/** Selects stored episodes for SFT, makes their rows, and computes what their card says. */
import type { Grader } from '../../../engine/graders/grader.js';
import { type Graded, PAIRED_BASELINES } from '../../../evaluation/reevaluation/baselines.js';
import { ReevaluationTally } from '../../../evaluation/reevaluation/reevaluation.js';
import type { Player, TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { SCHEMAS } from '../../../shared/schemas.js';
import {
  episodeFilters,
  type Filter,
  failedFilter,
  Selection,
  type SelectionProvenance,
  selectionProvenance,
} from '../episode-selection.js';
import type { EpisodeResult, ResultSource } from '../replay-results.js';
import { type SftPlan, type SftRow, sftRowsOf } from './sft-rows.js';

/** Results of a replayed episode. */
interface EpisodeScore {
  readonly score: number;
  /** The score minus that of heuristic+constant, the heuristic with the constant belief, in the same episode. */
  readonly margin: number;
  readonly beliefMae: number;
}

/** Filters of stored episodes, which need no replay. */
export const SFT_FILTERS: readonly Filter<SftPlan, TrajectoryEpisode>[] = [
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

/** Makes rows for SFT. Keeps no rows. */
export class SftSelection extends Selection<SftPlan, SftRow> {
  readonly #teachers = new Map<string, TeacherStatistics>();
  /** The number of answers of selected episodes, at the plan's steps, that are not usable as rows (`isUsableAnswer`). */
  answersLeftOut = 0;
  /** The graders of the selected episodes, which their prompts describe. The keys are the graders' JSON. */
  readonly graders = new Map<string, PromptGrader>();

  /** @param source replays episodes and plays the baselines; the selection closes it. */
  constructor(plan: SftPlan, source: ResultSource) {
    super(plan, source, SFT_FILTERS);
  }

  /** The statistics of each teacher. */
  get teachers(): TeacherStatistics[] {
    return [...this.#teachers.values()];
  }

  protected override take(
    episode: TrajectoryEpisode,
    { graded, baselines }: EpisodeResult,
  ): SftRow[] | string {
    const constant = baselines[PAIRED_BASELINES.constant];
    const scored = scoreOf(graded, constant);
    const failed = failedFilter(REPLAY_FILTERS, this.plan, scored);
    if (failed !== null) return failed;
    const { rows, answers } = sftRowsOf(this.plan, episode, scored.score);
    if (rows.length === 0) return 'no usable answers';
    const { first, last } = this.plan.steps;
    this.answersLeftOut += last - first + 1 - answers;
    this.#countGrader(episode);
    const statistics = this.#statisticsOf(episode);
    const paired = new Map(Object.entries(baselines));
    statistics.rows += rows.length;
    statistics.teacher.add(graded, paired);
    statistics.constant.add(constant, paired);
    statistics.scores.push(scored.score);
    statistics.margins.push(scored.margin);
    return rows;
  }

  #countGrader({ grader }: TrajectoryEpisode): void {
    const key = JSON.stringify(grader);
    const counted = this.graders.get(key) ?? { grader, episodes: 0 };
    this.graders.set(key, counted);
    counted.episodes++;
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
}

/** Returns the score of one episode. @param constant the result of heuristic+constant in the same episode. */
const scoreOf = (
  { finalScores: [score], beliefMae: [beliefMae] }: Graded,
  constant: Graded,
): EpisodeScore => ({
  score,
  margin: score - constant.finalScores[0],
  beliefMae,
});

/** Returns the provenance of a plan. */
export const sftProvenanceOf = (plan: SftPlan): SelectionProvenance => {
  const filters = [...SFT_FILTERS, ...REPLAY_FILTERS].flatMap(({ describe }) => describe(plan) ?? []);
  const objective = plan.objective === 'none' ? null : plan.objective;
  return selectionProvenance(SCHEMAS.sftDataset, { objective }, plan, filters);
};
