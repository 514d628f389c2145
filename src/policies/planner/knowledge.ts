/** What a planner knows of the persons whose weeks it plans: what it inferred, nothing, or, for comparison, everything. */
import { InputError } from '../../errors.js';
import { beliefTarget, sampleProfile } from '../../reference/profile.js';
import { type Draw, threefry } from '../../reference/threefry.js';
import type { Params } from '../../world/block.js';
import { NUM_BELIEFS, PROFILE_SIZE } from '../../world/fields.js';
import { checkProfile } from '../../world/resolve.js';
import type { World } from '../../world/world.js';
import { Inference } from '../inference/inference.js';
import { inferenceWords } from '../inference/words.js';

/** What is guessed about n persons. */
export interface Knowledge {
  /** Takes f32 [n, 22], of those that play: u8 [n]. */
  observe(observations: Float32Array, playing: Uint8Array): void;
  /** f32 [n, 3]: what the graded belief is to be. */
  beliefs(): Float32Array;
  /** f32 [n, count, 16]: persons that each might be, all as likely. */
  people(count: number): Float32Array;
  /** f32 [n, 10]: by how much each action is expected to reduce the belief's error. Left out by who cannot learn. */
  probeValues?(): Float32Array;
  /** What is known of a person, and why. */
  words(i: number): string;
}

/** The second word of the key, which no stream of the published world has. */
const STREAM = 0x50454f50;
/** Infers nothing: the middle of each range. */
const MIDDLE = 0.5;

/** Inferred from what was seen. */
export class Inferred implements Knowledge {
  readonly #inference: Inference;

  /** @param seed u32. */
  constructor(numEnvs: number, world: World, seed: number) {
    this.#inference = new Inference(world, numEnvs, { seed });
  }

  observe(observations: Float32Array, playing: Uint8Array): void {
    this.#inference.observe(observations, playing);
  }

  beliefs(): Float32Array {
    return this.#inference.beliefs();
  }

  people(count: number): Float32Array {
    return this.#inference.people(count);
  }

  probeValues(): Float32Array {
    return this.#inference.probeValues();
  }

  words(i: number): string {
    return inferenceWords(this.#inference.explain(i));
  }
}

/** Nobody is known: everybody might be anybody whom the world draws. */
export class Prior implements Knowledge {
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

  people(count: number): Float32Array {
    const row = count * PROFILE_SIZE;
    const people = new Float32Array(this.#numEnvs * row);
    const draw: Draw = { x0: 0, x1: 0 };
    for (let k = 0; k < count; k++) {
      const { x0 } = threefry(this.#seed, STREAM, k, 0, draw);
      sampleProfile(this.#params, x0, people.subarray(k * PROFILE_SIZE, (k + 1) * PROFILE_SIZE));
    }
    for (let i = 1; i < this.#numEnvs; i++) people.copyWithin(i * row, 0, row);
    return people;
  }

  words(): string {
    return 'Nothing is inferred about this person, who might be anybody.';
  }
}

/** @throws InputError `bad_profile`. */
function checkedProfiles(profiles: Float32Array): Float32Array {
  const own = profiles.slice();
  for (let at = 0; at < own.length; at += PROFILE_SIZE) {
    own.set(checkProfile(own.subarray(at, at + PROFILE_SIZE), `oracle, person ${at / PROFILE_SIZE}`), at);
  }
  return own;
}

/** Everything is known, which no agent can: what knowing is worth at most. */
export class Oracle implements Knowledge {
  readonly #profiles: Float32Array;
  readonly #targets: Float32Array;

  /** @param profiles f32 [numEnvs, 16]: who they are. @throws InputError `wrong_length`. */
  constructor(numEnvs: number, params: Params, profiles: Float32Array) {
    if (profiles.length !== numEnvs * PROFILE_SIZE) {
      throw new InputError(
        'wrong_length',
        `Expected ${numEnvs * PROFILE_SIZE} floats in the oracle's profiles (${numEnvs} x ${PROFILE_SIZE}), got ` +
          `${profiles.length}. Pass exactly these.`,
      );
    }
    this.#profiles = checkedProfiles(profiles);
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

  people(count: number): Float32Array {
    const people = new Float32Array(this.#profiles.length * count);
    for (let i = 0; i * PROFILE_SIZE < this.#profiles.length; i++) {
      for (let k = 0; k < count; k++) people.set(this.#profileOf(i), (i * count + k) * PROFILE_SIZE);
    }
    return people;
  }

  words(): string {
    return 'An oracle speaks, which was shown who this person is.';
  }
}
