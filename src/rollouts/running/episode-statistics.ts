/** Collects returns, lengths and durations of the last episodes, like Gymnasium's RecordEpisodeStatistics. */
import { NO_BUFFERS } from '../../engine/validate/copy-arguments.js';
import { type Mask, toMask } from '../../engine/validate/steps.js';
import { AUTORESET_MODES, type AutoresetMode } from '../../engine/vec-env/autoreset.js';
import { InputError } from '../../shared/errors.js';
import { checkInteger, checkLength, checkName, isList, readOptions, wrongType } from '../../shared/values.js';
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
    throw new InputError('out_of_range', {
      expected: `a finite number at rewards[${i}]`,
      got: `${rewards[i]}`,
      remedy: 'Pass the rewards of a step.',
    });
  }
}

/** Options of `EpisodeStatistics`. */
export interface EpisodeStatisticsOptions {
  /** The number of last episodes that are kept, 1 to 2^24. Default 100. */
  last?: number;
  /** Returns the time in milliseconds. Default `performance.now`. */
  now?: () => number;
}

/** An episode that ended. */
export interface EndedEpisode {
  /** The index of its environment. */
  readonly env: number;
  /** The sum of the rewards of its steps that were passed to `add`, in float64. */
  readonly return: number;
  /** The number of its steps that were passed to `add`. */
  readonly length: number;
  /**
   * Wall time in seconds to its end, from the last of these: the call of `reset`, the end of the environment's previous
   * episode, the creation of the `EpisodeStatistics`.
   */
  readonly seconds: number;
}

const OPTIONS: readonly (keyof EpisodeStatisticsOptions)[] = ['last', 'now'];
/** As in Gymnasium. */
const LAST = 100;

/** Follows the steps of a vector environment, and keeps the last episodes that ended. */
export class EpisodeStatistics {
  readonly #envs: SteppedEnvs;
  readonly #last: number;
  readonly #now: () => number;
  readonly #returns: Float64Array;
  readonly #lengths: Uint32Array;
  /** f64 [numEnvs]: when the present episode began, in milliseconds. */
  readonly #begins: Float64Array;
  readonly #ended: EndedEpisode[] = [];
  #count = 0;

  /**
   * Begins to measure the present episodes.
   * @param env the vector environment whose steps are followed.
   * @throws InputError `wrong_type`, `out_of_range`, `unknown_name` or `unknown_option`.
   */
  constructor(env: FollowedEnv, options: EpisodeStatisticsOptions = {}) {
    const { last = LAST, now = () => performance.now() } = readOptions(
      'statistics options',
      options,
      OPTIONS,
    );
    this.#envs = new SteppedEnvs(env);
    this.#last = checkInteger('last', last, 1, MAX_ENVS);
    if (typeof now !== 'function')
      throw wrongType('now', 'a function', now, 'Pass a function, or leave out the option.');
    this.#now = now;
    this.#returns = new Float64Array(env.numEnvs);
    this.#lengths = new Uint32Array(env.numEnvs);
    this.#begins = new Float64Array(env.numEnvs).fill(now());
  }

  /** The number of episodes that ended since this object was made. */
  get count(): number {
    return this.#count;
  }

  /** The last episodes that ended, the oldest first: at most `last`. Newly allocated. */
  get episodes(): EndedEpisode[] {
    return this.#ended.slice(-this.#last);
  }

  /** f64: the returns of `episodes`. Newly allocated; `meanInterval` and other functions of statistics accept it. */
  get returns(): Float64Array {
    return Float64Array.from(this.episodes, (episode) => episode.return);
  }

  /** u32: the lengths of `episodes`. Newly allocated. */
  get lengths(): Uint32Array {
    return Uint32Array.from(this.episodes, ({ length }) => length);
  }

  /** f64: the durations of `episodes`, in seconds. Newly allocated. */
  get seconds(): Float64Array {
    return Float64Array.from(this.episodes, ({ seconds }) => seconds);
  }

  /**
   * Begins new episodes. Call it after `env.reset`. @param mask the mask of the reset.
   * @throws InputError `wrong_type` or `wrong_length`.
   */
  reset(mask?: Mask): void {
    const chosen = this.#envs.maskOf(mask);
    this.#envs.reset(chosen);
    const now = this.#now();
    for (let i = 0; i < this.#begins.length; i++) if (chosen === null || chosen[i] !== 0) this.#begin(i, now);
  }

  /**
   * Follows one step. Call it once for every step.
   * @param mask the mask of the step. @returns the episodes that ended with the step, in the order of environments.
   * @throws InputError `wrong_type`, `wrong_length`, or `out_of_range` for a reward that is not finite.
   */
  add(result: FollowedStep, mask?: Mask): EndedEpisode[] {
    const { rewards, terminated } = result;
    const stepped = this.#envs.follow(result, mask);
    const now = this.#now();
    const ended: EndedEpisode[] = [];
    for (let i = 0; i < stepped.length; i++) {
      if (stepped[i] === 0) continue;
      this.#returns[i] += rewards[i];
      this.#lengths[i]++;
      if (terminated[i] === 0) continue;
      const seconds = (now - this.#begins[i]) / 1000;
      ended.push({ env: i, return: this.#returns[i], length: this.#lengths[i], seconds });
      this.#begin(i, now);
    }
    this.#keep(ended);
    return ended;
  }

  #begin(env: number, now: number): void {
    this.#returns[env] = 0;
    this.#lengths[env] = 0;
    this.#begins[env] = now;
  }

  #keep(ended: readonly EndedEpisode[]): void {
    this.#count += ended.length;
    for (const episode of ended) this.#ended.push(episode);
    // Removes many old episodes at once, because each removal moves all later episodes.
    if (this.#ended.length >= 2 * this.#last) this.#ended.splice(0, this.#ended.length - this.#last);
  }
}
