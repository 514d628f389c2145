/** The files of students that were trained on the page. A student is a small network that imitates a policy. */
import { decodeTensors } from '../../../src/agents/student/safetensors.js';
import { GRADER_NAMES } from '../../../src/world/fields.js';

/** A student that was trained on the page, as the page sends it to workers. */
export interface StudentFile {
  readonly name: string;
  /** The bytes of its file, for `readStudent`. */
  readonly file: Uint8Array;
}

/** Returns a text that identifies a student: its name and a hash of its file, since a later student may have the same name. */
export const keyOf = ({ name, file }: StudentFile): string =>
  `${name} ${file.reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 0)}`;

/**
 * Returns the grader of a student's training; v3, the default of the training view, for one outside GRADER_NAMES or a damaged
 * file.
 */
export function graderOf({ file }: StudentFile): string {
  try {
    const { name } = JSON.parse(decodeTensors(file).metadata.grader) as { name: string };
    return GRADER_NAMES.includes(name) ? name : 'v3';
  } catch {
    return 'v3';
  }
}
