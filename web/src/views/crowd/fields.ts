/** What a link says of the crowd. */
import { POLICY_NAMES } from '../../../../src/policies/policies.js';
import { GRADER_NAMES, MAX_U32 } from '../../../../src/world/fields.js';
import { oneOf, whole } from '../../address.js';
import { PERSONS } from '../../person/week.js';

const LEAST_PEOPLE = 1000;
export const MOST_PEOPLE = 1_000_000;

/** Nobody to be compared with. */
export const NOBODY = 'none';

export const CROWD_FIELDS = {
  people: whole(100_000, LEAST_PEOPLE, MOST_PEOPLE),
  /** Person i has this plus i, which is a seed as well however many they are. */
  seed: whole(0, 0, MAX_U32 + 1 - MOST_PEOPLE),
  policy: oneOf('heuristic', POLICY_NAMES),
  against: oneOf('blind-tape', [...POLICY_NAMES, NOBODY]),
  grader: oneOf('v2', GRADER_NAMES),
  persons: oneOf('sampled', PERSONS),
};
