/**
 * One step of an episode: rules 1 to 8 of docs/world.md and the time of rule 10, in the same order and with the same names.
 * Start reading here. Vectors over meters are ordered vitality, cognition, progress, serenity, connection. `d` is the change
 * of the meters so far. Every operation rounds to float32 once.
 */
import type { Params } from '../../world/block.js';
import {
  METER,
  NUM_ACTIONS,
  NUM_EVENTS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  NUM_TRAITS,
  TAGS,
  TRAIT_NAMES,
} from '../../world/fields.js';
import { clamp01 } from './profile.js';
import { below, type Draw, type Draws } from './threefry.js';

/** f32 values. */
type Floats = Readonly<ArrayLike<number>>;

/** The part of an episode's state that a step reads. */
export interface EpisodeState {
  /** Steps taken, 0 to 27. */
  readonly stepCount: number;
  /** f32 [16]: 11 traits, then 5 reward weights. */
  readonly profile: Floats;
  /** f32 [5] in [0, 1]. */
  readonly meters: Floats;
  /** Sums of the rewards of each half, without noise. */
  readonly early: number;
  readonly late: number;
  /** How often a meter was below the crash threshold. */
  readonly crashes: number;
  /** Sum of the meters after each step, weighted by the reward weights. */
  readonly well: number;
}

/** The result of a step: new values of the state, and the event, reward, deltas and anomalies. */
export interface Transition {
  stepCount: number;
  readonly meters: Float32Array;
  early: number;
  late: number;
  crashes: number;
  well: number;
  /** Code of the event; -1 for no event. */
  event: number;
  /** The reward, with noise, without the terminal term of rule 10. */
  reward: number;
  /** f32 [5] each. */
  readonly deltas: Float32Array;
  readonly anomalies: Float32Array;
}

/** Returns a transition for `stepEpisode` to fill. */
const newTransition = (): Transition => ({
  ...{ stepCount: 0, early: 0, late: 0, crashes: 0, well: 0, event: -1, reward: 0 },
  meters: new Float32Array(NUM_METERS),
  deltas: new Float32Array(NUM_METERS),
  anomalies: new Float32Array(NUM_METERS),
});

/**
 * Computes one step. Depends only on its arguments, and writes only to `out`. Beliefs (rule 9) and the grade after the last
 * step (rule 10) are in grade.ts: they change no meter, and no reward except the last.
 * @param action code in 0..9. @param draws the draws of this seed and step.
 * @param out overwritten; it may be the state itself, which is then updated in place. @returns `out`.
 */
export function stepEpisode(
  params: Params,
  state: EpisodeState,
  action: number,
  draws: Draws,
  out: Transition = newTransition(),
): Transition {
  const { profile, meters, stepCount: t } = state;
  const slot = t % NUM_SLOTS;
  const d = out.deltas;
  // Rule 1: effect.
  setEffect(params, slot, action, d);
  // Rule 2: response.
  respond(params, profile, slot, action, meters, d);
  // Rule 3: noise.
  addNoise(params, draws.noise, d);
  // Rule 4: anomaly.
  setAnomaly(params, slot, action, meters, d, out.anomalies);
  // Rule 5: decay.
  subtractDecay(params, profile, d);
  // Rule 6: event.
  out.event = addEvent(params, profile, draws.event, d);
  // Rule 7: meters.
  const low = moveMeters(params, meters, d, out.meters);
  out.crashes = state.crashes + low;
  out.well = f32(state.well + weightedMeters(profile, out.meters));
  // Rule 8: reward.
  const r = rewardOf(params, profile, d, low);
  const isFirstHalf = t < NUM_STEPS / 2;
  out.early = isFirstHalf ? f32(state.early + r) : state.early;
  out.late = isFirstHalf ? state.late : f32(state.late + r);
  out.reward = f32(r + rewardNoise(params, draws.noise));
  // Rule 10: time.
  out.stepCount = t + 1;
  return out;
}

const f32 = Math.fround;
const { vitality: V, cognition: C, progress: P, serenity: S, connection: N } = METER;
const [PRODUCTIVE, SOCIAL, SOLO, GUILTY] = TAGS.map((_, code) => code);
const trait = (name: string): number => TRAIT_NAMES.indexOf(name);
const SOCIAL_VITALITY_MULTIPLIER = trait('social_vitality_multiplier');
const SOCIAL_SERENITY_BONUS = trait('social_serenity_bonus');
const MORNING_FOCUS = trait('morning_focus');
const NIGHT_FOCUS = trait('night_focus');
const WORK_VITALITY_RECOVERY = trait('work_vitality_recovery');
const PROGRESS_SERENITY_BONUS = trait('progress_serenity_bonus');
const SOLO_SERENITY_BONUS = trait('solo_serenity_bonus');
const LEISURE_GUILT = trait('leisure_guilt');
const STRESS_THRESHOLD = trait('stress_threshold');
const METABOLIC_RATE = trait('metabolic_rate');
const EVENT_IMPACT = trait('event_impact');

/** Rule 1: effect. */
function setEffect(params: Params, slot: number, action: number, d: Float32Array): void {
  const row = (slot * NUM_ACTIONS + action) * NUM_METERS;
  for (let k = 0; k < NUM_METERS; k++) d[k] = params.effect[row + k];
}

