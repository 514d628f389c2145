/** The inputs of a student's network: bounds that contain the true traits, and estimated reward weights. */
import { expect, it } from 'vitest';
import { FEATURE_COUNT, Features } from '../../../src/agents/student/features.js';
import { BOUNDED_TRAITS } from '../../../src/agents/student/trait-bounds.js';
import { createVecEnv } from '../../../src/engine/node.js';
import { sampleProfile } from '../../../src/engine/reference/profile.js';
import { NUM_ACTIONS, NUM_METERS, NUM_STEPS, NUM_TRAITS, PROFILE_SIZE } from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';

const NUM_ENVS = 200;
const SEEDS = Uint32Array.from({ length: NUM_ENVS }, (_, i) => 100 + i);
const { params } = createWorld();
/** Offsets in an environment's inputs (LAYOUT of features.ts): the middles and widths of trait bounds, and the weights. */
const MIDDLES = NUM_STEPS + NUM_METERS;
const WIDTHS = MIDDLES + BOUNDED_TRAITS.length;
const WEIGHTS = WIDTHS + BOUNDED_TRAITS.length + 1;

/** Plays actions that depend on the seed. @returns the inputs before the last action, f32 [n, FEATURE_COUNT]. */
function lastInputs(seeds: Uint32Array): Float32Array {
  const numEnvs = seeds.length;
  using env = createVecEnv({ numEnvs, backend: 'reference' });
  const features = new Features(params, numEnvs);
  const inputs = new Float32Array(numEnvs * FEATURE_COUNT);
  let { observations } = env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    for (let i = 0; i < numEnvs; i++) {
      features.observe(observations, i, inputs.subarray(i * FEATURE_COUNT, (i + 1) * FEATURE_COUNT));
    }
    const actions = Uint8Array.from(seeds, (seed) => (seed * 3 + step * 7 + (seed % 5) * step) % NUM_ACTIONS);
    ({ observations } = env.step(actions));
  }
  return inputs;
}

const INPUTS = lastInputs(SEEDS);

it('the inputs bound the traits of every profile, and most bounds are narrow', () => {
  const profile = new Float32Array(PROFILE_SIZE);
  let narrowed = 0;
  for (let i = 0; i < NUM_ENVS; i++) {
    sampleProfile(params, SEEDS[i], profile);
    BOUNDED_TRAITS.forEach((trait, k) => {
      // The trait, scaled from its range to [-1, 1].
      const scaled = (2 * (profile[trait] - params.traitLow[trait])) / params.traitSpan[trait] - 1;
      const [middle, width] = [
        INPUTS[i * FEATURE_COUNT + MIDDLES + k],
        INPUTS[i * FEATURE_COUNT + WIDTHS + k],
      ];
      // 1e-5, chosen by hand, allows for the rounding of inputs to float32.
      expect(Math.abs(scaled - middle)).toBeLessThanOrEqual(width + 1e-5);
      if (width < 0.5) narrowed++;
    });
  }
  // Most bounds are narrower than half of the trait's range.
  expect(narrowed).toBeGreaterThan(0.5 * NUM_ENVS * BOUNDED_TRAITS.length);
});

it('the inputs estimate reward weights better than the prior', () => {
  const profile = new Float32Array(PROFILE_SIZE);
  let [error, priorError] = [0, 0];
  for (let i = 0; i < NUM_ENVS; i++) {
    sampleProfile(params, SEEDS[i], profile);
    for (let k = 0; k < NUM_METERS; k++) {
      const weight = profile[NUM_TRAITS + k];
      // An input is 5 times the difference between the estimated weight and the mean weight, 0.2.
      error += (INPUTS[i * FEATURE_COUNT + WEIGHTS + k] / 5 + 0.2 - weight) ** 2;
      priorError += (0.2 - weight) ** 2;
    }
  }
  // The errors have the quotient 0.61. The bound is chosen by hand.
  expect(error).toBeLessThan(0.85 * priorError);
});

it('the inputs of an episode are the same alone and in a batch', () => {
  const alone = lastInputs(SEEDS.slice(17, 18));
  expect(alone).toEqual(INPUTS.slice(17 * FEATURE_COUNT, 18 * FEATURE_COUNT));
});
