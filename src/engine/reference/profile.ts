/** Sampled, discrete and named profiles, and the belief target of a profile (docs/world.md, Profiles). */
import type { Params } from '../../world/block.js';
import { NUM_BELIEFS, NUM_METERS, NUM_TRAITS, PROFILE_NAMES, PROFILE_SIZE } from '../../world/fields.js';
import { below, type Draw, threefry, unit } from './threefry.js';

const f32 = Math.fround;
/** The number of random numbers of a sampled profile: one for each trait, and nine that, sorted, give the reward weights. */
const NUM_UNITS = 20;
/** Indices of the sorted units that cut [0, 1] into Dirichlet(2,2,2,2,2) weights. */
const CUTS = [1, 3, 5, 7];
/** The number of factors of each number of a belief target. */
const FACTORS = 3;

/** Clamps a number to [0, 1]. -0 becomes +0. */
export const clamp01 = (x: number): number => Math.min(Math.max(x, 0), 1);

/** Rule 9: belief. Returns a number of a belief as float32, clamped to [0, 1], and +0 if below `smallest`. */
export function clampBelief(x: number, smallest: number): number {
  const clamped = clamp01(f32(x));
  return clamped < smallest ? 0 : clamped;
}

const draw: Draw = { x0: 0, x1: 0 };

/** Writes the 16 floats of a seed's sampled profile. @param stream u32: the stream of the draws. */
export function sampleProfile(
  params: Params,
  seed: number,
  out: Float32Array,
  stream = params.streamProfile,
): void {
  const units = new Float32Array(NUM_UNITS);
  for (let block = 0; block < NUM_UNITS / 2; block++) {
    threefry(seed, stream, block, 0, draw);
    units[2 * block] = unit(draw.x0);
    units[2 * block + 1] = unit(draw.x1);
  }
  for (let k = 0; k < NUM_TRAITS; k++) {
    out[k] = f32(params.traitLow[k] + f32(params.traitSpan[k] * units[k]));
  }
  const sorted = units.subarray(NUM_TRAITS).sort();
  const cuts = [0, ...CUTS.map((index) => sorted[index]), 1];
  for (let k = 0; k < NUM_METERS; k++) out[NUM_TRAITS + k] = f32(cuts[k + 1] - cuts[k]);
}

/** Returns the index of a seed's discrete profile among the named profiles. */
export function discreteProfileIndex(params: Params, seed: number): number {
  return below(threefry(seed, params.streamProfile, 0, 1, draw).x0, PROFILE_NAMES.length);
}

/** Writes the 16 floats of a named profile. @param index its index in PROFILE_NAMES. */
export function namedProfile(params: Params, index: number, out: Float32Array): void {
  for (let k = 0; k < PROFILE_SIZE; k++) out[k] = params.namedProfiles[index * PROFILE_SIZE + k];
}

/** Returns a factor of a belief target, in [0, 1]. @param factor index into the factors of all beliefs. */
function beliefFactor(params: Params, profile: Float32Array, factor: number): number {
  // The index of a trait, or of a reward weight, in the profile.
  const source = params.beliefSource[factor];
  const z =
    source < NUM_TRAITS
      ? clamp01(f32(f32(profile[source] - params.traitLow[source]) * params.traitInverseSpan[source]))
      : clamp01(f32(profile[source] * params.beliefWeightScale));
  return params.beliefInverted[factor] ? f32(1 - z) : z;
}

/** Writes the belief target of a profile: f32 [3] in [0, 1], social, morning, work. */
export function beliefTarget(params: Params, profile: Float32Array, out: Float32Array): void {
  for (let belief = 0; belief < NUM_BELIEFS; belief++) {
    let sum = 0;
    for (let k = belief * FACTORS; k < (belief + 1) * FACTORS; k++) {
      const term = f32(params.beliefShare[k] * beliefFactor(params, profile, k));
      sum = k === belief * FACTORS ? term : f32(sum + term);
    }
    out[belief] = clamp01(f32(0.5 + f32(params.beliefGain * f32(sum - 0.5))));
  }
}
