/** Exports of `rhythm-vec` and `rhythm-vec/evaluation` in Node: evaluation of policies and audits of graders. */

export type { Assessment, Check } from '../evaluation/audit/assessment.js';
export type { Audit, AuditActionSequence } from '../evaluation/audit/audit.js';
export type { AuditOptions } from '../evaluation/audit/audit-options.js';
export type { AuditBelief } from '../evaluation/audit/beliefs.js';
export type {
  Anchor,
  Anchors,
  ImpossibleWorld,
  NullGain,
  NullPlayers,
} from '../evaluation/audit/controls.js';
export type { AuditRow, ComponentGain, Gains } from '../evaluation/audit/gains.js';
export {
  anchorsOf,
  type GraderAnchors,
  type ScoreAnchors,
  shippedAnchors,
} from '../evaluation/audit/read-anchors.js';
export type { Evaluation, EvaluationRow } from '../evaluation/evaluate.js';
export type { EvaluateOptions, LlmOptions, PlayedEpisodes } from '../evaluation/evaluate-options.js';
export { audit, evaluate } from '../evaluation/on-first-use.js';
export type { ConditionName, SeedRange } from '../world/conditions.js';
export * from './common/evaluation.js';
