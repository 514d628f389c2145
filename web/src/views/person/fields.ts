/** The fields of an episode's address: setting, players, moves by hand, and the number of a policy's steps after them. */
import { GRADER_NAMES, MAX_U32, NUM_STEPS } from '../../../../src/world/fields.js';
import { type Field, oneOf, type StateOf, toAddress, whole } from '../../address.js';
import { type Move, PROFILE_CHOICES } from '../../person/episode-types.js';
import { FIRST_SEED } from '../../person/guide.js';
import { movesFrom, movesText } from '../../person/moves-text.js';
import { BY_HAND, NOBODY, PLAYER_NAMES } from '../../person/player-names.js';
import { playerField } from '../../students/kept-students.js';

const moves: Field<readonly Move[]> = {
  initial: [],
  expected: `at most ${NUM_STEPS} digits for actions, then the changes of the belief,`,
  read: movesFrom,
  write: movesText,
};

export const PERSON_FIELDS = {
  // Links without a seed or a grader are of an earlier version of the page, in which the first visit had other ones.
  seed: { ...whole(4242, 0, MAX_U32), start: FIRST_SEED },
  person: oneOf('sampled', PROFILE_CHOICES),
  grader: { ...oneOf('v2', GRADER_NAMES), start: 'v3' },
  /** Who plays: the user, or a policy. */
  by: playerField(BY_HAND, [BY_HAND, ...PLAYER_NAMES]),
  /** The policy that the user races against, or NOBODY. */
  against: playerField(NOBODY, [NOBODY, ...PLAYER_NAMES]),
  /** Moves by hand, before those of the policy. */
  moves,
  /** The number of steps played by the policy. */
  at: whole(0, 0, NUM_STEPS),
};

export type PersonState = StateOf<typeof PERSON_FIELDS>;

/** Returns the address of a state. */
export const addressOf = (state: PersonState): string => toAddress('person', PERSON_FIELDS, state);
