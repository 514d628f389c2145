/** One episode of the reference. Every backend must compute the same bits. rules.ts has the rules of a step. */
import { InputError, StateError } from '../../shared/errors.js';
import { checkBoolean, checkOptions, describe } from '../../shared/values.js';
import {
  MODE,
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  NUM_TRAITS,
  OBSERVATION,
  PROFILE_SIZE,
  TAPE_WORDS,
} from '../../world/fields.js';
import { type ProfileKindName, resolveProfile } from '../../world/resolve-names.js';
import { createWorld, type World } from '../../world/world.js';
import { type GraderLike, weightsIn } from '../graders/grader.js';
import { checkSeed } from '../validate/seeds.js';
import { illegalAction, toConstantBelief } from '../validate/steps.js';
import { type EpisodeStart, startFrom, stateHash } from './episode-state.js';
import { beliefMae, finalScore, gradeComponents, halfMean, skillTerm, terminalReward } from './grade.js';
import { beliefTarget, clampBelief, discreteProfileIndex, namedProfile, sampleProfile } from './profile.js';
import { type EpisodeState, stepEpisode, type Transition } from './rules.js';
import { drawsOf, newDraws, type Streams, streamsOf } from './threefry.js';

const f32 = Math.fround;

/** Options of an `Episode`. */
export interface EpisodeOptions {
  /** Default: the published world. */
  world?: World;
  /** Whether noise and events come from the imagination streams, which no real episode uses. Default false. */
  imagination?: boolean;
}

/** Options of `Episode.reset`. */
export interface EpisodeReset {
  /** 'sampled' (default), 'discrete', a profile's name, or 16 floats: 11 traits, then 5 weights. */
  profile?: ProfileKindName | ArrayLike<number>;
  /** 'v2' (default), another name of GRADER_NAMES, a Grader, or eight weights that sum to 1. */
  grader?: GraderLike;
}

const OPTIONS: readonly (keyof EpisodeOptions)[] = ['world', 'imagination'];
const RESET_OPTIONS: readonly (keyof EpisodeReset)[] = ['profile', 'grader'];

/**
 * A single episode. Call `reset`, then `step` until `terminated`; `finalScore` is the grade.
 * All floats are float32 values. The arrays change with the next step.
 */
export class Episode implements EpisodeState, Transition {
  /** The world that is played. */
  readonly world: World;
  /** u32: the seed of the episode. */
  seed = 0;
  /** Steps taken, 0 to 28. */
  stepCount = 0;
  /** Code of the profile mode: 0 sampled, 1 discrete, 2 given. */
  mode: number = MODE.sampled;
  /** f32 [5] in [0, 1]: vitality, cognition, progress, serenity, connection. */
  readonly meters = new Float32Array(NUM_METERS);
  /** f32 [16]: traits, then weights. Hidden from an agent. */
  readonly profile = new Float32Array(PROFILE_SIZE);
  /** f32 [5]: the profile's reward weights, by METER_NAMES. A view of `profile`. */
  readonly weights = this.profile.subarray(NUM_TRAITS);
  /** Sum of the rewards of the first half, without noise. */
  early = 0;
  /** Sum of the rewards of the second half, without noise. */
  late = 0;
  /** Sum of the rewards. */
  return = 0;
  /** How often a meter was below the crash threshold. */
  crashes = 0;
  /** Sum of the meters after each step, weighted by the reward weights. */
  well = 0;
  /** Sum of the terms of `belief_skill`: one per step from beliefSkillFrom on, once a belief was given. */
  skill = 0;
  /** f32 [3] in [0, 1]: the last belief given; 0.5 each if none was given. */
  readonly belief = new Float32Array(NUM_BELIEFS);
  /** Whether a belief was given. */
  given = false;
  /** u32 [4]: the sequence of actions taken, four bits each, the first in the lowest bits. */
  readonly tape = new Uint32Array(TAPE_WORDS);
  /** f32 [8]: the grader's weights. */
  readonly grader = new Float32Array(NUM_COMPONENTS);
  /** The step at which the episode began: 0, or the step of a `start`. */
  began = 0;
  /** f32 [5]: the meters when the episode began. */
  readonly firstMeters = new Float32Array(NUM_METERS);

