/** Finds which environments of a vector environment took their action in a step. */
import { NO_BUFFERS } from '../../engine/validate/aliased-memory.js';
import { AUTORESET_MODES, type AutoresetMode } from '../../engine/validate/autoreset-modes.js';
import { type Mask, toMask } from '../../engine/validate/masks.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkLength, checkName, isList, wrongType } from '../../shared/values.js';
import { MAX_ENVS } from '../../world/fields.js';

/** The vector environment whose steps are followed: a VecEnv or AsyncVecEnv, or an object with these properties. */
export interface FollowedEnv {
  /** The number of environments. */
  readonly numEnvs: number;
  /** The autoreset mode. */
  readonly metadata: { readonly autoresetMode: AutoresetMode };
}

/** The outputs of a step that are followed: a StepResult, or copies of these arrays. */
export interface FollowedStep {
  /** f32 [numEnvs]. */
  readonly rewards: ArrayLike<number>;
  /** u8 [numEnvs]. */
  readonly terminated: ArrayLike<number>;
}

/** Follows the steps of a vector environment. */
export class SteppedEnvs {
  readonly numEnvs: number;
  readonly #isNextStep: boolean;
  /** u8 [numEnvs]: the environments whose episode is over and whose next step resets them. */
  readonly #ended: Uint8Array;
  /** u8 [numEnvs]: the result of `follow`. */
  readonly #stepped: Uint8Array;

  /** Reads the environment's size and autoreset mode. @throws InputError `wrong_type`, `out_of_range` or `unknown_name`. */
  constructor(env: FollowedEnv) {
    if (typeof env !== 'object' || env === null) {
      throw wrongType('env', 'a vector environment', env, 'Pass the environment whose steps are followed.');
    }
    this.numEnvs = checkInteger('numEnvs', env.numEnvs, 1, MAX_ENVS);
    const mode = checkName('metadata.autoresetMode', env.metadata?.autoresetMode, AUTORESET_MODES);
    this.#isNextStep = mode === 'next-step';
    this.#ended = new Uint8Array(this.numEnvs);
    this.#stepped = new Uint8Array(this.numEnvs);
  }

  /** Returns a mask as u8 [numEnvs], null for all. @throws InputError `wrong_type` or `wrong_length`. */
  maskOf(mask: Mask | undefined): Uint8Array | null {
    return mask === undefined ? null : toMask(mask, this.numEnvs, NO_BUFFERS);
  }

  /** Records that the environments of the mask (null for all) were reset. */
  reset(mask: Uint8Array | null): void {
    for (let i = 0; i < this.numEnvs; i++) if (mask === null || mask[i] !== 0) this.#ended[i] = 0;
  }

  /**
   * Follows one step of the environments in the mask.
   * @returns u8 [numEnvs]: 1 for environments that took their action. The next call overwrites it.
   * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for a reward that is not finite. An error changes
   *   nothing.
   */
  follow({ rewards, terminated }: FollowedStep, mask: Mask | undefined): Uint8Array {
    const chosen = this.maskOf(mask);
    for (const [name, list] of Object.entries({ rewards, terminated })) {
      if (!isList(list)) throw wrongType(name, 'an array', list, 'Pass the result of the step.');
      checkLength(name, list.length, this.numEnvs, 'numEnvs');
    }
    checkFiniteRewards(rewards);
    for (let i = 0; i < this.numEnvs; i++) {
      const takesPart = chosen === null || chosen[i] !== 0;
      this.#stepped[i] = Number(takesPart && this.#ended[i] === 0);
      if (takesPart)
        this.#ended[i] = Number(this.#isNextStep && this.#stepped[i] === 1 && terminated[i] !== 0);
    }
    return this.#stepped;
  }
}

function checkFiniteRewards(rewards: ArrayLike<number>): void {
  for (let i = 0; i < rewards.length; i++) {
    if (Number.isFinite(rewards[i])) continue;
    throw new InputError(
      'out_of_range',
      `Expected a finite number at rewards[${i}], got ${rewards[i]}. Pass the rewards of a step.`,
    );
  }
}
