/** The fields of the graders' address: the weights, and the episodes that policies are compared in. */
import { MAX_U32, NUM_COMPONENTS } from '../../../../src/world/fields.js';
import { type Field, oneOf, whole } from '../../address.js';
import { decimalOf, PRESETS, type Weights, weightsFrom } from '../../graders/weights.js';

/** In the order of COMPONENT_NAMES, such as "0.15,0.2,0.1,0.25,0.1,0.2,0,0". */
const weights: Field<Weights> = {
  initial: PRESETS.find(({ name }) => name === 'v2')!.weights,
  expected: `${NUM_COMPONENTS} weights from 0 to 1 that sum to 1, with commas between them`,
  read: weightsFrom,
  write: (values) => values.map(decimalOf).join(','),
};

/** The numbers of people to choose from. */
export const PEOPLE = ['48', '120', '240', '480', '1000', '2000'] as const;

export const GRADERS_FIELDS = {
  weights,
  people: oneOf('240', PEOPLE),
  /** The first seed. The ranking has no planners, and none of its policies was tuned on seeds from 20000 on. */
  seed: whole(20_000, 0, MAX_U32 - Number(PEOPLE[PEOPLE.length - 1])),
};