  /** The event of the last step, or -1. */
  event = -1;
  /** The last action, or -1. */
  lastAction = -1;
  /** The last reward. */
  reward = 0;
  /** f32 [5]: the change of each meter in the last step. */
  readonly deltas = new Float32Array(NUM_METERS);
  /** f32 [5]: difference between the last step's response, with noise, and the neutral profile's response. */
  readonly anomalies = new Float32Array(NUM_METERS);
  /** f32 [8]: the components that the last `grade` computed; zeros before. The 28th step calls `grade`. */
  readonly components = new Float32Array(NUM_COMPONENTS);
  /** Mean absolute error of the last belief, in [0, 1]. `grade` computes it and the next three; they are 0 before. */
  beliefMae = 0;
  /** Mean reward of the first half, without noise. */
  firstHalfMean = 0;
  /** Mean reward of the second half, without noise. */
  secondHalfMean = 0;
  /** The grade, in [0, 1]. */
  finalScore = 0;

  readonly #target = new Float32Array(NUM_BELIEFS);
  readonly #streams: Streams;
  readonly #draws = newDraws();

  #isReset = false;

  /** Creates an episode, which begins with `reset`. @throws InputError `unknown_option`, `wrong_type` or `bad_world`. */
  constructor(options: EpisodeOptions = {}) {
    checkOptions('options', options, OPTIONS);
    this.world = options.world ?? createWorld();
    if (this.world?.params === undefined) {
      throw new InputError('bad_world', {
        expected: 'a World at options.world',
        got: describe(options.world),
        remedy: 'Pass createWorld(spec).',
      });
    }
    const imagination = checkBoolean('imagination', options.imagination ?? false);
    this.#streams = streamsOf(this.world.params, imagination);
  }

  /** Whether the 28th step was taken. */
  get terminated(): boolean {
    return this.stepCount === NUM_STEPS;
  }

  /** f32 [3] in [0, 1]: the perfect belief. Hidden from the agent. */
  get target(): Float32Array {
    return this.#target;
  }

  /**
   * Begins a new episode.
   * @param seed u32. @throws InputError `bad_seed`, `wrong_type`, `unknown_option`, `unknown_name`, `bad_profile` or
   *   `bad_grader`. An error changes nothing.
   */
  reset(seed: number, options: EpisodeReset = {}): this {
    checkSeed(seed, 'seed');
    checkOptions('reset options', options, RESET_OPTIONS);
    const profile = resolveProfile(this.world, options.profile ?? 'sampled');
    const grader = weightsIn(this.world, options.grader ?? 'v2');
    this.begin(seed, profile.mode, profile.floats, grader);
    return this;
  }

  /**
   * @internal Does the same as `reset`, for valid values.
   * @param mode code of PROFILE_MODES. @param floats the profile for mode `given`; null keeps the profile.
   * @param grader eight weights. @param beginning the state in which the episode begins. Default: step 0.
   */
  begin(
    seed: number,
    mode: number,
    floats: ArrayLike<number> | null,
    grader: ArrayLike<number>,
    beginning = startFrom(this.world.params.initialMeters),
  ): void {
    const { params } = this.world;
    this.seed = seed;
    this.mode = mode;
    this.grader.set(grader);
    if (mode === MODE.sampled) sampleProfile(params, seed, this.profile);
    else if (mode === MODE.discrete) namedProfile(params, discreteProfileIndex(params, seed), this.profile);
    else if (floats !== null) this.profile.set(floats);
    this.#beginAt(beginning);
    this.tape.fill(0);
    this.#isReset = true;
    this.#afterReset();
  }

