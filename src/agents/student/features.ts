/** The inputs of a student's network, which native/student.cc computes from public observations. */
import { arrays } from '../../engine/arrays.js';
import { InputError } from '../../shared/errors.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../world/fields.js';

/** The version of the inputs. It rises when any input changes for the same observations. */
export const FEATURES_VERSION = 1;
/** The number of inputs. */
export const FEATURE_COUNT = 76;
/** The number of floats that are kept of each episode: `StudentMemory` in native/student.h. */
const MEMORY_SIZE = 65;

/** Reads the observations of n episodes, step by step, and writes the inputs. */
export class Features {
  readonly #words: Uint32Array;
  readonly #memory: Float32Array;
  readonly #everybody: Uint8Array;

  /** @param words the numbers of the world (`World.words`). */
  constructor(words: Uint32Array, numEnvs: number) {
    this.#words = words;
    this.#memory = new Float32Array(numEnvs * MEMORY_SIZE);
    this.#everybody = new Uint8Array(numEnvs).fill(1);
  }

  /** Returns the features of new episodes: episode k begins with a copy of the memory of episode `indices[k]`. */
  fork(indices: readonly number[]): Features {
    const fork = new Features(this.#words, indices.length);
    for (const [k, index] of indices.entries()) {
      const memory = this.#memory.subarray(index * MEMORY_SIZE, (index + 1) * MEMORY_SIZE);
      fork.#memory.set(memory, k * MEMORY_SIZE);
    }
    return fork;
  }

  /**
   * Adds observations to the memory, and writes the inputs.
   * @param observations f32 [n, 22]. An observation at step 0 begins an episode. Pass the observation of every step below 28.
   * @param inputs f32 [n, FEATURE_COUNT]: overwritten. @param playing u8 [n]: the episodes to read; the others get zeros.
   * @throws InputError `out_of_range` if a step or a last action is none of the world's.
   */
  observe(observations: Float32Array, inputs: Float32Array, playing = this.#everybody): void {
    const isLegal = arrays().observe(
      playing.length,
      this.#words,
      observations,
      playing,
      this.#memory,
      inputs,
    );
    if (isLegal) return;
    throw new InputError(
      'out_of_range',
      `Expected observations of steps 0 to ${NUM_STEPS - 1} with last actions 0 to ${NUM_ACTIONS - 1} from step 1 on, got others. ` +
        'Pass raw observations of episodes that are playing.',
    );
  }
}
