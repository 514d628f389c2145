/** Describes what a case writes, as text and in bytes: outputs for the caller, and the state of episodes. */
import {
  allocateOutputs,
  allocateTrajectory,
  OUTPUT_ARRAYS,
  TRAJECTORY_FIELDS,
} from '../dist/engine/backends/outputs.js';
import { STATE_FIELDS, TAPE_WORDS } from '../dist/world/fields.js';

type Name = keyof typeof OUTPUT_ARRAYS;

/** The output arrays that every native step writes. */
export const STEP_ARRAYS: readonly Name[] = ['observations', 'rewards', 'finalMask'];
const NAMES = Object.keys(OUTPUT_ARRAYS) as Name[];
/** The output arrays that hold an episode's results. */
export const GRADE_ARRAYS: readonly Name[] = NAMES.filter(
  (name) => name !== 'finalObservations' && !STEP_ARRAYS.includes(name),
);

const bytesOf = (arrays: Iterable<{ readonly byteLength: number }>): number =>
  Array.from(arrays).reduce((sum, array) => sum + array.byteLength, 0);

/** The outputs of one environment. A batch has as many bytes for each of its environments. */
const ONE_ENV = allocateOutputs(1);
const outputBytes = (names: readonly Name[]): number => bytesOf(names.map((name) => ONE_ENV[name]!));
const STEP_BYTES = outputBytes(STEP_ARRAYS);
const GRADE_BYTES = outputBytes(GRADE_ARRAYS);
/** The trajectory of one environment, with room for every step. */
const ONE_EPISODE = allocateTrajectory(1);
const TRAJECTORY_BYTES = bytesOf(TRAJECTORY_FIELDS.map((name) => ONE_EPISODE[name]));

const WORD = 4;
const wordsOf = (names: readonly string[]): number =>
  STATE_FIELDS.filter(({ name }) => names.includes(name)).reduce((sum, { size }) => sum + size, 0);
/** The state that a step changes: these fields, the sum of the current half, and one word of the actions (`tape`). */
const STATE_STEP_BYTES = WORD * (wordsOf(['step', 'meters', 'well', 'return', 'crashes']) + 2);
/** The state that an episode changes: also the sum of the other half, and the other TAPE_WORDS - 1 words of `tape`. */
const STATE_EPISODE_BYTES = STATE_STEP_BYTES + WORD * TAPE_WORDS;

export interface Writes {
  /** The description in rows and in the JSON file. */
  readonly text: string;
  /** Returns the bytes of outputs that a play of `steps` steps writes, for each episode. */
  readonly bytes: (steps: number) => number;
  /** Returns the bytes of state that a play of `steps` steps writes, for each episode. */
  readonly stateBytes: (steps: number) => number;
}

export const WRITES = {
  grades: {
    text: 'last step, grade',
    bytes: () => STEP_BYTES + GRADE_BYTES,
    stateBytes: () => STATE_EPISODE_BYTES,
  },
  steps: {
    text: 'every step, grade',
    bytes: (steps) => steps * STEP_BYTES + GRADE_BYTES,
    stateBytes: (steps) => steps * STATE_STEP_BYTES,
  },
  trajectory: {
    text: 'trajectory, last step, grade',
    bytes: () => TRAJECTORY_BYTES + STEP_BYTES + GRADE_BYTES,
    stateBytes: () => STATE_EPISODE_BYTES,
  },
} as const satisfies Record<string, Writes>;

/** Explains the texts of the column "writes". */
export const WRITES_LEGEND =
  `A step: ${STEP_ARRAYS.join(', ')}. A grade: ${GRADE_ARRAYS.join(', ')}. ` +
  'B/step counts the bytes that a caller reads.';
