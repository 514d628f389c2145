/** What an agent notes of its episodes from what it sees of them: enough to go on with anybody in their place. */
import { InputError } from '../../errors.js';
import type { Params } from '../../world/block.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../world/fields.js';

const HALF = NUM_STEPS / 2;

export class Tracks {
  readonly #params: Params;
  /** u8 [n]: steps taken. */
  readonly steps: Uint8Array;
  /** f32 [n, 5]. */
  readonly meters: Float32Array;
  /** f64 [n, 2, 5]: sums of the meters' changes in each half. */
  readonly #changes: Float64Array;
  /** u32 [n, 2]: how often a meter was below the crash threshold in each half. */
  readonly #lows: Uint32Array;
  /** f64 [n, 5]: sums of the meters after each step. */
  readonly #sums: Float64Array;
  /** u8 [n]: 1 from the first observation of an episode on. */
  readonly #begun: Uint8Array;

  constructor(numEnvs: number, params: Params) {
    this.#params = params;
    this.steps = new Uint8Array(numEnvs);
    this.meters = new Float32Array(numEnvs * NUM_METERS);
    this.#changes = new Float64Array(numEnvs * 2 * NUM_METERS);
    this.#lows = new Uint32Array(numEnvs * 2);
    this.#sums = new Float64Array(numEnvs * NUM_METERS);
    this.#begun = new Uint8Array(numEnvs);
  }

  /**
   * Notes what is seen of those that play: f32 [n, 22], and u8 [n].
   * @throws InputError `out_of_range` for a step that does not follow the last one seen. Nothing was noted then.
   */
  see(observations: Float32Array, playing: Uint8Array): void {
    for (let i = 0; i < playing.length; i++) if (playing[i] !== 0) this.#checkStep(observations, i);
    for (let i = 0; i < playing.length; i++) if (playing[i] !== 0) this.#note(observations, i);
  }

  #checkStep(observations: Float32Array, i: number): void {
    const step = observations[i * OBSERVATION_SIZE + OBSERVATION.step];
    const next = this.steps[i] + 1;
    const mayGoOn = this.#begun[i] === 1 && next < NUM_STEPS;
    if (step === 0 || (mayGoOn && step === next)) return;
    throw new InputError(
      'out_of_range',
      `Expected step ${mayGoOn ? `0 or ${next}` : '0'} in row ${i} of observations, got ${step}. Show each observation ` +
        'once, from the first of an episode on, and leave out by `playing` what is over.',
    );
  }

  #note(observations: Float32Array, i: number): void {
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
    this.#lows.fill(0, i * 2, (i + 1) * 2);
    this.#sums.fill(0, i * NUM_METERS, (i + 1) * NUM_METERS);
  }

  #add(observations: Float32Array, at: number, i: number, half: number): void {
    for (let k = 0; k < NUM_METERS; k++) {
      const meter = observations[at + OBSERVATION.meters + k];
      this.#changes[(2 * i + half) * NUM_METERS + k] += observations[at + OBSERVATION.deltas + k];
      this.#sums[i * NUM_METERS + k] += meter;
      if (meter < this.#params.crashThreshold) this.#lows[2 * i + half]++;
    }
  }

  /** How often a meter of episode i was below the crash threshold. */
  crashes(i: number): number {
    return this.#lows[2 * i] + this.#lows[2 * i + 1];
  }

  /**
   * The sum of episode i's rewards in a half, 0 or 1, without luck, if its person has these weights: as the world sums
   * them, but for rounding.
   * @param weights f32, five of them from `at` on.
   */
  rewards(i: number, half: number, weights: Float32Array, at: number): number {
    const { rewardScale, rewardBias, crashPenalty } = this.#params;
    const row = 2 * i + half;
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      sum += (weights[at + k] + rewardBias[k]) * this.#changes[row * NUM_METERS + k];
    }
    return rewardScale * sum - crashPenalty * this.#lows[row];
  }

  /** The sum over the steps taken of the meters after each, as a person with these weights weighs them. */
  weighed(i: number, weights: Float32Array, at: number): number {
    let sum = 0;
    for (let k = 0; k < NUM_METERS; k++) sum += weights[at + k] * this.#sums[i * NUM_METERS + k];
    return sum;
  }
}
