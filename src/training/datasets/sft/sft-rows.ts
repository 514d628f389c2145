/** Rows of a dataset for SFT: a prompt and the teacher's answer. */
import type { Objective as PlannerObjective } from '../../../agents/planner/objectives.js';
import type { ChatMessage } from '../../../rollouts/text/prompt.js';
import { isUsableAnswer } from '../../../rollouts/trajectories/move.js';
import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { float32Decimal } from '../../../shared/float32-decimal.js';
import type { Columns } from '../../../shared/row-files/row-encoder.js';
import { checkBoolean, checkName } from '../../../shared/values.js';
import {
  checkBetween,
  type EpisodeSelection,
  type SelectionOptions,
  toSelection,
} from '../episode-selection.js';

/** Objectives of teachers. 'none' stands for teachers without an objective, such as language models. */
export const OBJECTIVES = ['wellbeing', 'score', 'none'] as const satisfies readonly (
  | PlannerObjective
  | 'none'
)[];
export type Objective = (typeof OBJECTIVES)[number];

export interface SftOptions extends SelectionOptions {
  /** Only episodes of teachers with this objective. Default wellbeing. */
  readonly objective?: Objective;
  /** Only episodes in which every completion names an action. Default false. */
  readonly onlyParsed?: boolean;
  /** The minimum final score, in [0, 1]. Default: no minimum. */
  readonly minScore?: number;
  /**
   * The minimum margin, in [-1, 1]: the final score minus the score of heuristic+constant, which infers nothing, in the same
   * episode. Default: no minimum.
   */
  readonly minMargin?: number;
  /** The maximum mean absolute error of the last belief, in [0, 1]. Uses hidden state. Default: no maximum. */
  readonly maxBeliefError?: number;
}

/** Options with all defaults filled in. Unused filters are null. */
export interface SftPlan extends EpisodeSelection {
  readonly objective: Objective;
  readonly onlyParsed: boolean;
  readonly minScore: number | null;
  readonly minMargin: number | null;
  readonly maxBeliefError: number | null;
}

/** Validates options. @throws InputError. */
export const toSftPlan = (options: SftOptions): SftPlan => ({
  ...toSelection(options),
  objective: checkName('objective', options.objective ?? 'wellbeing', OBJECTIVES),
  onlyParsed: checkBoolean('onlyParsed', options.onlyParsed ?? false),
  minScore: checkBound('--min-score', options.minScore, 0),
  minMargin: checkBound('--min-margin', options.minMargin, -1),
  maxBeliefError: checkBound('--max-belief-error', options.maxBeliefError, 0),
});

const checkBound = (what: string, value: number | undefined, low: number): number | null =>
  value === undefined ? null : checkBetween(what, value, low, 1);

/** A row: the answer to a state. Fields are columns. */
export interface SftRow {
  /** System, user, assistant: the rules, the observation, and the full completion. */
  readonly messages: readonly ChatMessage[];
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
  readonly condition: string;
  /** The number of steps before the state. */
  readonly step_index: number;
  readonly teacher: string;
  readonly model: string | null;
  readonly objective: string | null;
  /** The episode's final score under the plan's grader: the shortest decimal of the float32. */
  readonly final_score: number;
}

export const SFT_COLUMNS: Columns<SftRow> = {
  messages: { type: 'messages' },
  seed: { type: 'integer' },
  profile_mode: { type: 'text' },
  condition: { type: 'text' },
  step_index: { type: 'integer' },
  teacher: { type: 'text' },
  model: { type: 'text', nullable: true },
  objective: { type: 'text', nullable: true },
  final_score: { type: 'number' },
};

/** Returns a row for each usable answer at the plan's steps. @param score the episode's final score. */
export function sftRowsOf({ steps }: SftPlan, episode: TrajectoryEpisode, score: number): SftRow[] {
  const { seed, profile_mode, condition, teacher, model, objective, system } = episode;
  const final_score = float32Decimal(score);
  return episode.steps
    .slice(steps.first, steps.last + 1)
    .filter(isUsableAnswer)
    .map(({ step, prompt, completion }) => ({
      messages: [
        { role: 'system', content: system! },
        { role: 'user', content: prompt! },
        { role: 'assistant', content: completion! },
      ],
      seed,
      profile_mode,
      condition,
      step_index: step,
      teacher,
      model,
      objective,
      final_score,
    }));
}
