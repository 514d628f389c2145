/** The shape of the critic's network. */
import { FEATURE_COUNT } from '../../../agents/student/features.js';
import { PROFILE_SIZE } from '../../../world/fields.js';

/** The inputs of the student, and the hidden profile. */
export const CRITIC_INPUTS = FEATURE_COUNT + PROFILE_SIZE;
/** One prediction, and padding: jax-js multiplies matrices whose width is not a multiple of four ten times slower. */
export const CRITIC_OUTPUTS = 4;
