/** What a link says of a week: whose it is, what was done by hand, and how many steps a policy played after that. */
import { GRADER_NAMES, MAX_U32, NUM_STEPS } from '../../../../src/world/fields.js';
import { type Field, oneOf, type StateOf, toAddress, whole } from '../../address.js';
import { movesFrom, movesText } from '../../person/moves-text.js';
import { BY_HAND, PLAYER_NAMES } from '../../person/names.js';
import { type Move, PERSONS } from '../../person/week.js';

const moves: Field<readonly Move[]> = {
  initial: [],
  expected: `at most ${NUM_STEPS} digits for actions, and where beliefs change`,
  read: movesFrom,
  write: movesText,
};

export const PERSON_FIELDS = {
  seed: whole(4242, 0, MAX_U32),
  person: oneOf('sampled', PERSONS),
  grader: oneOf('v2', GRADER_NAMES),
  by: oneOf(BY_HAND, [BY_HAND, ...PLAYER_NAMES]),
  /** By hand, before any policy. */
  moves,
  /** Steps that the policy has played since. */
  at: whole(0, 0, NUM_STEPS),
};

export type PersonState = StateOf<typeof PERSON_FIELDS>;

/** Of a week's state: the same for the same week, moves and player. */
export const addressOf = (state: PersonState): string => toAddress('person', PERSON_FIELDS, state);
