/** The planner's belief state: the posterior over profiles; for comparison, the prior or the true profiles. */

import { beliefTarget, sampleProfile } from '../../engine/reference/profile.js';
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import { InputError } from '../../shared/errors.js';
import type { Params } from '../../world/block.js';
import { NUM_BELIEFS, PROFILE_SIZE } from '../../world/fields.js';
import { checkProfile } from '../../world/resolve-names.js';
import type { World } from '../../world/world.js';
import type { BeliefError } from '../inference/belief-error.js';
import { Inference } from '../inference/inference.js';
import { inferenceWords } from '../inference/inference-words.js';

/** The belief state of n episodes. */
export interface BeliefState {
  /** Updates with observations f32 [n, 22]. @param playing u8 [n]: rows where it is 0 are ignored. */
  observe(observations: Float32Array, playing: Uint8Array): void;
  /** Returns the belief to state, f32 [n, 3]. */
  beliefs(): Float32Array;
  /** Returns equally likely profiles, f32 [n, count, 16]. */
  posteriorSamples(count: number): Float32Array;
  /**
   * Returns the expected reduction of the stated belief's error by each action, f32 [n, 10]. Absent for a state that
   * observations do not change.
   */
  probeValues?(): Float32Array;
  /** Describes the belief about the profile of episode i in words. */
  words(i: number): string;
}

/** The stream of the prior's draws: "PEOP" in ASCII. No stream of docs/world.md has this number. */
const STREAM = 0x50454f50;
/** The constant belief: the middle of each range. */
const MIDDLE = 0.5;

/** The posterior given the observations. */
export class Inferred implements BeliefState {
  readonly #inference: Inference;
  readonly #error: BeliefError;

  /** @param seed u32. @param error the error that the beliefs minimise. */
  constructor(numEnvs: number, world: World, seed: number, error: BeliefError) {
    this.#inference = new Inference(world, numEnvs, { seed });
    this.#error = error;
  }

  observe(observations: Float32Array, playing: Uint8Array): void {
    this.#inference.observe(observations, playing);
  }

  beliefs(): Float32Array {
    return this.#inference.beliefs(this.#error);
  }

  posteriorSamples(count: number): Float32Array {
    return this.#inference.posteriorSamples(count);
  }

  probeValues(): Float32Array {
    return this.#inference.probeValues(this.#error);
  }

  words(i: number): string {
    return inferenceWords(this.#inference.explain(i), this.#error);
  }
}

/** The prior, which no observation changes. */
export class Prior implements BeliefState {
  readonly #numEnvs: number;
  readonly #params: Params;
  readonly #seed: number;

  /** @param seed u32. */
  constructor(numEnvs: number, params: Params, seed: number) {
    this.#numEnvs = numEnvs;
    this.#params = params;
    this.#seed = seed;
  }

  observe(): void {}

  beliefs(): Float32Array {
    return new Float32Array(this.#numEnvs * NUM_BELIEFS).fill(MIDDLE);
  }

  posteriorSamples(count: number): Float32Array {
    const row = count * PROFILE_SIZE;
    const profiles = new Float32Array(this.#numEnvs * row);
    const draw: Draw = { x0: 0, x1: 0 };
    for (let k = 0; k < count; k++) {
      const { x0 } = threefry(this.#seed, STREAM, k, 0, draw);
      sampleProfile(this.#params, x0, profiles.subarray(k * PROFILE_SIZE, (k + 1) * PROFILE_SIZE));
    }
    for (let i = 1; i < this.#numEnvs; i++) profiles.copyWithin(i * row, 0, row);
    return profiles;
  }

  words(): string {
    return 'Nothing is inferred about this person, who might be anybody.';
  }
}

/** Returns a checked copy of the profiles. */
function checkedCopy(profiles: Float32Array): Float32Array {
  const copy = profiles.slice();
  for (let start = 0; start < copy.length; start += PROFILE_SIZE) {
    const where = `oracle, profile ${start / PROFILE_SIZE}`;
    copy.set(checkProfile(copy.subarray(start, start + PROFILE_SIZE), where), start);
  }
  return copy;
}

/** The true profiles, which only an oracle has. */
export class Oracle implements BeliefState {
  readonly #profiles: Float32Array;
  readonly #targets: Float32Array;

  /** @param profiles f32 [numEnvs, 16]: the true profiles. */
  constructor(numEnvs: number, params: Params, profiles: Float32Array) {
    if (profiles.length !== numEnvs * PROFILE_SIZE) {
      throw new InputError(
        'wrong_length',
        `Expected ${numEnvs * PROFILE_SIZE} floats in the oracle's profiles (${numEnvs} x ${PROFILE_SIZE}), got ` +
          `${profiles.length}. Pass 16 floats for each environment.`,
      );
    }
    this.#profiles = checkedCopy(profiles);
    this.#targets = new Float32Array(numEnvs * NUM_BELIEFS);
    for (let i = 0; i < numEnvs; i++) {
      const target = this.#targets.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS);
      beliefTarget(params, this.#profileOf(i), target);
    }
  }

  #profileOf(i: number): Float32Array {
    return this.#profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE);
  }

  observe(): void {}

  beliefs(): Float32Array {
    return this.#targets.slice();
  }

  posteriorSamples(count: number): Float32Array {
    const profiles = new Float32Array(this.#profiles.length * count);
    for (let i = 0; i * PROFILE_SIZE < this.#profiles.length; i++) {
      for (let k = 0; k < count; k++) profiles.set(this.#profileOf(i), (i * count + k) * PROFILE_SIZE);
    }
    return profiles;
  }

  words(): string {
    return 'Nothing is inferred about this person, whose true profile is given.';
  }
}
