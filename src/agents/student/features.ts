/** The inputs of a student's network, computed from public observations. */
import type { Params } from '../../world/block.js';
import {
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_SIZE,
  TRAIT_NAMES,
} from '../../world/fields.js';
import { BOUNDED_TRAITS, NUM_BOUNDED, TraitBounds } from './trait-bounds.js';
import { FILTER_SIZE, WeightFilter } from './weight-filter.js';

const f32 = Math.fround;

/** The version of the inputs. It rises when any input changes for the same observations. */
export const FEATURES_VERSION = 1;

/** The inputs in order, with their sizes. `SCALE` has the factors of some. */
const LAYOUT = {
  /** One-hot: 1 at the index that equals the number of steps taken. */
  step: NUM_STEPS,
  /** The meters, from -1 to 1. */
  meters: NUM_METERS,
  /** The middle of each trait's bounds, from -1 to 1. */
  middles: NUM_BOUNDED,
  /** The distance between the bounds, as a share of the trait's range. */
  widths: NUM_BOUNDED,
  /** The observed metabolic rate minus the neutral profile's; 0 before it was observed. */
  metabolism: 1,
  /** The mean of each reward weight minus 1/5, and its variance. */
  weights: NUM_METERS,
  variances: NUM_METERS,
  /**
   * The meters at the end of the first half, from -1 to 1; 0 before. With the reward weights, they determine the sum of the
   * rewards of the first half, apart from noise and crashes.
   */
  middleMeters: NUM_METERS,
  /** The sum of each meter over the steps so far, divided by the steps of an episode. Wellbeing weighs these sums. */
  meterSums: NUM_METERS,
  /** The number of times that a meter was below the crash threshold after a step. */
  crashes: 1,
  /** Zeros, which make the size a multiple of four: jax-js multiplies matrices of other sizes ten times slower. */
  padding: 3,
};
/** The number of inputs, 76. */
export const FEATURE_COUNT = Object.values(LAYOUT).reduce((sum, size) => sum + size);

/**
 * Factors, chosen by hand, that bring inputs near 1. The metabolic rate differs from the neutral one by at most 0.4. A reward
 * weight has the mean 1/5 and the prior variance 1/69. Ten crashes give the input 1.
 */
const SCALE = { metabolism: 2.5, weights: 5, variances: 60, crashes: f32(0.1) };
const PER_STEP = f32(1 / NUM_STEPS);
const FIRST_HALF = NUM_STEPS / 2;
/** The indices of vitality and serenity. */
const [VITALITY, SERENITY] = [0, 3];
const METABOLIC_RATE = TRAIT_NAMES.indexOf('metabolic_rate');
/** The mean of a reward weight: the weights add up to 1. */
const MEAN_WEIGHT = f32(1 / NUM_METERS);

/** What is kept of each episode. */
interface Memory {
  /** f32 [9] each: the lower and upper bounds of the traits. */
  readonly low: Float32Array;
  readonly high: Float32Array;
  /** f32 [30]: the filter of the reward weights: their means f32 [5], then their covariances f32 [5, 5]. */
  readonly filter: Float32Array;
  /** f32 [5] each: the current meters, the meters at the end of the first half, and the sum of each meter over the steps. */
  readonly meters: Float32Array;
  readonly middleMeters: Float32Array;
  readonly meterSums: Float32Array;
  /** The metabolic rate, and the number of crashes. */
  metabolism: number;
  crashes: number;
}

const createMemory = (): Memory => ({
  low: new Float32Array(NUM_BOUNDED),
  high: new Float32Array(NUM_BOUNDED),
  filter: new Float32Array(FILTER_SIZE),
  meters: new Float32Array(NUM_METERS),
  middleMeters: new Float32Array(NUM_METERS),
  meterSums: new Float32Array(NUM_METERS),
  metabolism: 0,
  crashes: 0,
});

function copyMemory(from: Memory, to: Memory): void {
  to.low.set(from.low);
  to.high.set(from.high);
  to.filter.set(from.filter);
  to.meters.set(from.meters);
  to.middleMeters.set(from.middleMeters);
  to.meterSums.set(from.meterSums);
  to.metabolism = from.metabolism;
  to.crashes = from.crashes;
}

