/**
 * The subpath `rhythm-vec/agents` in Node: inference, planning, policies, students, search for action sequences.
 * `rhythm-vec` exports these too.
 * @module
 */

export type { Answer, LanguageModel } from '../agents/llm/language-model.js';
export type { Outlook } from '../agents/planner/imagination.js';
export type { Objective } from '../agents/planner/objectives.js';
export type { PlanOutlook, PlanReport } from '../agents/planner/plan-report.js';
export { AsyncPlanner, createAsyncPlanner, type Decision, Planner } from '../agents/planner/planner.js';
export type { PlannerOptions } from '../agents/planner/planner-options.js';
export { type BuiltinPolicy, builtin, type PolicyName } from '../agents/policies/stepped-policies.js';
export {
  type FoundActionSequence,
  searchActionSequence,
  searchActionSequences,
} from '../agents/search/find-sequences.js';
export type { ActionSequenceProblem, ActionSequenceSearchOptions } from '../agents/search/search-options.js';
export * from './common/agents.js';
