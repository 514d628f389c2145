/** Sums over the observations of episodes. From them and a profile, the sums of a state (docs/world.md) are computed. */
import { InputError } from '../../shared/errors.js';
import type { Params } from '../../world/block.js';
import { NUM_BELIEFS, NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';

const HALF = NUM_STEPS / 2;

/** The sums of n episodes. */
export class EpisodeSums {
  readonly #params: Params;
  /** u8 [n]: steps taken. */
  readonly steps: Uint8Array;
  /** f32 [n, 5]: the current meters. */
  readonly meters: Float32Array;
  /** f64 [n, 2, 5]: sums of the meters' changes in each half. */
  readonly #changes: Float64Array;
  /** u32 [n, 2]: the number of crashes in each half. A meter below the crash threshold after a step is one crash. */
  readonly #crashes: Uint32Array;
  /** f64 [n, 5]: sums of the meters after each step. */
  readonly #sums: Float64Array;
  /** f32 [n, 3]: the belief recorded last. */
  readonly beliefs: Float32Array;
  /**
   * The beliefs stated at earlier steps that count for `belief_skill`: f64 [n, 3] sums, f64 [n] sums of squares, u8 [n] counts.
   */
  readonly #beliefSums: Float64Array;
  readonly #beliefSquares: Float64Array;
  readonly #beliefCounts: Uint8Array;
  /** u8 [n]: 1 from the first observation of an episode on. */
  readonly #begun: Uint8Array;

  constructor(numEnvs: number, params: Params) {
    this.#params = params;
    this.steps = new Uint8Array(numEnvs);
    this.meters = new Float32Array(numEnvs * NUM_METERS);
    this.#changes = new Float64Array(numEnvs * 2 * NUM_METERS);
    this.#crashes = new Uint32Array(numEnvs * 2);
    this.#sums = new Float64Array(numEnvs * NUM_METERS);
    this.beliefs = new Float32Array(numEnvs * NUM_BELIEFS);
    this.#beliefSums = new Float64Array(numEnvs * NUM_BELIEFS);
    this.#beliefSquares = new Float64Array(numEnvs);
    this.#beliefCounts = new Uint8Array(numEnvs);
    this.#begun = new Uint8Array(numEnvs);
  }

  /** Records beliefs f32 [n, 3], stated at the current step. @param playing u8 [n]: rows where it is 0 are ignored. */
  recordBeliefs(beliefs: Float32Array, playing: Uint8Array): void {
    for (let at = 0; at < beliefs.length; at++)
      if (playing[Math.floor(at / NUM_BELIEFS)] !== 0) this.beliefs[at] = beliefs[at];
  }

  /**
   * Records observations f32 [n, 22]. @param playing u8 [n]: rows where it is 0 are ignored.
   * @throws InputError `out_of_range` for a step that is neither 0 nor the next one, up to 27. An error records nothing.
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
    throw new InputError('out_of_range', {
      expected: `step ${mayContinue ? `0 or ${next}` : '0'} in row ${i} of observations`,
      got: String(step),
      remedy:
        'Pass each observation once, from the first of an episode on, and mask finished episodes with `playing`.',
    });
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
    else {
      this.#add(observations, at, i, Number(step > HALF));
      if (step > this.#params.beliefSkillFrom) this.#addBelief(i);
    }
  }

  #addBelief(i: number): void {
    for (let k = i * NUM_BELIEFS; k < (i + 1) * NUM_BELIEFS; k++) {
      this.#beliefSums[k] += this.beliefs[k];
      this.#beliefSquares[i] += this.beliefs[k] * this.beliefs[k];
    }
    this.#beliefCounts[i]++;
  }

  #begin(i: number): void {
    this.#begun[i] = 1;
    this.#changes.fill(0, i * 2 * NUM_METERS, (i + 1) * 2 * NUM_METERS);
    this.#crashes.fill(0, i * 2, (i + 1) * 2);
    this.#sums.fill(0, i * NUM_METERS, (i + 1) * NUM_METERS);
    this.#beliefSums.fill(0, i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS);
    this.#beliefSquares[i] = this.#beliefCounts[i] = 0;
  }

  /** Adds the changes, meters and crashes of a step of episode i. @param at index of its observation. @param half 0 or 1. */
  #add(observations: Float32Array, at: number, i: number, half: number): void {
    for (let k = 0; k < NUM_METERS; k++) {
      const meter = observations[at + OBSERVATION.meters + k];
      this.#changes[(2 * i + half) * NUM_METERS + k] += observations[at + OBSERVATION.deltas + k];
      this.#sums[i * NUM_METERS + k] += meter;
      if (meter < this.#params.crashThreshold) this.#crashes[2 * i + half]++;
    }
  }

  /** Returns the number of crashes of episode i. */
  numCrashes(i: number): number {
    return this.#crashes[2 * i] + this.#crashes[2 * i + 1];
  }

  /**
   * Returns the sum of episode i's rewards in a half, 0 or 1, without noise, for given reward weights. The result equals the
   * engine's sum, up to rounding.
   * @param weights f32: the five weights are from index `at` on.
   */
  rewardSum(i: number, half: number, weights: Float32Array, at: number): number {
    const { rewardScale, rewardBias, crashPenalty } = this.#params;
    const row = 2 * i + half;
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      sum += (weights[at + k] + rewardBias[k]) * this.#changes[row * NUM_METERS + k];
    }
    return rewardScale * sum - crashPenalty * this.#crashes[row];
  }

  /**
   * Returns the sum of episode i's terms of `belief_skill` for a belief target, f32 [3]. The result equals the engine's
   * sum, up to rounding.
   */
  skillSum(i: number, target: Float32Array): number {
    const count = this.#beliefCounts[i];
    // The sum of (belief - target)^2 over the steps, from the sums of the beliefs and of their squares.
    let squares = this.#beliefSquares[i];
    for (let k = 0; k < NUM_BELIEFS; k++)
      squares += target[k] * (count * target[k] - 2 * this.#beliefSums[i * NUM_BELIEFS + k]);
    return count - (this.#params.beliefSkillScale * squares) / NUM_BELIEFS;
  }

  /**
   * Returns the weighted sum of episode i's meters over the steps taken.
   * @param weights f32: the five weights are from index `at` on.
   */
  weightedMeterSum(i: number, weights: Float32Array, at: number): number {
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++) sum += weights[at + k] * this.#sums[i * NUM_METERS + k];
    return sum;
  }
}