/** Reads the observations of n episodes, step by step, and writes the inputs. */
export class Features {
  readonly #params: Params;
  readonly #bounds: TraitBounds;
  readonly #filter: WeightFilter;
  readonly #memories: readonly Memory[];
  /** The last step, which `#record` overwrites. */
  readonly #step = {
    slot: 0,
    action: 0,
    before: new Float32Array(NUM_METERS) as Float32Array,
    anomalies: new Float32Array(NUM_METERS) as Float32Array,
  };

  constructor(params: Params, numEnvs: number) {
    this.#params = params;
    this.#bounds = new TraitBounds(params);
    this.#filter = new WeightFilter(params);
    this.#memories = Array.from({ length: numEnvs }, createMemory);
  }

  /** Returns the features of new episodes: episode k begins with a copy of the memory of episode `indices[k]`. */
  fork(indices: readonly number[]): Features {
    const fork = new Features(this.#params, indices.length);
    for (const [k, index] of indices.entries()) copyMemory(this.#memories[index], fork.#memories[k]);
    return fork;
  }

  /**
   * Adds the observation of episode i to its memory, and writes its inputs.
   * @param observations f32 [n, 22]. An observation at step 0 begins an episode. Pass the observation of every step below 28.
   * @param inputs f32 [FEATURE_COUNT]: overwritten.
   */
  observe(observations: Float32Array, i: number, inputs: Float32Array): void {
    const memory = this.#memories[i];
    const base = i * OBSERVATION_SIZE;
    const step = observations[base + OBSERVATION.step];
    if (step === 0) this.#begin(memory);
    else this.#record(memory, observations, base, step);
    for (let k = 0; k < NUM_METERS; k++) memory.meters[k] = observations[base + OBSERVATION.meters + k];
    if (step === FIRST_HALF) memory.middleMeters.set(memory.meters);
    this.#write(memory, step, inputs);
  }

  #begin(memory: Memory): void {
    this.#bounds.reset(memory.low, memory.high);
    this.#filter.reset(memory.filter);
    memory.middleMeters.fill(0.5);
    memory.meterSums.fill(0);
    memory.metabolism = this.#params.traitNeutral[METABOLIC_RATE];
    memory.crashes = 0;
  }

  /** Updates a memory with the step that led to the observation at `base`. */
  #record(memory: Memory, rows: Float32Array, base: number, step: number): void {
    const seen = this.#step;
    const at = (field: number): Float32Array => rows.subarray(base + field, base + field + NUM_METERS);
    seen.slot = (step - 1) % NUM_SLOTS;
    seen.action = rows[base + OBSERVATION.lastAction];
    seen.before = memory.meters;
    seen.anomalies = at(OBSERVATION.anomalies);
    this.#bounds.narrow(seen, memory.low, memory.high);
    const [after, deltas] = [at(OBSERVATION.meters), at(OBSERVATION.deltas)];
    let crashed = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      if (after[k] < this.#params.crashThreshold) crashed++;
      memory.meterSums[k] = f32(memory.meterSums[k] + after[k]);
    }
    memory.crashes += crashed;
    this.#filter.update(memory.filter, deltas, rows[base + OBSERVATION.reward], crashed);
    const showsDecay = after[VITALITY] > 0 && after[VITALITY] < 1 && rows[base + OBSERVATION.event] < 0;
    if (showsDecay) memory.metabolism = this.#metabolismOf(memory, deltas[VITALITY]);
  }

  /** Returns the metabolic rate: vitality changes by the neutral effect plus the anomaly minus the rate times the decay. */
  #metabolismOf(memory: Memory, delta: number): number {
    const { effect, stress, traitNeutral, decay } = this.#params;
    const { slot, action, anomalies } = this.#step;
    // The last bounded trait is the stress threshold.
    const neutralStressed = memory.meters[SERENITY] < traitNeutral[BOUNDED_TRAITS[NUM_BOUNDED - 1]] ? 1 : 0;
    const neutral = f32(
      effect[(slot * NUM_ACTIONS + action) * NUM_METERS + VITALITY] + f32(stress[VITALITY] * neutralStressed),
    );
    return f32(f32(f32(neutral + anomalies[VITALITY]) - delta) / decay[VITALITY]);
  }

  /** Writes the inputs, in the order of `LAYOUT`. */
  #write(memory: Memory, step: number, inputs: Float32Array): void {
    inputs.fill(0);
    inputs[step] = 1;
    let at = LAYOUT.step;
    for (let k = 0; k < NUM_METERS; k++) inputs[at++] = f32(f32(2 * memory.meters[k]) - 1);
    for (let k = 0; k < NUM_BOUNDED; k++) {
      const index = BOUNDED_TRAITS[k];
      const sum = f32(memory.low[k] + memory.high[k]);
      const fromLow = f32(sum - f32(2 * this.#params.traitLow[index]));
      inputs[at] = f32(f32(fromLow * this.#params.traitInverseSpan[index]) - 1);
      const width = f32(memory.high[k] - memory.low[k]);
      inputs[at + NUM_BOUNDED] = f32(width * this.#params.traitInverseSpan[index]);
      at++;
    }
    at += NUM_BOUNDED;
    inputs[at++] = f32(SCALE.metabolism * f32(memory.metabolism - this.#params.traitNeutral[METABOLIC_RATE]));
    for (let k = 0; k < NUM_METERS; k++) {
      inputs[at + k] = f32(SCALE.weights * f32(memory.filter[k] - MEAN_WEIGHT));
      inputs[at + NUM_METERS + k] = f32(SCALE.variances * memory.filter[NUM_METERS * (k + 1) + k]);
      inputs[at + 2 * NUM_METERS + k] = f32(f32(2 * memory.middleMeters[k]) - 1);
      inputs[at + 3 * NUM_METERS + k] = f32(memory.meterSums[k] * PER_STEP);
    }
    inputs[at + 4 * NUM_METERS] = f32(SCALE.crashes * memory.crashes);
  }
}