/** Rule 2: response. @param profile f32 [11] or longer: only the traits are used. */
function respond(
  params: Params,
  profile: Floats,
  slot: number,
  action: number,
  meters: Floats,
  d: Float32Array,
): void {
  // Bit a of tagged[tag] is 1 if action a has the tag.
  const is = (tag: number): boolean => ((params.tagged[tag] >>> action) & 1) === 1;
  if (is(PRODUCTIVE)) {
    const focus = focusOf(profile, slot);
    const vigour = f32(params.vitalityFactorBase + f32(params.vitalityFactorSlope * meters[V]));
    d[P] = f32(f32(d[P] * vigour) * focus);
    d[C] = f32(d[C] + f32(params.focusCognition * f32(focus - 1)));
  }
  if (is(SOCIAL)) d[V] = f32(d[V] * profile[SOCIAL_VITALITY_MULTIPLIER]);
  if (is(PRODUCTIVE)) {
    d[V] = f32(d[V] + profile[WORK_VITALITY_RECOVERY]);
    d[S] = f32(d[S] + profile[PROGRESS_SERENITY_BONUS]);
  }
  if (is(SOCIAL)) d[S] = f32(d[S] + profile[SOCIAL_SERENITY_BONUS]);
  if (is(SOLO)) d[S] = f32(d[S] + profile[SOLO_SERENITY_BONUS]);
  if (is(GUILTY)) d[S] = f32(d[S] - profile[LEISURE_GUILT]);
  if (meters[S] < profile[STRESS_THRESHOLD]) {
    for (let k = 0; k < NUM_METERS; k++) d[k] = f32(d[k] + params.stress[k]);
  }
}

/** Rule 2: response. Returns the profile's focus at a time of day. */
function focusOf(profile: Floats, slot: number): number {
  if (slot === 0) return profile[MORNING_FOCUS];
  return slot === 1 ? 1 : profile[NIGHT_FOCUS];
}

/** Rules 1 and 2. Writes `d`, f32 [5]. @param profile f32 [11] or longer: only the traits are used. */
export function effectAndResponse(
  params: Params,
  profile: Floats,
  slot: number,
  action: number,
  meters: Floats,
  d: Float32Array,
): void {
  setEffect(params, slot, action, d);
  respond(params, profile, slot, action, meters, d);
}

/** Rule 3: noise. */
function addNoise(params: Params, draw: Draw, d: Float32Array): void {
  for (let k = 0; k < NUM_METERS; k++) d[k] = f32(d[k] + f32(params.noiseMeters[k] * noiseField(draw, k)));
}

/** Returns field `j` in 0..5 of a noise draw as an exact float32 in (-1, 1). Each word has three fields of ten bits. */
function noiseField(draw: Draw, j: number): number {
  const word = j < 3 ? draw.x0 : draw.x1;
  const bits = (word >>> (10 * (j % 3))) & 1023;
  return (bits + 0.5) * 2 ** -9 - 1;
}

/** Rule 4: anomaly. Writes `anomaly`. */
function setAnomaly(
  params: Params,
  slot: number,
  action: number,
  meters: Floats,
  d: Float32Array,
  anomaly: Float32Array,
): void {
  // The array holds the neutral profile's response first, then the anomaly.
  const neutral = anomaly;
  effectAndResponse(params, params.traitNeutral, slot, action, meters, neutral);
  for (let k = 0; k < NUM_METERS; k++) anomaly[k] = f32(d[k] - neutral[k]);
}

/** Rule 5: decay. */
function subtractDecay(params: Params, profile: Floats, d: Float32Array): void {
  d[V] = f32(d[V] - f32(params.decay[V] * profile[METABOLIC_RATE]));
  for (const k of [C, P, S, N]) d[k] = f32(d[k] - params.decay[k]);
}

/** Rule 6: event. @returns the event's code; -1 for no event. */
function addEvent(params: Params, profile: Floats, draw: Draw, d: Float32Array): number {
  if (draw.x0 >= params.eventThreshold) return -1;
  const code = below(draw.x1, NUM_EVENTS);
  for (let k = 0; k < NUM_METERS; k++) {
    d[k] = f32(d[k] + f32(params.eventEffect[code * NUM_METERS + k] * profile[EVENT_IMPACT]));
  }
  return code;
}

/** Rule 7: meters. Writes `moved`, and replaces `d` by the actual change. @returns the number of meters that crashed. */
function moveMeters(params: Params, meters: Floats, d: Float32Array, moved: Float32Array): number {
  let low = 0;
  for (let k = 0; k < NUM_METERS; k++) {
    const before = meters[k];
    const after = clamp01(f32(before + d[k]));
    d[k] = f32(after - before);
    moved[k] = after;
    if (after < params.crashThreshold) low++;
  }
  return low;
}

/** Rule 7: meters. Returns the sum of the meters, weighted by the reward weights without bias. */
export function weightedMeters(profile: Floats, meters: Floats): number {
  const term = (k: number): number => f32(profile[NUM_TRAITS + k] * meters[k]);
  return f32(f32(f32(f32(term(V) + term(C)) + term(P)) + term(S)) + term(N));
}

/**
 * Rule 8: reward. Returns the reward without noise. @param delta f32 [5]: changes of the meters.
 * @param low how many of the meters crashed.
 */
export function rewardOf(params: Params, profile: Floats, delta: Floats, low: number): number {
  const term = (k: number): number => f32(f32(profile[NUM_TRAITS + k] + params.rewardBias[k]) * delta[k]);
  const sum = f32(f32(f32(f32(term(V) + term(C)) + term(P)) + term(S)) + term(N));
  return f32(f32(params.rewardScale * sum) - f32(params.crashPenalty * low));
}

/** Rule 8: reward. Returns the reward's noise. */
export function rewardNoise(params: Params, draw: Draw): number {
  return f32(params.noiseReward * noiseField(draw, NUM_METERS));
}
