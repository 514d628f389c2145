/** One episode, one person, one week: the readable environment that every backend must equal bit for bit. */
import { InputError, StateError } from '../errors.js';
import { illegalAction } from '../validate/actions.js';
import { checkSeed } from '../validate/seeds.js';
import { toConstantBelief } from '../validate/steps.js';
import { checkBoolean, checkOptions, describe } from '../validate/values.js';
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
} from '../world/fields.js';
import { resolveGrader, resolveProfile } from '../world/resolve.js';
import { createWorld, type World } from '../world/world.js';
import { type Beginning, weekFrom } from './beginning.js';
import { beliefMae, finalScore, gradeComponents, halfMean } from './grade.js';
import { beliefTarget, clamp01, discreteProfile, namedProfile, sampleProfile } from './profile.js';
import { stateHash } from './state-hash.js';
import { addDecay, addEvent, addLuck, moveMeters, respond, rewardLuck, stepReward } from './step.js';
import { type Draw, threefry } from './threefry.js';

const f32 = Math.fround;

export interface EpisodeOptions {
  /** Default: the published world. */
  world?: World;
  /** Draw luck and events from the imagination streams, never a real episode's. Default false. */
  imagination?: boolean;
}

export interface EpisodeReset {
  /** 'sampled' (default), 'discrete', a profile's name, or 16 floats: 11 traits, then 5 weights. */
  profile?: string | ArrayLike<number>;
  /** 'v2' (default), 'v1', or six weights that sum to 1. */
  grader?: string | ArrayLike<number>;
}

const OPTIONS: readonly (keyof EpisodeOptions)[] = ['world', 'imagination'];
const RESET_OPTIONS: readonly (keyof EpisodeReset)[] = ['profile', 'grader'];

/**
 * A single episode. `reset`, then `step` until `terminated`; `grade` says how it went.
 * All floats are float32 values; views are live and change with the next step.
 */
export class Episode {
  readonly world: World;
  seed = 0;
  /** Steps taken, 0 to 28. */
  stepCount = 0;
  mode: number = MODE.sampled;
  /** f32 [5] in [0, 1]: vitality, cognition, progress, serenity, connection. */
  readonly meters = new Float32Array(NUM_METERS);
  /** f32 [16]: traits, then weights. Hidden from an agent. */
  readonly profile = new Float32Array(PROFILE_SIZE);
  readonly weights = this.profile.subarray(NUM_TRAITS);
  /** Sums of the rewards of each half, without luck. */
  early = 0;
  late = 0;
  /** Sum of the rewards given. */
  return = 0;
  /** How often a meter was below the crash threshold. */
  crashes = 0;
  /** f32 [3] in [0, 1]: the last belief given, 0.5 each before. */
  readonly belief = new Float32Array(NUM_BELIEFS);
  given = false;
  /** u32 [4]: the actions taken, four bits each. */
  readonly tape = new Uint32Array(TAPE_WORDS);
  /** f32 [6]. */
  readonly grader = new Float32Array(NUM_COMPONENTS);
  /** Steps that were taken before the episode began here, and f32 [5], the meters that it began with. */
  began = 0;
  readonly firstMeters = new Float32Array(NUM_METERS);

  /** Of the step just taken: event code or -1, action code or -1, reward, f32 [5] deltas and anomalies. */
  event = -1;
  lastAction = -1;
  reward = 0;
  readonly deltas = new Float32Array(NUM_METERS);
  readonly anomalies = new Float32Array(NUM_METERS);
  /** f32 [6], as of the last `grade`, which the 28th step calls; zeros before. */
  readonly components = new Float32Array(NUM_COMPONENTS);
  /** In [0, 1], of the last belief against the target. */
  beliefMae = 0;
  /** Mean reward of each half, without luck. */
  earlyMean = 0;
  lateMean = 0;
  /** In [0, 1]. */
  finalScore = 0;

  readonly #streams: { event: number; noise: number };
  readonly #neutral = new Float32Array(NUM_METERS);
  readonly #target = new Float32Array(NUM_BELIEFS);
  readonly #noise: Draw = { x0: 0, x1: 0 };
  readonly #eventDraw: Draw = { x0: 0, x1: 0 };

  #begun = false;

  /** @throws InputError `unknown_option`, `wrong_type` or `bad_world`. */
  constructor(options: EpisodeOptions = {}) {
    checkOptions('options', options, OPTIONS);
    this.world = options.world ?? createWorld();
    if (this.world?.params === undefined) {
      throw new InputError(
        'bad_world',
        `Expected a World at options.world, got ${describe(options.world)}. Pass createWorld(spec).`,
      );
    }
    const { streamEvent, streamNoise, streamImagination } = this.world.params;
    const mask = checkBoolean('imagination', options.imagination ?? false) ? streamImagination : 0;
    this.#streams = { event: (streamEvent ^ mask) >>> 0, noise: (streamNoise ^ mask) >>> 0 };
  }

  /** Whether the 28th step was taken. */
  get terminated(): boolean {
    return this.stepCount === NUM_STEPS;
  }

  /** f32 [3] in [0, 1]: what a perfect belief would be. Hidden from an agent. */
  get target(): Float32Array {
    return this.#target;
  }

  /**
   * Begins a new week.
   * @param seed u32. @throws InputError `bad_seed`, `unknown_option`, `unknown_name`, `bad_profile` or
   *   `bad_grader`. Nothing has changed then.
   */
  reset(seed: number, options: EpisodeReset = {}): this {
    checkSeed(seed, 'seed');
    checkOptions('reset options', options, RESET_OPTIONS);
    const profile = resolveProfile(this.world, options.profile ?? 'sampled');
    const grader = resolveGrader(this.world, options.grader ?? 'v2');
    this.begin(seed, profile.mode, profile.floats, grader);
    return this;
  }

