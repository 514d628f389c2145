/** The outputs that a case writes for its caller, as text and in bytes. The state of episodes is not counted. */
import {
  allocateOutputs,
  allocateTrajectory,
  OUTPUT_ARRAYS,
  TRAJECTORY_FIELDS,
} from '../dist/engine/backends/outputs.js';

type Name = keyof typeof OUTPUT_ARRAYS;

/** The outputs of a native step. The others are the grade, which is written at the end of an episode. */
export const STEP_ARRAYS: readonly Name[] = ['observations', 'rewards', 'finalMask'];
const NAMES = Object.keys(OUTPUT_ARRAYS) as Name[];
export const GRADE_ARRAYS: readonly Name[] = NAMES.filter(
  (name) => name !== 'finalObservations' && !STEP_ARRAYS.includes(name),
);

const bytesOf = (arrays: Iterable<{ readonly byteLength: number }>): number =>
  Array.from(arrays).reduce((sum, array) => sum + array.byteLength, 0);

/** The outputs of one environment. Their bytes are those that each environment of a batch adds. */
const ONE_ENV = allocateOutputs(1);
const outputBytes = (names: readonly Name[]): number => bytesOf(names.map((name) => ONE_ENV[name]!));
const STEP_BYTES = outputBytes(STEP_ARRAYS);
const GRADE_BYTES = outputBytes(GRADE_ARRAYS);
/** A trajectory has room for every step. */
const ONE_EPISODE = allocateTrajectory(1);
const TRAJECTORY_BYTES = bytesOf(TRAJECTORY_FIELDS.map((name) => ONE_EPISODE[name]));

export interface Writes {
  /** The description in rows and in the JSON file. */
  readonly text: string;
  /** Returns the bytes of an episode of `steps` steps. */
  readonly bytes: (steps: number) => number;
}

export const WRITES = {
  grades: { text: 'last step, grade', bytes: () => STEP_BYTES + GRADE_BYTES },
  steps: { text: 'every step, grade', bytes: (steps) => steps * STEP_BYTES + GRADE_BYTES },
  trajectory: {
    text: 'trajectory, last step, grade',
    bytes: () => TRAJECTORY_BYTES + STEP_BYTES + GRADE_BYTES,
  },
} as const satisfies Record<string, Writes>;

/** Explains the texts of the column "writes". */
export const WRITES_LEGEND =
  `A step: ${STEP_ARRAYS.join(', ')}. A grade: ${GRADE_ARRAYS.join(', ')}. ` +
  'Bytes are those that a caller reads.';
