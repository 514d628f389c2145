/** Types of a planner's report: the numbers behind its last decision for one episode. */
import type { Objective } from './objectives.js';
import type { Outlook } from './plan-evaluation.js';

/** A plan and its expected outcome. */
export interface PlanOutlook extends Outlook {
  /** Codes of ACTION_NAMES, from this step to the last. */
  readonly actions: readonly number[];
  /**
   * The expected reduction of the belief error by the first action. The error is squared if the grader weighs `belief_skill`
   * more than `belief_accuracy` (as v3), else absolute. 0 without inference, with `curiosity` 0, or if the grader pays for no
   * belief.
   */
  readonly errorReduction: number;
}

/** The numbers behind the planner's last decision for an episode. Newly allocated. */
export interface PlanReport {
  /** Steps taken. */
  readonly step: number;
  /** What the planner maximises. */
  readonly objective: Objective;
  /** f32 [5]: the current meters. */
  readonly meters: Float32Array;
  /** The plan, whose first action was chosen. */
  readonly plan: PlanOutlook;
  /** The best plan with another first action. */
  readonly rival: PlanOutlook;
  /**
   * What playing the rival instead would lose: the plan's value minus the rival's, in units of the objective. A plan's value
   * includes the value of information of its first action: what the more accurate belief after this action is worth.
   */
  readonly loss: number;
  /** The value of information of the plan's first action minus that of the rival's first action, in units of the objective. */
  readonly curiosity: number;
  /** f64 [5]: the expected reward weights of the profile. */
  readonly weights: Float64Array;
  /** f32 [8]: the weights of the grader. */
  readonly grader: Float32Array;
}
