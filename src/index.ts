/** rhythm-vec: the Rhythm life simulator, thousands of episodes at a time, exact to the bit. */
export { createAsyncVecEnv } from './async-vec-env.js';
export { type Audit, type AuditTape, audit } from './audit/audit.js';
export type { AuditOptions } from './audit/options.js';
export type { AuditRow, ComponentGain, Prices } from './audit/prices.js';
export { listAsyncBackends, listBackends } from './backends/node.js';
export type { SeedRange } from './evaluate/conditions.js';
export { type Evaluation, type EvaluationRow, evaluate } from './evaluate/evaluate.js';
export type { EvaluateOptions, PlayedEpisodes } from './evaluate/options.js';
export * from './everywhere.js';
export type { Objective } from './policies/planner/objectives.js';
export type { PlannerOptions } from './policies/planner/options.js';
export { type Decision, Planner } from './policies/planner/planner.js';
export type { Outlook } from './policies/planner/rehearsal.js';
export type { PlanOutlook, PlanReport } from './policies/planner/report.js';
export { rolloutGroups, scoreReplay } from './rollout.js';
export type { TapeProblem, TapeSearchOptions } from './search/options.js';
export { type FoundTape, searchTape, searchTapes } from './search/tapes.js';
export { createVecEnv } from './vec-env.js';
