/**
 * A policy that looks one step ahead and reads no hidden state. It tries each action in imagined environments, with profiles
 * drawn from its posterior, and plays the action with the highest mean reward.
 * `node examples/lookahead-policy.js` prints its mean final score on seeds 0-99, and the mean error of its last beliefs.
 *   npx rhythm-vec eval --policies ./examples/lookahead-policy.js,heuristic+inference --conditions in-distribution,ood
 */
import { ACTION_NAMES, createVecEnv, evaluate, Inference, OBSERVATION, OBSERVATION_SIZE } from 'rhythm-vec';

/** A profile has eleven traits and five weights. */
const [NUM_ACTIONS, PROFILE_SIZE] = [ACTION_NAMES.length, 16];

/**
 * Posterior samples per episode. Each has noise and events of its own. Chosen by hand: more samples give more exact mean
 * rewards, and take longer.
 */
const SAMPLES = 16;
/** Copies of each episode: one for each action and sample. */
const COPIES = NUM_ACTIONS * SAMPLES;

/** @type {import('rhythm-vec').Policy} */
const policy = {
  open({ numEnvs, world, threads }) {
    const inference = new Inference(world, numEnvs);
    const options = { world: world.spec, threads, imagination: true };
    // Copy c is of episode floor(c / COPIES). It plays action floor(c % COPIES / SAMPLES) with the profile of sample c %
    // SAMPLES.
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
        // An episode that is over has taken 28 steps, but a start has at most 27. The actions of such copies are not used.
        start.steps[c] = Math.min(steps[i], 27);
        const row = observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);
        start.meters.push(...row.subarray(OBSERVATION.meters, OBSERVATION.event));
      }
      // The seed depends on the sample alone, so all actions have the same noise and events under a sample.
      imagined.reset({ seed: actions.map((_, c) => c % SAMPLES), profiles, start });
    };

    return {
      // Nothing to clear: the inference begins anew at an observation of step 0.
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
export default policy;

if (process.argv[1] === import.meta.filename) {
  const { rows } = await evaluate({ policies: { policy }, conditions: ['in-distribution'] });
  console.log(
    `final score ${rows[0].finalScore.mean.toFixed(3)}, belief MAE ${rows[0].beliefMae.toFixed(3)}`,
  );
}
