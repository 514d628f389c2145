/**
 * A one-step lookahead without hidden state: it tries each action in imagination, with profiles sampled from its posterior.
 *   npx rhythm-vec eval --policies ./examples/lookahead-policy.js,heuristic+inference --conditions in-distribution,ood
 */
import { ACTION_NAMES, createVecEnv, Inference, OBSERVATION, OBSERVATION_SIZE } from 'rhythm-vec';

const [NUM_ACTIONS, PROFILE_SIZE] = [ACTION_NAMES.length, 16];

/** Posterior samples per episode. Each has other imagined noise. */
const SAMPLES = 16;
/** Copies of each episode: one for each action and sample. */
const COPIES = NUM_ACTIONS * SAMPLES;

/** @type {import('rhythm-vec').Policy} */
export default {
  open({ numEnvs, world, threads }) {
    const inference = new Inference(world, numEnvs);
    const options = { world: world.spec, threads, imagination: true };
    // Copy c of episode i tries action floor(c / SAMPLES) under sample c % SAMPLES. No copy has the true profile.
    const imagined = createVecEnv({ numEnvs: numEnvs * COPIES, ...options });
    const actions = Uint8Array.from({ length: numEnvs * COPIES }, (_, c) => (c % COPIES) / SAMPLES);

    /** Begins each copy in the observed state of its episode. */
    const begin = (observations, steps) => {
      const samples = inference.posteriorSamples(SAMPLES);
      const profiles = new Float32Array(actions.length * PROFILE_SIZE);
      const start = { steps: new Uint8Array(actions.length), meters: [] };
      for (const [c] of actions.entries()) {
        const [i, sample] = [Math.floor(c / COPIES), c % SAMPLES];
        const from = (i * SAMPLES + sample) * PROFILE_SIZE;
        profiles.set(samples.subarray(from, from + PROFILE_SIZE), c * PROFILE_SIZE);
        // Copies of episodes that are over are ignored.
        start.steps[c] = Math.min(steps[i], 27);
        const row = observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
        start.meters.push(...row.subarray(OBSERVATION.meters, OBSERVATION.event));
      }
      // All actions have the same noise under a sample, so that the comparison is fair.
      imagined.reset({ seed: actions.map((_, c) => c % SAMPLES), profiles, start });
    };

    return {
      reset() {},
      act({ observations, steps, playing }) {
        inference.observe(observations, playing);
        begin(observations, steps);
        const { rewards } = imagined.step(actions);
        const sums = new Float64Array(numEnvs * NUM_ACTIONS);
        for (const [c, reward] of rewards.entries()) sums[Math.floor(c / SAMPLES)] += reward;
        const best = (i) => {
          const own = sums.subarray(i * NUM_ACTIONS, (i + 1) * NUM_ACTIONS);
          return own.indexOf(Math.max(...own));
        };
        return { actions: Array.from({ length: numEnvs }, (_, i) => best(i)), beliefs: inference.beliefs() };
      },
      [Symbol.dispose]: () => imagined.close(),
    };
  },
};
