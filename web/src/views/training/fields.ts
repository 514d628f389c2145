/** The fields of the training view's address. */
import { GRADER_NAMES, MAX_U32 } from '../../../../src/world/fields.js';
import { oneOf, whole } from '../../address.js';
import { TEACHERS } from '../../training/training-types.js';

export const TRAINING_FIELDS = {
  teacher: oneOf('planner', TEACHERS),
  grader: oneOf('v2', GRADER_NAMES),
  seed: whole(0, 0, MAX_U32),
};
