/**
 * The bracket of a grader: the best score of one action sequence and one belief for everybody, and the score of a planner that
 * knows the person.
 */
import { type ScoreAnchors, shippedAnchors } from '../../../src/evaluation/audit/read-anchors.js';
import { presetOf, type Weights } from './weights.js';

/** Returns both scores, as an audit measured them on sampled profiles; null for weights that no built-in grader has. */
export function bracketOf(weights: Weights): ScoreAnchors | null {
  const preset = presetOf(weights);
  return (preset && shippedAnchors(preset.name)?.anchors.sampled) ?? null;
}
