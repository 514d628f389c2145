/** Who can play, by name: the page needs to know no more of them than that. */
import { POLICY_NAMES } from '../../../src/policies/policies.js';

/** Whoever sits before the page. */
export const BY_HAND = 'hand';

/** Policies that are asked before every step, less the oracle: no agent. */
const ASKED = [
  'heuristic+inference',
  'blind-tape+inference',
  'planner',
  'planner-wellbeing',
  'planner-prior',
];

export const PLAYER_NAMES: readonly string[] = [...POLICY_NAMES, ...ASKED];

/** Thinks for a while before each step: here, on the reference, some tenths of a second. */
export const thinksLong = (name: string): boolean => name.startsWith('planner');
