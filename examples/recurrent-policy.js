/**
 * A policy with memory: it plays fixed actions, and computes the belief from average anomalies, by linear functions that were
 * fitted on seeds 50000-53999.
 * `node examples/recurrent-policy.js` prints its mean final score on seeds 0-99, and the mean error of its last beliefs.
 * This command evaluates it beside a baseline:
 *   npx rhythm-vec eval --policies ./examples/recurrent-policy.js,heuristic+constant --conditions in-distribution,ood
 */
import { ACTION_NAMES, evaluate, METER_NAMES, OBSERVATION, OBSERVATION_SIZE } from 'rhythm-vec';

const [VITALITY, COGNITION] = ['vitality', 'cognition'].map((name) => METER_NAMES.indexOf(name));
const codesOf = (...names) => names.map((name) => ACTION_NAMES.indexOf(name));
const COMPANY = codesOf('family_time', 'socialize');
const WORK = codesOf('deep_work', 'admin_work', 'learn');
/** The action of each time of day: morning, afternoon, evening, night. Chosen by hand, so that each average below has steps. */
const SCHEDULE = codesOf('deep_work', 'exercise', 'socialize', 'sleep');

/**
 * For social, morning and work: whether the average includes a step, the meter whose anomaly is averaged, and the linear
 * function from the average to the belief.
 */
const AVERAGES = [
  { isCounted: (action) => COMPANY.includes(action), meter: VITALITY, intercept: 0.62, slope: 5.4 },
  { isCounted: (_action, slot) => slot === 0, meter: COGNITION, intercept: 0.49, slope: 4.8 },
  { isCounted: (action) => WORK.includes(action), meter: VITALITY, intercept: 0.37, slope: 5.9 },
];
const NUM_BELIEFS = AVERAGES.length;

/** @type {import('rhythm-vec').Policy} */
const policy = {
  open({ numEnvs }) {
    const sums = new Float64Array(numEnvs * NUM_BELIEFS);
    const counts = new Float64Array(numEnvs * NUM_BELIEFS);
    /** Adds the anomalies of the last action in environment i to its sums. */
    const addAnomalies = (i, observation) => {
      // The time of day of the last action is the one before the observation's.
      const slot = (observation[OBSERVATION.slot] + 3) % 4;
      for (const [k, { isCounted, meter }] of AVERAGES.entries()) {
        if (!isCounted(observation[OBSERVATION.lastAction], slot)) continue;
        sums[i * NUM_BELIEFS + k] += observation[OBSERVATION.anomalies + meter];
        counts[i * NUM_BELIEFS + k]++;
      }
    };
    /** Returns the belief at index `at` of [numEnvs, 3], in [0, 1]; 0.5 if no step has counted yet. */
    const beliefAt = (sum, at) => {
      const { intercept, slope } = AVERAGES[at % NUM_BELIEFS];
      return counts[at] === 0 ? 0.5 : Math.min(1, Math.max(0, intercept + (slope * sum) / counts[at]));
    };
    return {
      // Clears the sums of the environments whose episode begins.
      reset({ mask }) {
        for (let at = 0; at < sums.length; at++)
          if (mask[Math.floor(at / NUM_BELIEFS)] === 1) sums[at] = counts[at] = 0;
      },
      act({ observations, steps }) {
        for (const [i, step] of steps.entries()) {
          if (step > 0)
            addAnomalies(i, observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE));
        }
        const actions = steps.map((step) => SCHEDULE[step % SCHEDULE.length]);
        return { actions, beliefs: sums.map(beliefAt) };
      },
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
