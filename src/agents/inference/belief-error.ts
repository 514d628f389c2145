/** The kind of belief error that a grader counts. */
import { COMPONENT_NAMES } from '../../world/fields.js';

const BELIEF_ACCURACY = COMPONENT_NAMES.indexOf('belief_accuracy');
const BELIEF_SKILL = COMPONENT_NAMES.indexOf('belief_skill');

/** The distance of a belief from the target, or its square. */
export type BeliefError = 'absolute' | 'squared';

/**
 * Returns the belief error that a grader counts: 'squared' if `belief_skill` weighs more than `belief_accuracy`, else
 * 'absolute'. @param grader f32 [8]: the weights of the components.
 */
export const errorCountedBy = (grader: Float32Array): BeliefError =>
  grader[BELIEF_SKILL] > grader[BELIEF_ACCURACY] ? 'squared' : 'absolute';
