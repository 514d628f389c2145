/** The fields of each view's address. */
import { POLICY_NAMES } from '../../../src/agents/policies/fixed-policies.js';
import { openLoopActions } from '../../../src/agents/policies/open-loop.js';
import { GRADER_NAMES, MAX_U32, NUM_ACTIONS, NUM_COMPONENTS, NUM_STEPS } from '../../../src/world/fields.js';
import { fieldOf, oneOf, type StateOf, toAddress, whole } from '../address.js';
import { decimalOf, PRESETS, type Weights, weightsFrom } from '../graders/weights.js';
import {
  BY_HAND,
  digitsOf,
  FIRST_SEED,
  type Move,
  movesFrom,
  movesText,
  NOBODY,
  PLAYER_NAMES,
  PROFILE_CHOICES,
} from '../person/episode.js';
import { playerField } from '../students/kept-students.js';
import { TEACHERS } from '../training/training-types.js';

/** The grader of daily episodes. */
export const DAILY_GRADER = 'v3';

/** Returns the current day in UTC, the same for everybody: "2026-11-24". */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** Returns whether a text is a day whose episode can be played: 2000-01-01 to today. */
export function isPlayableDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
  return isDay && text >= '2000-01-01' && text <= today();
}

/** Returns the seed of a day: its digits, such as 20261124. */
export const seedOfDay = (day: string): number => Number(day.replaceAll('-', ''));

export const DAILY_FIELDS = {
  // An empty day means today, whenever the link is opened.
  day: fieldOf('', 'a day from 2000-01-01 to today', (text) => (isPlayableDay(text) ? text : null)),
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
  moves: fieldOf<readonly Move[]>(
    [],
    `at most ${NUM_STEPS} digits for actions, then the changes of the belief,`,
    movesFrom,
    movesText,
  ),
  /** The number of steps played by the policy. */
  at: whole(0, 0, NUM_STEPS),
};

export type PersonState = StateOf<typeof PERSON_FIELDS>;

/** Returns the address of a state. */
export const addressOf = (state: PersonState): string => toAddress('person', PERSON_FIELDS, state);

/** The most people of a crowd. */
const MAX_PEOPLE = 1_000_000;

/** The value of `against` for no second policy. */
export const NO_POLICY = 'none';

export const CROWD_FIELDS = {
  /** Each policy plays one episode with each person. The default and the limits are chosen by hand: more people take longer. */
  people: whole(100_000, 1000, MAX_PEOPLE),
  /** Episode i has this seed plus i, which is at most MAX_U32. */
  seed: whole(0, 0, MAX_U32 + 1 - MAX_PEOPLE),
  policy: playerField('heuristic', POLICY_NAMES),
  /** The second policy, which is compared with the first. */
  against: playerField('open-loop', [...POLICY_NAMES, NO_POLICY]),
  grader: oneOf('v2', GRADER_NAMES),
  /** The profiles of the people. */
  persons: oneOf('sampled', PROFILE_CHOICES),
};

const SEQUENCE_PATTERN = new RegExp(`^[0-${NUM_ACTIONS - 1}]{${NUM_STEPS}}$`);

export const SEQUENCE_FIELDS = {
  actions: fieldOf(
    digitsOf(openLoopActions('v2')),
    `${NUM_STEPS} digits, one action for each slot,`,
    (text) => (SEQUENCE_PATTERN.test(text) ? text : null),
  ),
  /** The grader of the histogram. */
  grader: oneOf('v2', GRADER_NAMES),
};

export const TRAINING_FIELDS = {
  teacher: oneOf('planner', TEACHERS),
  grader: oneOf('v2', GRADER_NAMES),
  seed: whole(0, 0, MAX_U32),
};

/** The numbers of people to choose from. */
export const RANKED_PEOPLE = ['48', '120', '240', '480', '1000', '2000'] as const;

export const GRADERS_FIELDS = {
  /** In the order of COMPONENT_NAMES, such as "0.15,0.2,0.1,0.25,0.1,0.2,0,0". */
  weights: fieldOf<Weights>(
    PRESETS.find(({ name }) => name === 'v2')!.weights,
    `${NUM_COMPONENTS} weights from 0 to 1 that sum to 1, with commas between them`,
    weightsFrom,
    (values) => values.map(decimalOf).join(','),
  ),
  people: oneOf('240', RANKED_PEOPLE),
  /** The first seed. The ranking has no planners, and none of its policies was tuned on seeds from 20000 on. */
  seed: whole(20_000, 0, MAX_U32 - Number(RANKED_PEOPLE[RANKED_PEOPLE.length - 1])),
};
