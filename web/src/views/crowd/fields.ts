/** The fields of the crowd's address. */
import { POLICY_NAMES } from '../../../../src/agents/policies/fixed-policies.js';
import { GRADER_NAMES, MAX_U32 } from '../../../../src/world/fields.js';
import { oneOf, whole } from '../../address.js';
import { PROFILE_CHOICES } from '../../person/episode-types.js';
import { playerField } from '../../students/kept-students.js';

// The limits and the default of `people` are chosen by hand: more people take longer.
const MIN_PEOPLE = 1000;
export const MAX_PEOPLE = 1_000_000;

/** The value of `against` for no second policy. */
export const NO_POLICY = 'none';

export const CROWD_FIELDS = {
  /** The number of people. Each policy plays one episode with each person. */
  people: whole(100_000, MIN_PEOPLE, MAX_PEOPLE),
  /** Episode i has this seed plus i, which is at most MAX_U32. */
  seed: whole(0, 0, MAX_U32 + 1 - MAX_PEOPLE),
  policy: playerField('heuristic', POLICY_NAMES),
  /** The second policy, which is compared with the first. */
  against: playerField('open-loop', [...POLICY_NAMES, NO_POLICY]),
  grader: oneOf('v2', GRADER_NAMES),
  /** The profiles of the people. */
  persons: oneOf('sampled', PROFILE_CHOICES),
};
