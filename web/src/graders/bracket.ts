/** The bracket of a grader: 0 is the best score without looking, 1 that of a planner which knows the person. */
import type { ScoreAnchors } from '../../../src/evaluation/audit/anchors-of.js';
import { shippedAnchors } from '../../../src/evaluation/audit/shipped-anchors.js';
import { presetOf, type Weights } from './weights.js';

/** Returns the audited ends of the bracket; null for weights that are not those of a built-in grader. */
export function bracketOf(weights: Weights): ScoreAnchors | null {
  const preset = presetOf(weights);
  return (preset && shippedAnchors(preset.name)?.anchors.sampled) ?? null;
}