  /** @internal `reset` with clean values: a mode's code, the floats that mode `given` takes (null keeps them), six weights. */
  begin(
    seed: number,
    mode: number,
    floats: ArrayLike<number> | null,
    grader: ArrayLike<number>,
    beginning = weekFrom(this.world.params.initialMeters),
  ): void {
    const { params } = this.world;
    this.seed = seed;
    this.mode = mode;
    this.grader.set(grader);
    if (mode === MODE.sampled) sampleProfile(params, seed, this.profile);
    else if (mode === MODE.discrete) namedProfile(params, discreteProfile(params, seed), this.profile);
    else if (floats !== null) this.profile.set(floats);
    this.#beginAt(beginning);
    this.belief.fill(0.5);
    this.given = false;
    this.tape.fill(0);
    this.#begun = true;
    this.#afterReset();
  }

  #beginAt({ steps, meters, early, late, return: earned, crashes }: Beginning): void {
    this.stepCount = this.began = steps;
    this.meters.set(meters);
    this.firstMeters.set(meters);
    [this.early, this.late, this.return, this.crashes] = [early, late, earned, crashes];
  }

  #afterReset(): void {
    beliefTarget(this.world.params, this.profile, this.#target);
    this.event = this.lastAction = -1;
    this.reward = this.beliefMae = this.earlyMean = this.lateMean = this.finalScore = 0;
    this.deltas.fill(0);
    this.anomalies.fill(0);
    this.components.fill(0);
  }

  /**
   * Takes one action.
   * @param action code in 0..9. @param belief three finite numbers, clamped to [0, 1]; null for none.
   * @returns the reward that the agent is given.
   * @throws InputError `illegal_action`, `wrong_type`, `wrong_length` or `bad_belief`; StateError `not_reset` or
   *   `episode_over`. Nothing has changed then.
   */
  step(action: number, belief: ArrayLike<number> | null = null): number {
    this.#requireStepsLeft();
    if (!Number.isInteger(action) || action < 0 || action >= NUM_ACTIONS)
      throw illegalAction('action', action);
    return this.advance(action, belief === null ? null : toConstantBelief(belief));
  }

  #requireStepsLeft(): void {
    if (!this.#begun) {
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

  /** @internal `step` with clean values. */
  advance(action: number, belief: ArrayLike<number> | null): number {
    this.live(action);
    if (belief !== null) this.#believe(belief);
    if (this.terminated) this.finish();
    this.return = f32(this.return + this.reward);
    return this.reward;
  }

  /** @internal Rules 1 to 8 and 10: a step but for beliefs and the grade. */
  live(action: number): void {
    const { params } = this.world;
    const { profile, meters, deltas: d, stepCount: t } = this;
    const slot = t % NUM_SLOTS;
    const noise = threefry(this.seed, this.#streams.noise, t, 0, this.#noise);
    respond(params, profile, slot, action, meters, d);
    addLuck(params, noise, d);
    this.#noteAnomalies(slot, action);
    addDecay(params, profile, d);
    this.event = addEvent(
      params,
      profile,
      threefry(this.seed, this.#streams.event, t, 0, this.#eventDraw),
      d,
    );
    const crashed = moveMeters(params, meters, d);
    const r = stepReward(params, this.weights, d, crashed);
    this.crashes += crashed;
    if (t < NUM_STEPS / 2) this.early = f32(this.early + r);
    else this.late = f32(this.late + r);
    this.reward = f32(r + rewardLuck(params, noise));
    this.lastAction = action;
    this.tape[t >>> 3] |= action << (4 * (t & 7));
    this.stepCount = t + 1;
  }

  /** Rule 4: what of the change is not what the neutral person's would be. `deltas` holds the response with luck. */
  #noteAnomalies(slot: number, action: number): void {
    respond(this.world.params, this.world.params.traitNeutral, slot, action, this.meters, this.#neutral);
    for (let k = 0; k < NUM_METERS; k++) this.anomalies[k] = f32(this.deltas[k] - this.#neutral[k]);
  }

  /** Rule 9. */
  #believe(belief: ArrayLike<number>): void {
    for (let k = 0; k < NUM_BELIEFS; k++) {
      const clamped = clamp01(f32(belief[k]));
      this.belief[k] = clamped < this.world.params.smallestBelief ? 0 : clamped;
    }
    this.given = true;
  }

  /** @internal The end of rule 10: the grade, and its part of the last reward. */
  finish(): void {
    this.grade();
    const { terminalScale } = this.world.params;
    this.reward = f32(this.reward + f32(terminalScale * f32(this.finalScore - 0.5)));
  }

  /** Computes components, belief MAE and final score as if the week ended now; at its end they are the grade. */
  grade(): void {
    const { params } = this.world;
    this.beliefMae = beliefMae(params, this.belief, this.#target);
    this.earlyMean = halfMean(params, this.early);
    this.lateMean = halfMean(params, this.late);
    gradeComponents(params, this, this.beliefMae, this.components);
    this.finalScore = finalScore(this.grader, this.components);
  }

  /** Writes what an agent sees: f32 [22] at `offset`, fields as in OBSERVATION_FIELDS. */
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

  /** The state's hash: equal for equal person, time and meters. */
  stateHash(): bigint {
    return stateHash(this.seed, this.stepCount, this.meters, this.profile);
  }
}