  /** Takes time, meters, sums and belief from a start. */
  #beginAt(start: EpisodeStart): void {
    this.stepCount = this.began = start.steps;
    this.meters.set(start.meters);
    this.firstMeters.set(start.meters);
    this.early = start.early;
    this.late = start.late;
    this.return = start.return;
    this.crashes = start.crashes;
    this.well = start.well;
    this.skill = start.skill;
    this.given = start.belief !== null;
    if (start.belief === null) this.belief.fill(0.5);
    else this.belief.set(start.belief);
  }

  /** Computes the belief target, and clears the last transition and the grade. */
  #afterReset(): void {
    beliefTarget(this.world.params, this.profile, this.#target);
    this.event = this.lastAction = -1;
    this.reward = this.beliefMae = this.firstHalfMean = this.secondHalfMean = this.finalScore = 0;
    this.deltas.fill(0);
    this.anomalies.fill(0);
    this.components.fill(0);
  }

  /**
   * Takes one action.
   * @param action code in 0..9. @param belief three finite numbers, clamped to [0, 1]; null for no belief.
   * @returns the reward, with noise.
   * @throws InputError `illegal_action`, `wrong_type`, `wrong_length` or `bad_belief`; StateError `not_reset` or
   *   `episode_over`. An error changes nothing.
   */
  step(action: number, belief: ArrayLike<number> | null = null): number {
    this.#requireStepsLeft();
    if (!Number.isInteger(action) || action < 0 || action >= NUM_ACTIONS)
      throw illegalAction('action', action);
    return this.advance(action, belief === null ? null : toConstantBelief(belief));
  }

  #requireStepsLeft(): void {
    if (!this.#isReset) {
      throw new StateError(
        'not_reset',
        'Expected a reset before this call, got none yet. Call reset(seed) first.',
      );
    }
    if (!this.terminated) return;
    throw new StateError(
      'episode_over',
      `Expected steps left, got an episode that has taken all ${NUM_STEPS}. Call reset first.`,
    );
  }

  /** @internal Does the same as `step`, for valid values. */
  advance(action: number, belief: ArrayLike<number> | null): number {
    this.applyStep(action, belief);
    if (this.terminated) this.finish();
    this.return = f32(this.return + this.reward);
    return this.reward;
  }

  /** @internal Takes a step by rules 1 to 9, and advances the time. */
  applyStep(action: number, belief: ArrayLike<number> | null): void {
    const t = this.stepCount;
    const draws = drawsOf(this.#streams, this.seed, t, this.#draws);
    stepEpisode(this.world.params, this, action, draws, this);
    this.lastAction = action;
    this.tape[t >>> 3] |= action << (4 * (t & 7));
    if (belief !== null) this.believe(belief);
    if (this.given && t >= this.world.params.beliefSkillFrom) this.skill = f32(this.skill + this.skillTerm());
  }

  /** @internal Rule 9: returns the last belief's term of `belief_skill`. */
  skillTerm(): number {
    return skillTerm(this.world.params, this.belief, this.#target);
  }

  /** @internal Rule 9: stores a belief. */
  believe(belief: ArrayLike<number>): void {
    const { smallestBelief } = this.world.params;
    for (let k = 0; k < NUM_BELIEFS; k++) this.belief[k] = clampBelief(belief[k], smallestBelief);
    this.given = true;
  }

  /** @internal Rule 10, after the last step: computes the grade and adds the terminal term to the last reward. */
  finish(): void {
    this.grade();
    this.reward = f32(this.reward + terminalReward(this.world.params, this.finalScore));
  }

  /**
   * Computes components, belief MAE and final score as if the episode ended now. After the 28th step they are the grade.
   */
  grade(): void {
    const { params } = this.world;
    this.beliefMae = beliefMae(params, this.belief, this.#target);
    this.firstHalfMean = halfMean(params, this.early);
    this.secondHalfMean = halfMean(params, this.late);
    gradeComponents(params, this, this.beliefMae, this.components);
    this.finalScore = finalScore(this.grader, this.components);
  }

  /** Writes the observation: f32 [22] at `offset`, fields as in OBSERVATION_FIELDS. */
  observe(out: Float32Array, offset = 0): void {
    const t = this.stepCount;
    out[offset + OBSERVATION.step] = t;
    out[offset + OBSERVATION.day] = Math.floor(t / NUM_SLOTS);
    out[offset + OBSERVATION.slot] = t % NUM_SLOTS;
    out[offset + OBSERVATION.remaining] = NUM_STEPS - t;
    out.set(this.meters, offset + OBSERVATION.meters);
    out[offset + OBSERVATION.event] = this.event;
    out[offset + OBSERVATION.lastAction] = this.lastAction;
    out[offset + OBSERVATION.reward] = this.reward;
    out.set(this.deltas, offset + OBSERVATION.deltas);
    out.set(this.anomalies, offset + OBSERVATION.anomalies);
  }

  /** Returns the state's hash, u64. Hashes are equal if seed, step, meters and profile are equal. */
  stateHash(): bigint {
    return stateHash(this.seed, this.stepCount, this.meters, this.profile);
  }
}
