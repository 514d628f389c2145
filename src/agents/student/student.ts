/** The student: a small network that plays from observations alone, as a policy. */
import type { Policy, PolicySetting } from '../../engine/policy/policy.js';
import { InputError } from '../../shared/errors.js';
import { kindOf, wrongType } from '../../shared/values.js';
import { identityOf } from '../../world/world.js';
import { Features, type Network } from './network.js';
import { decodeStudent, type StudentManifest } from './student-file.js';
import { StudentPlayer } from './student-player.js';

/**
 * A trained student: a policy with memory. It plays the action with the highest logit. Its network estimates a mean and a
 * standard deviation for each number of the belief; the student states the means. Its choices depend only on the observations
 * of the episode, and are the same in Node, in browsers and in Python.
 */
export class Student implements Policy {
  /** What the student's file says about the student. */
  readonly manifest: StudentManifest;
  /** The trained network. */
  readonly network: Network;

  constructor(manifest: StudentManifest, network: Network) {
    this.manifest = manifest;
    this.network = network;
  }

  /** Opens the student for a number of environments. @throws InputError `bad_student` if it was trained in another world. */
  open({ numEnvs, world }: PolicySetting): StudentPlayer {
    if (world.digest !== this.manifest.worldDigest) {
      throw new InputError('bad_student', {
        expected: `the world in which the student was trained, ${this.manifest.worldDigest}`,
        got: identityOf(world),
        remedy: 'Use the student in its own world. "rhythm-vec train" makes students of the published world.',
      });
    }
    return new StudentPlayer(this.network, new Features(world.words, numEnvs), numEnvs);
  }
}

/**
 * Reads a student from the bytes of its file, which are copied.
 * @throws InputError `wrong_type`; `bad_student` for damaged bytes, files of other programs, and files with another version of
 *   the schema or the features.
 */
export function readStudent(bytes: Uint8Array): Student {
  if (kindOf(bytes) !== 'Uint8Array')
    throw wrongType('the student', 'a Uint8Array', bytes, "Pass the bytes of a student's file.");
  const { manifest, network } = decodeStudent(bytes);
  return new Student(manifest, network);
}
