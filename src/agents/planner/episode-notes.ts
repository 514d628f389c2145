/** Sums over the observations of episodes. They suffice to continue the episodes with any profile. */
import { InputError } from '../../shared/errors.js';
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';

const HALF = NUM_STEPS / 2;

export class EpisodeNotes {
  readonly #params: Params;
  /** u8 [n]: steps taken. */
  readonly steps: Uint8Array;
  /** f32 [n, 5]. */
  readonly meters: Float32Array;
  /** f64 [n, 2, 5]: sums of the meters' changes in each half. */
  readonly #changes: Float64Array;
  /** u32 [n, 2]: the number of crashes in each half. */
  readonly #crashes: Uint32Array;
  /** f64 [n, 5]: sums of the meters after each step. */
  readonly #sums: Float64Array;
  /** u8 [n]: 1 from the first observation of an episode on. */
  readonly #begun: Uint8Array;

  constructor(numEnvs: number, params: Params) {
    this.#params = params;
    this.steps = new Uint8Array(numEnvs);
    this.meters = new Float32Array(numEnvs * NUM_METERS);
    this.#changes = new Float64Array(numEnvs * 2 * NUM_METERS);
    this.#crashes = new Uint32Array(numEnvs * 2);
    this.#sums = new Float64Array(numEnvs * NUM_METERS);
    this.#begun = new Uint8Array(numEnvs);
  }

  /**
   * Records observations f32 [n, 22] of the episodes with 1 in u8 [n].
   * @throws InputError `out_of_range` for a step that does not follow the last one. Nothing is recorded then.
   */
  record(observations: Float32Array, playing: Uint8Array): void {
    for (let i = 0; i < playing.length; i++) if (playing[i] !== 0) this.#checkStep(observations, i);
    for (let i = 0; i < playing.length; i++) if (playing[i] !== 0) this.#recordRow(observations, i);
  }

  #checkStep(observations: Float32Array, i: number): void {
    const step = observations[i * OBSERVATION_SIZE + OBSERVATION.step];
    const next = this.steps[i] + 1;
    const mayContinue = this.#begun[i] === 1 && next < NUM_STEPS;
    if (step === 0 || (mayContinue && step === next)) return;
    throw new InputError(
      'out_of_range',
      `Expected step ${mayContinue ? `0 or ${next}` : '0'} in row ${i} of observations, got ${step}. Pass each observation ` +
        'once, from the first of an episode on, and mask finished episodes with `playing`.',
    );
  }

  #recordRow(observations: Float32Array, i: number): void {
    const at = i * OBSERVATION_SIZE;
    const step = observations[at + OBSERVATION.step];
    this.steps[i] = step;
    this.meters.set(
      observations.subarray(at + OBSERVATION.meters, at + OBSERVATION.meters + NUM_METERS),
      i * NUM_METERS,
    );
    if (step === 0) this.#begin(i);
    else this.#add(observations, at, i, Number(step > HALF));
  }

  #begin(i: number): void {
    this.#begun[i] = 1;
    this.#changes.fill(0, i * 2 * NUM_METERS, (i + 1) * 2 * NUM_METERS);
    this.#crashes.fill(0, i * 2, (i + 1) * 2);
    this.#sums.fill(0, i * NUM_METERS, (i + 1) * NUM_METERS);
  }

  #add(observations: Float32Array, at: number, i: number, half: number): void {
    for (let k = 0; k < NUM_METERS; k++) {
      const meter = observations[at + OBSERVATION.meters + k];
      this.#changes[(2 * i + half) * NUM_METERS + k] += observations[at + OBSERVATION.deltas + k];
      this.#sums[i * NUM_METERS + k] += meter;
      if (meter < this.#params.crashThreshold) this.#crashes[2 * i + half]++;
    }
  }

  /** Returns the number of crashes of episode i. */
  crashes(i: number): number {
    return this.#crashes[2 * i] + this.#crashes[2 * i + 1];
  }

  /**
   * Returns the sum of episode i's rewards in a half, 0 or 1, without noise, for reward weights. It equals the sum of the
   * world up to rounding.
   * @param weights f32: the five weights are from index `at` on.
   */
  rewards(i: number, half: number, weights: Float32Array, at: number): number {
    const { rewardScale, rewardBias, crashPenalty } = this.#params;
    const row = 2 * i + half;
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      sum += (weights[at + k] + rewardBias[k]) * this.#changes[row * NUM_METERS + k];
    }
    return rewardScale * sum - crashPenalty * this.#crashes[row];
  }

  /** Returns the weighted sum of the meters over the steps taken. */
  weightedSum(i: number, weights: Float32Array, at: number): number {
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++) sum += weights[at + k] * this.#sums[i * NUM_METERS + k];
    return sum;
  }
}
