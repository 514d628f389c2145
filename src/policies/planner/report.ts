/** What a planner would say of one episode's plan, in numbers with names. */
import type { Objective } from './objectives.js';
import type { Outlook } from './rehearsal.js';

/** A plan, and what is to be expected of it. */
export interface PlanOutlook extends Outlook {
  /** Codes of ACTION_NAMES, from this step to the last. */
  readonly actions: readonly number[];
  /** By how much its first action is expected to reduce the belief's error. */
  readonly tells: number;
}

export interface PlanReport {
  /** Steps taken. */
  readonly step: number;
  readonly objective: Objective;
  /** f32 [5]: as they are. */
  readonly meters: Float32Array;
  readonly plan: PlanOutlook;
  /** The best plan that was found to begin with another action. */
  readonly rival: PlanOutlook;
  /** How much less that came to, in units of the objective, what it would tell included. */
  readonly loss: number;
  /** What the plan's first action would tell more than the rival's, in the same units. */
  readonly curiosity: number;
  /** f64 [5]: what the person is believed to weigh each meter with. */
  readonly weights: Float64Array;
  /** f32 [6]: what components of the grade weigh. */
  readonly grader: Float32Array;
}
