/** Evaluations and audits that load their modules on first use: most programs that import the package need neither. */
import type { Audit } from './audit/audit.js';
import type { AuditOptions } from './audit/audit-options.js';
import type { Evaluation } from './evaluate.js';
import type { EvaluateOptions } from './evaluate-options.js';

/**
 * Plays every policy under every condition and summarizes final scores, their digests, and paired wins against the heuristic.
 * @throws InputError for invalid options, before any episode; BackendError if the requested backend or kernel is not
 *   available; the errors of a language model's `complete`.
 */
export async function evaluate(options: EvaluateOptions = {}): Promise<Evaluation> {
  const module = await import('./evaluate.js');
  return module.evaluate(options);
}

/**
 * Measures what a grader rewards, before any training. Searches for the best action sequence for all profiles (with and
 * without neglect of the first half), for each component alone and for single profiles, and for the best reactive policy
 * (which chooses by step and meters alone). Scores them, null players (policies that state a belief without knowledge) and
 * planners on the same fresh seeds. Then plays a world where every profile is neutral. The result does not depend on the
 * backend, kernel and threads.
 * @throws InputError for an invalid option, before any episode; BackendError if the requested backend or kernel is not
 *   available; the signal's reason.
 */
export async function audit(options: AuditOptions = {}): Promise<Audit> {
  const module = await import('./audit/audit.js');
  return module.audit(options);
}
