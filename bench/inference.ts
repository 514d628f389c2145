/** `--inference`: measures the accuracy and the time of inference, on episodes whose seeds were not used to tune it. */
import { heuristicAction, randomAction } from '../dist/engine/reference/baselines.js';
import { createVecEnv, Inference, OBSERVATION, OBSERVATION_SIZE } from '../dist/index.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_METERS, NUM_SLOTS, NUM_STEPS } from '../dist/world/fields.js';
import { WORLD } from './episodes.js';
import { digits, type Section, table } from './report.js';
import { now, progress } from './runner.js';
import { Mismatch } from './verify.js';

/** Environment i plays this seed plus i. */
const FIRST_SEED = 20_000;
/** The steps after which figures are reported, chosen by hand. An agent states its last belief after 27 steps. */
const REPORTED_STEPS: readonly number[] = [1, 4, 8, 12, 20, NUM_STEPS - 1];
/** The coverage is that of at most this many episodes, because `explain` takes longer than an update. Chosen by hand. */
const MAX_EXPLAINED = 300;

/** Chooses the next action of every environment. */
type Policy = (observations: Float32Array, inference: Inference, step: number) => Uint8Array;

const POLICIES: Readonly<Record<string, Policy>> = {
  heuristic: (rows, { numEnvs }, step) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => {
      const from = i * OBSERVATION_SIZE + OBSERVATION.meters;
      return heuristicAction(WORLD.params, step % NUM_SLOTS, rows.subarray(from, from + NUM_METERS));
    }),
  random: (_rows, { numEnvs }, step) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => randomAction(WORLD.params, FIRST_SEED + i, step, 0)),
  /** Plays the most informative next action regardless of its reward, to show how much can be inferred. */
  curious: (_rows, inference) => {
    const values = inference.probeValues();
    return Uint8Array.from({ length: inference.numEnvs }, (_, i) => {
      const ownValues = values.subarray(i * NUM_ACTIONS, (i + 1) * NUM_ACTIONS);
      return ownValues.indexOf(Math.max(...ownValues));
    });
  },
};

/**
 * Measures inference with one policy: the accuracy after some steps.
 * @throws Mismatch if the last beliefs about episode 0 depend on the other episodes of the batch.
 */
function measurePolicy(policy: string, episodes: number) {
  using env = createVecEnv({ numEnvs: episodes });
  const inference = new Inference(WORLD, episodes);
  const single = new Inference(WORLD, 1);
  let result = env.reset({ seed: FIRST_SEED });
  const targets = env.beliefTargets();
  const observeFirst = () => single.observe(result.observations.slice(0, OBSERVATION_SIZE));
  observeFirst();
  inference.observe(result.observations);
  const rows = [];
  let spent = 0;
  for (let step = 0; step < NUM_STEPS; step++) {
    result = env.step(POLICIES[policy](result.observations, inference, step));
    observeFirst();
    const start = now();
    inference.observe(result.observations);
    const beliefs = inference.beliefs();
    spent += now() - start;
    if (!REPORTED_STEPS.includes(step + 1)) continue;
    rows.push({
      policy,
      steps: step + 1,
      // The mean absolute error of the inferred beliefs, and the errors that the inference itself expects.
      beliefMae: mean(beliefs.map((belief, at) => Math.abs(belief - targets[at]))),
      expectedMae: mean(inference.expectedErrors()),
      coverage: coverageOf(inference, targets),
      // An update (observe a step, compute a belief) per episode, the mean over the steps so far.
      msPerUpdate: spent / 1e6 / (step + 1) / episodes,
    });
  }
  checkFirst(policy, inference, single);
  return rows;
}

/** Compares the beliefs about episode 0 in the batch with those computed for this episode alone. */
function checkFirst(policy: string, batch: Inference, single: Inference): void {
  const [first, expected] = [batch.beliefs().slice(0, NUM_BELIEFS), single.beliefs()];
  if (first.every((belief, k) => belief === expected[k])) return;
  throw new Mismatch(
    `inference, policy ${policy}: Expected the beliefs [${expected.join(', ')}] of episode 0 alone, got ` +
      `[${first.join(', ')}] in a batch of ${batch.numEnvs}.`,
  );
}

const mean = (list: Float32Array): number => list.reduce((sum, x) => sum + x, 0) / list.length;

/** Returns the share of targets between the posterior's 10 % and 90 % quantiles. */
function coverageOf(inference: Inference, targets: Float32Array): number {
  const count = Math.min(inference.numEnvs, MAX_EXPLAINED);
  let inside = 0;
  for (let i = 0; i < count; i++) {
    for (const [k, { low, high }] of inference.explain(i).targets.entries()) {
      const target = targets[i * NUM_BELIEFS + k];
      if (low <= target && target <= high) inside++;
    }
  }
  return inside / (count * NUM_BELIEFS);
}

export const inference: Section = {
  help: 'the accuracy of inferred beliefs, and the time of an update',
  async measure(small) {
    const figures = [];
    for (const policy of Object.keys(POLICIES)) {
      await progress(`inference, policy ${policy}`);
      // Chosen by hand: more episodes give more precise figures, and take longer.
      figures.push(...measurePolicy(policy, small ? 20 : 2000));
    }
    const head = ['policy', 'steps', 'belief MAE', 'expected MAE', 'in 10-90 %', 'ms per update'];
    const lines = figures.map(({ policy, steps, beliefMae, expectedMae, coverage, msPerUpdate }) => [
      ...[policy, steps],
      ...[beliefMae, expectedMae, coverage, msPerUpdate].map((figure) => digits(figure, 3)),
    ]);
    return { figures, text: table(head, lines) };
  },
};
