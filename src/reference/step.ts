/**
 * The rules of one step (world page, One step), on plain float32 vectors. Functions name the rules that they are.
 * Vectors over meters are ordered vitality, cognition, progress, serenity, connection.
 */
import type { Params } from '../world/block.js';
import { NUM_ACTIONS, NUM_EVENTS, NUM_METERS, TAGS, TRAIT_NAMES } from '../world/fields.js';
import { clamp01 } from './profile.js';
import { below, type Draw } from './threefry.js';

const f32 = Math.fround;
const [V, C, P, S, N] = [0, 1, 2, 3, 4];
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
const [PRODUCTIVE, SOCIAL, SOLO, GUILTY] = TAGS.map((_, code) => code);

/** f32 [11] or longer, by trait code. */
type Traits = Readonly<ArrayLike<number>>;

/** How well the person works in a slot: morning, afternoon, then evening and night alike. */
function focusOf(who: Traits, slot: number): number {
  if (slot === 0) return who[MORNING_FOCUS];
  return slot === 1 ? 1 : who[NIGHT_FOCUS];
}

/** Rules 1 and 2: what an action does to a person with these meters. Writes `d`. */
export function respond(
  params: Params,
  who: Traits,
  slot: number,
  action: number,
  meters: Float32Array,
  d: Float32Array,
): void {
  const row = (slot * NUM_ACTIONS + action) * NUM_METERS;
  for (let k = 0; k < NUM_METERS; k++) d[k] = params.effect[row + k];
  const is = (tag: number): boolean => ((params.tagged[tag] >>> action) & 1) === 1;
  const focus = focusOf(who, slot);
  if (is(PRODUCTIVE)) {
    const vigour = f32(params.vitalityFactorBase + f32(params.vitalityFactorSlope * meters[V]));
    d[P] = f32(f32(d[P] * vigour) * focus);
    d[C] = f32(d[C] + f32(params.focusCognition * f32(focus - 1)));
  }
  if (is(SOCIAL)) d[V] = f32(d[V] * who[SOCIAL_VITALITY_MULTIPLIER]);
  if (is(PRODUCTIVE)) {
    d[V] = f32(d[V] + who[WORK_VITALITY_RECOVERY]);
    d[S] = f32(d[S] + who[PROGRESS_SERENITY_BONUS]);
  }
  if (is(SOCIAL)) d[S] = f32(d[S] + who[SOCIAL_SERENITY_BONUS]);
  if (is(SOLO)) d[S] = f32(d[S] + who[SOLO_SERENITY_BONUS]);
  if (is(GUILTY)) d[S] = f32(d[S] - who[LEISURE_GUILT]);
  if (meters[S] < who[STRESS_THRESHOLD]) {
    for (let k = 0; k < NUM_METERS; k++) d[k] = f32(d[k] + params.stress[k]);
  }
}

/** The luck field that is the reward's, behind the meters'. */
const REWARD_LUCK = NUM_METERS;

/** The luck field `j` in 0..5 of a noise draw: an exact float32 in (-1, 1). */
function luckField(noise: Draw, j: number): number {
  const word = j < 3 ? noise.x0 : noise.x1;
  const bits = (word >>> (10 * (j % 3))) & 1023;
  return (bits + 0.5) * 2 ** -9 - 1;
}

/** The luck in a step's reward (rule 8). */
export function rewardLuck(params: Params, noise: Draw): number {
  return f32(params.noiseReward * luckField(noise, REWARD_LUCK));
}

/** Rule 3. */
export function addLuck(params: Params, noise: Draw, d: Float32Array): void {
  for (let k = 0; k < NUM_METERS; k++) d[k] = f32(d[k] + f32(params.noiseMeters[k] * luckField(noise, k)));
}

/** Rule 5. */
export function addDecay(params: Params, who: Traits, d: Float32Array): void {
  d[V] = f32(d[V] - f32(params.decay[V] * who[METABOLIC_RATE]));
  for (const k of [C, P, S, N]) d[k] = f32(d[k] - params.decay[k]);
}

/** Rule 6. @returns the event's code, or -1 for none. */
export function addEvent(params: Params, who: Traits, event: Draw, d: Float32Array): number {
  if (event.x0 >= params.eventThreshold) return -1;
  const code = below(event.x1, NUM_EVENTS);
  for (let k = 0; k < NUM_METERS; k++) {
    d[k] = f32(d[k] + f32(params.eventEffect[code * NUM_METERS + k] * who[EVENT_IMPACT]));
  }
  return code;
}

/** Rule 7. Moves the meters and turns `d` into the change that was possible. @returns how many are crashed now. */
export function moveMeters(params: Params, meters: Float32Array, d: Float32Array): number {
  let crashed = 0;
  for (let k = 0; k < NUM_METERS; k++) {
    const moved = clamp01(f32(meters[k] + d[k]));
    d[k] = f32(moved - meters[k]);
    meters[k] = moved;
    if (moved < params.crashThreshold) crashed++;
  }
  return crashed;
}

/** Rule 8, before luck. @param weights f32 [5], the person's own reward weights. */
export function stepReward(
  params: Params,
  weights: Float32Array,
  delta: Float32Array,
  crashed: number,
): number {
  const term = (k: number): number => f32(f32(weights[k] + params.rewardBias[k]) * delta[k]);
  const sum = f32(f32(f32(f32(term(V) + term(C)) + term(P)) + term(S)) + term(N));
  return f32(f32(params.rewardScale * sum) - f32(params.crashPenalty * crashed));
}
