/** `evaluate` and `audit`, which load their modules on first use: most programs that import the package need neither. */
import { selectConditions } from '../world/conditions.js';
import type { Audit } from './audit/audit.js';
import type { AuditOptions } from './audit/audit-options.js';
import type { Evaluation } from './evaluate.js';
import { checkEvaluateOptions, type EvaluateOptions } from './evaluate-options.js';

/**
 * Plays every policy under every condition. Returns the mean final scores, digests of the scores, and the wins against the
 * heuristic on the same seeds.
 * @throws InputError for invalid options, before any episode; BackendError if the requested backend or kernel is not
 *   available; the errors of a language model's `complete`; the signal's reason.
 */
export async function evaluate(options: EvaluateOptions = {}): Promise<Evaluation> {
  const [{ evaluatePolicies }, { selectPolicies }] = await Promise.all([
    import('./evaluate.js'),
    import('./choose-policies.js'),
  ]);
  checkEvaluateOptions(options);
  const conditions = selectConditions(options);
  return evaluatePolicies(selectPolicies(options, conditions), conditions, options);
}

/**
 * Measures what a grader rewards, before any training. Searches for action sequences: the best for all profiles (with and
 * without neglect of the first half), the best for single profiles, and those that raise one component each. Also searches for
 * the best reactive policy, which chooses by step and meters alone. Scores what it found, null players (policies that state a
 * belief without knowledge), planners and `policies` on fresh seeds, whose episodes no search played. Also plays a world where
 * every profile is neutral. The scores do not depend on the backend, kernel or threads.
 * @throws InputError for an invalid option, before any episode; BackendError if the requested backend or kernel is not
 *   available; the signal's reason.
 */
export async function audit(options: AuditOptions = {}): Promise<Audit> {
  const [module, { openPlanner }] = await Promise.all([
    import('./audit/audit.js'),
    import('../agents/planner/planner.js'),
  ]);
  return module.audit(options, openPlanner);
}
