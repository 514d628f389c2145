/** The student: a small network that plays from observations alone, as a policy. */
import type { Policy, PolicyPlayer, PolicySetting, PolicyView } from '../../engine/policy/policy.js';
import { spell } from '../../rollouts/text/spelling.js';
import { InputError } from '../../shared/errors.js';
import { checkName, isFloats, kindOf, wrongType } from '../../shared/values.js';
import { ACTION_NAMES, BELIEF_NAMES, NUM_ACTIONS, NUM_BELIEFS } from '../../world/fields.js';
import { identityOf } from '../../world/world.js';
import { FEATURE_COUNT, Features, type Network, OUTPUT, OUTPUT_COUNT } from './network.js';
import { decodeStudent, type StudentManifest } from './student-file.js';

/** Outputs for beliefs are differences from this value, so that a network whose outputs are 0 states the constant belief. */
export const MIDDLE = 0.5;
const f32 = Math.fround;

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
      throw new InputError(
        'bad_student',
        `Expected the world in which the student was trained, ${this.manifest.worldDigest}, got ${identityOf(world)}. ` +
          'Use the student in its own world. "rhythm-vec train" makes students of the published world.',
      );
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

/** A student in n episodes. An observation at step 0 begins an episode. */
export class StudentPlayer implements PolicyPlayer {
  readonly #network: Network;
  readonly #features: Features;
  /** f32 [n, OUTPUT_COUNT]: the outputs of the last step. */
  readonly #outputs: Float32Array;
  /** f32 [n, FEATURE_COUNT]. */
  readonly #inputs: Float32Array;

  constructor(network: Network, features: Features, numEnvs: number) {
    this.#network = network;
    this.#features = features;
    this.#outputs = new Float32Array(numEnvs * OUTPUT_COUNT);
    this.#inputs = new Float32Array(numEnvs * FEATURE_COUNT);
  }

  /** Does nothing: an observation at step 0 begins an episode. Callers reuse a player only if it has this method. */
  reset(): void {}

  /** Returns action codes, u8 [n], and beliefs, f32 [n, 3]. Both are newly allocated. */
  act({ observations, playing }: PolicyView): { actions: Uint8Array; beliefs: Float32Array } {
    if (!isFloats(observations))
      throw wrongType('observations', 'a Float32Array', observations, 'Pass raw observations, row-major.');
    const actions = new Uint8Array(playing.length);
    const beliefs = new Float32Array(playing.length * NUM_BELIEFS).fill(MIDDLE);
    this.#features.observe(observations, this.#inputs, playing);
    const allOutputs = this.#network.forward(this.#inputs);
    for (let i = 0; i < playing.length; i++) {
      if (playing[i] === 0) continue;
      const outputs = allOutputs.subarray(i * OUTPUT_COUNT, (i + 1) * OUTPUT_COUNT);
      this.#outputs.set(outputs, i * OUTPUT_COUNT);
      actions[i] = highestLogit(outputs);
      for (let k = 0; k < NUM_BELIEFS; k++) {
        beliefs[i * NUM_BELIEFS + k] = statedBelief(outputs[OUTPUT.means + k]);
      }
    }
    return { actions, beliefs };
  }

  [Symbol.dispose](): void {}

  /** Describes the beliefs with their standard deviations, and the two best actions. */
  reasons(i: number): string {
    const outputs = this.#outputs.subarray(i * OUTPUT_COUNT, (i + 1) * OUTPUT_COUNT);
    const beliefs = BELIEF_NAMES.map((name, k) => {
      const spread = Math.exp(outputs[OUTPUT.logSpreads + k]);
      return `${name} ${(MIDDLE + outputs[OUTPUT.means + k]).toFixed(2)} ± ${spread.toFixed(2)}`;
    });
    const [first, second] = probabilitiesOf(outputs);
    return (
      `A trained network estimates ${beliefs.join(', ')}. It chooses ${spell(ACTION_NAMES[first.action])} with ` +
      `weight ${first.probability.toFixed(2)}, before ${spell(ACTION_NAMES[second.action])} with ${second.probability.toFixed(2)}.`
    );
  }
}

/** Returns the belief that an output of the network states, clamped to [0, 1]. */
export const statedBelief = (mean: number): number => Math.min(Math.max(f32(MIDDLE + mean), 0), 1);

/** Returns the first action with the highest logit. */
export function highestLogit(outputs: Float32Array): number {
  let best = 0;
  for (let k = 1; k < NUM_ACTIONS; k++)
    if (outputs[OUTPUT.logits + k] > outputs[OUTPUT.logits + best]) best = k;
  return best;
}

/** Returns the actions with their probabilities, the most likely first. */
function probabilitiesOf(outputs: Float32Array): { action: number; probability: number }[] {
  const top = outputs[OUTPUT.logits + highestLogit(outputs)];
  const weights = Array.from({ length: NUM_ACTIONS }, (_, k) => Math.exp(outputs[OUTPUT.logits + k] - top));
  const sum = weights.reduce((total, weight) => total + weight);
  return weights
    .map((weight, action) => ({ action, probability: weight / sum }))
    .sort((a, b) => b.probability - a.probability);
}

/** `npm run generate` writes the modules from the files in python/rhythm_vec/students. */
const MODULES = {
  'student-v2': () => import('./generated/student-v2.js'),
  'student-v3': () => import('./generated/student-v3.js'),
  'student-v2-clone': () => import('./generated/student-v2-clone.js'),
  'student-v3-clone': () => import('./generated/student-v3-clone.js'),
};
/** A name of STUDENT_NAMES. */
export type StudentName = keyof typeof MODULES;

/** The names of the students in the package. NAME-clone is NAME before the refinement on the engine (docs/students.md). */
export const STUDENT_NAMES = Object.freeze(Object.keys(MODULES)) as readonly StudentName[];

const students = new Map<StudentName, Promise<Student>>();

/** Returns a student of the package. @param name one of STUDENT_NAMES. @throws InputError `unknown_name` or `wrong_type`. */
export async function loadStudent(name: StudentName): Promise<Student> {
  checkName('student', name, STUDENT_NAMES);
  let student = students.get(name);
  if (student === undefined) {
    student = MODULES[name]().then(({ BASE64 }) => readStudent(bytesOf(BASE64)));
    students.set(name, student);
  }
  return student;
}

const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
