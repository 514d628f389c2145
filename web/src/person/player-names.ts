/** The names of players, except students that the browser keeps. The page lists them; the worker plays them. */
import { POLICY_NAMES } from '../../../src/agents/policies/fixed-policies.js';
import { STUDENT_NAMES } from '../../../src/agents/student/packaged-students.js';

/** The user of the page. */
export const BY_HAND = 'hand';

/** The name that stands for no rival. A rival is a policy that plays the user's episode. */
export const NOBODY = 'nobody';

/** Policies that are called at each step. Oracles are left out. */
const STEPPED = [
  'heuristic+inference',
  'open-loop+inference',
  'reactive+constant',
  'planner',
  'planner-wellbeing',
  'planner-prior',
  ...STUDENT_NAMES,
];

/** All policies of the package, except oracles. */
export const PLAYER_NAMES: readonly string[] = [...POLICY_NAMES, ...STEPPED];

/** Returns whether a policy takes some tenths of a second per step on the reference. */
export const isSlow = (name: string): boolean => name.startsWith('planner');
