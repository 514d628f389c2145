/** What a case writes for its caller, in words and in bytes. An episode's own state is not counted. */
import { allocateOutputs, allocateTrajectory, OUTPUT_ARRAYS } from '../dist/backends/outputs.js';

type Name = keyof typeof OUTPUT_ARRAYS;

/** What a native step writes; the rest of the outputs is the grade, written at an episode's end. */
export const STEP_ARRAYS: readonly Name[] = ['observations', 'rewards', 'finalMask'];
const NAMES = Object.keys(OUTPUT_ARRAYS) as Name[];
export const GRADE_ARRAYS: readonly Name[] = NAMES.filter(
  (name) => name !== 'finalObservations' && !STEP_ARRAYS.includes(name),
);

const bytesOf = (arrays: Iterable<{ readonly byteLength: number }>): number =>
  Array.from(arrays).reduce((sum, array) => sum + array.byteLength, 0);

// One slot's arrays are as long as what a slot takes of many.
const SLOT = allocateOutputs(1);
const outputBytes = (names: readonly Name[]): number => bytesOf(names.map((name) => SLOT[name]!));
const STEP_BYTES = outputBytes(STEP_ARRAYS);
const GRADE_BYTES = outputBytes(GRADE_ARRAYS);
/** A trajectory has room for every step. */
const TRAJECTORY_BYTES = bytesOf(Object.values(allocateTrajectory(1)));

export interface Writes {
  /** As in the JSON. */
  readonly text: string;
  /** Bytes of a whole episode of `steps` steps. */
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

/** What the words stand for. */
export const WRITES_LEGEND =
  `A step: ${STEP_ARRAYS.join(', ')}. A grade: ${GRADE_ARRAYS.join(', ')}. ` +
  'Bytes are those that a caller reads.';
