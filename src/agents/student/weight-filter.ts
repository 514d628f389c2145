/**
 * A filter of the five reward weights, in float32. A reward is a weighted sum of the changes of the meters plus uniform noise,
 * so each reward bounds that sum from both sides. The two bounds cut the filter's normal distribution, and the filter keeps the
 * mean and covariance of what is left as the next normal distribution (assumed density filtering). A Kalman filter, which
 * takes the noise as normal, leads to less accurate beliefs (docs/students.md, What the network sees).
 */
import type { Params } from '../../world/block.js';
import { NUM_METERS } from '../../world/fields.js';

const f32 = Math.fround;

/** The number of floats of the filter's state: the mean f32 [5], then the covariance f32 [5, 5]. */
export const FILTER_SIZE = NUM_METERS + NUM_METERS * NUM_METERS;
/** The concentration of each weight in the sampler's Dirichlet distribution (docs/world.md, Profiles). */
const CONCENTRATION = 2;

/** The mean, variance and covariance of weights with the sampler's distribution. */
const PRIOR = (() => {
  const mean = 1 / NUM_METERS;
  const divisor = CONCENTRATION * NUM_METERS + 1;
  const [variance, covariance] = [(mean * (1 - mean)) / divisor, -(mean * mean) / divisor];
  return { mean: f32(mean), variance: f32(variance), covariance: f32(covariance) };
})();

/**
 * A smaller variance of the sum counts as 0: then the reward says nothing about the weights. Chosen by hand, so that the filter
 * never divides by 0.
 */
const LEAST_VARIANCE = f32(2 ** -40);
/**
 * One reward leaves at least this share of the variance of the sum. Chosen by hand: without it, the approximation in `update`
 * may remove all of the variance.
 */
const LEAST_SHARE = f32(0.05);

/** Updates states. One object serves all environments: the states are the caller's. */
export class WeightFilter {
  readonly #params: Params;
  /** f32 [5] each: the factor of each weight in the sum, and the covariance of each weight with the sum. */
  readonly #x = new Float32Array(NUM_METERS);
  readonly #covariances = new Float32Array(NUM_METERS);

  constructor(params: Params) {
    this.#params = params;
  }

  /** Writes the prior. @param state f32 [30]. */
  reset(state: Float32Array): void {
    for (let k = 0; k < NUM_METERS; k++) {
      state[k] = PRIOR.mean;
      for (let j = 0; j < NUM_METERS; j++) {
        state[NUM_METERS * (k + 1) + j] = k === j ? PRIOR.variance : PRIOR.covariance;
      }
    }
  }

  /** Updates a state with a step. @param state f32 [30]. @param deltas f32 [5]. @param crashed the number of crashed meters. */
  update(state: Float32Array, deltas: ArrayLike<number>, reward: number, crashed: number): void {
    const { rewardScale, rewardBias, crashPenalty, noiseReward } = this.#params;
    const [x, covariances] = [this.#x, this.#covariances];
    // The reward minus its expected value.
    let error = f32(reward + f32(crashPenalty * crashed));
    for (let k = 0; k < NUM_METERS; k++) {
      x[k] = f32(rewardScale * deltas[k]);
      error = f32(error - f32(f32(rewardBias[k] + state[k]) * x[k]));
    }
    // The variance of the sum.
    let variance = 0;
    for (let k = 0; k < NUM_METERS; k++) {
      let sum = 0;
      for (let j = 0; j < NUM_METERS; j++) sum = f32(sum + f32(state[NUM_METERS * (k + 1) + j] * x[j]));
      covariances[k] = sum;
      variance = f32(variance + f32(sum * x[k]));
    }
    if (!(variance > LEAST_VARIANCE)) return;
    // The bounds of the sum, in standard deviations from its mean.
    const spread = f32(Math.sqrt(variance));
    const low = f32(f32(error - noiseReward) / spread);
    const high = f32(f32(error + noiseReward) / spread);
    // Approximates the mean and variance of a normal distribution that two bounds cut: takes each bound as if it alone cut the
    // distribution, and adds the two effects. `fromLow` and `fromHigh` are the distances, in standard deviations, by which the
    // bounds move the mean inwards. `cut` is the share of the variance that both remove. The mean of a weight rises by `shift`
    // times the weight's covariance with the sum. The covariance of two weights falls by `lost` times the product of their
    // covariances with the sum.
    const [fromLow, fromHigh] = [inverseMillsRatio(low), inverseMillsRatio(-high)];
    const shift = f32(f32(fromLow - fromHigh) / spread);
    const cut = f32(f32(fromLow * f32(fromLow - low)) + f32(fromHigh * f32(fromHigh + high)));
    const lost = f32(Math.min(Math.max(cut, 0), f32(1 - LEAST_SHARE)) / variance);
    for (let k = 0; k < NUM_METERS; k++) state[k] = f32(state[k] + f32(covariances[k] * shift));
    for (let k = 0; k < NUM_METERS; k++) {
      const share = f32(lost * covariances[k]);
      for (let j = 0; j < NUM_METERS; j++) {
        const at = NUM_METERS * (k + 1) + j;
        state[at] = f32(state[at] - f32(share * covariances[j]));
      }
    }
  }
}

/**
 * Returns a lower bound (Sampford 1953) of the mean of a standard normal number that exceeds `x`. The formula has no
 * exponential. The result is 0 for `x` below -1, where the cut removes little.
 */
function inverseMillsRatio(x: number): number {
  const root = f32(Math.sqrt(f32(f32(x * x) + 8)));
  return Math.max(0, f32(f32(f32(3 * x) + root) * 0.25));
}
