/** The public API of rhythm-vec in Node: a batched simulation engine of the Rhythm life simulator. */

export type { Answer, LanguageModel } from './agents/llm/language-model.js';
export type { Objective } from './agents/planner/objectives.js';
export type { Outlook } from './agents/planner/plan-evaluation.js';
export type { PlanOutlook, PlanReport } from './agents/planner/plan-report.js';
export { type Decision, Planner } from './agents/planner/planner.js';
export type { PlannerOptions } from './agents/planner/planner-options.js';
export {
  type FoundActionSequence,
  searchActionSequence,
  searchActionSequences,
} from './agents/search/find-sequences.js';
export type { ActionSequenceProblem, ActionSequenceSearchOptions } from './agents/search/search-options.js';
export * from './common-exports.js';
export { listAsyncBackends, listBackends } from './engine/backends/node.js';
export { createAsyncVecEnv, createVecEnv } from './engine/node.js';
export { type Audit, type AuditActionSequence, audit } from './evaluation/audit/audit.js';
export type { AuditOptions } from './evaluation/audit/audit-options.js';
export type { AuditRow, ComponentGain, Gains } from './evaluation/audit/gains.js';
export { type Evaluation, type EvaluationRow, evaluate } from './evaluation/evaluate.js';
export type { EvaluateOptions, LlmOptions, PlayedEpisodes } from './evaluation/evaluate-options.js';
export { rolloutGroups, scoreReplay } from './rollouts/node.js';
export type { SeedRange } from './world/conditions.js';
