/** `--inference`: measures the accuracy and the time of inference, on episodes whose seeds were not used to tune it. */

import { heuristicAction, randomAction } from '../dist/engine/reference/baselines.js';
import {
  createVecEnv,
  createWorld,
  Inference,
  OBSERVATION,
  OBSERVATION_SIZE,
  type StepResult,
} from '../dist/index.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_METERS, NUM_SLOTS, NUM_STEPS } from '../dist/world/fields.js';
import { now } from './clock.js';
import { type OnProgress, yieldToEventLoop } from './measure.js';
import { digits, table } from './report.js';
import { Mismatch } from './verify.js';

export interface InferencePlan {
  readonly episodes: number;
  /** Environment i plays this seed plus i. */
  readonly firstSeed: number;
}
/** The numbers of episodes are chosen by hand: more give more precise figures, and take longer. */
export const FULL_INFERENCE: InferencePlan = { episodes: 2000, firstSeed: 20_000 };
export const SMALL_INFERENCE: InferencePlan = { episodes: 20, firstSeed: 20_000 };

/** The steps after which figures are reported, chosen by hand. An agent states its last belief after 27 steps. */
const REPORTED_STEPS: readonly number[] = [1, 4, 8, 12, 20, NUM_STEPS - 1];
/** The coverage is that of at most this many episodes, because `explain` takes longer than an update. Chosen by hand. */
const MAX_EXPLAINED = 300;
const world = createWorld();

/** The accuracy after some steps of episodes that one policy plays. */
export interface InferenceRow {
  /** The name of the policy in POLICIES. */
  readonly policy: string;
  readonly steps: number;
  /** The mean absolute error of the inferred beliefs. */
  readonly beliefMae: number;
  /** The mean of `expectedErrors()`, the errors that the inference itself expects. */
  readonly expectedMae: number;
  /** The share of targets between the posterior's 10 % and 90 % quantiles. */
  readonly coverage: number;
  /** The milliseconds of an update (observe a step, compute a belief) per episode, the mean over the steps so far. */
  readonly msPerUpdate: number;
}

/** Chooses the next action of every environment. */
type Policy = (
  observations: Float32Array,
  inference: Inference,
  step: number,
  firstSeed: number,
) => Uint8Array;

const POLICIES: Readonly<Record<string, Policy>> = {
  heuristic: (rows, { numEnvs }, step) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => {
      const from = i * OBSERVATION_SIZE + OBSERVATION.meters;
      return heuristicAction(world.params, step % NUM_SLOTS, rows.subarray(from, from + NUM_METERS));
    }),
  random: (_rows, { numEnvs }, step, firstSeed) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => randomAction(world.params, firstSeed + i, step, 0)),
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
 * Measures inference with every policy.
 * @throws Mismatch if the last beliefs about episode 0 depend on the other episodes of the batch.
 */
export async function measureInference(plan: InferencePlan, onProgress: OnProgress): Promise<InferenceRow[]> {
  const rows: InferenceRow[] = [];
  for (const policy of Object.keys(POLICIES)) {
    onProgress(`inference, policy ${policy}`);
    await yieldToEventLoop();
    rows.push(...measurePolicy(policy, plan));
  }
  return rows;
}

function measurePolicy(policy: string, { episodes, firstSeed }: InferencePlan): InferenceRow[] {
  using env = createVecEnv({ numEnvs: episodes });
  const inference = new Inference(world, episodes);
  const single = new Inference(world, 1);
  let result = env.reset({ seed: firstSeed });
  const targets = env.beliefTargets();
  for (const each of [single, inference]) each.observe(observationsOf(each, result));
  const rows: InferenceRow[] = [];
  let spent = 0;
  for (let step = 0; step < NUM_STEPS; step++) {
    result = env.step(POLICIES[policy](result.observations, inference, step, firstSeed));
    single.observe(observationsOf(single, result));
    const start = now();
    inference.observe(result.observations);
    const beliefs = inference.beliefs();
    spent += now() - start;
    if (REPORTED_STEPS.includes(step + 1)) {
      const accuracy = accuracyOf(inference, beliefs, targets);
      const msPerUpdate = spent / 1e6 / (step + 1) / episodes;
      rows.push({ policy, steps: step + 1, ...accuracy, msPerUpdate });
    }
  }
  checkFirst(policy, inference, single);
  return rows;
}

/** Returns the observations of the first `numEnvs` environments, where `numEnvs` is that of the inference. */
const observationsOf = ({ numEnvs }: Inference, { observations }: StepResult): Float32Array =>
  observations.slice(0, numEnvs * OBSERVATION_SIZE);

/** Compares the beliefs about episode 0 in the batch with those computed for this episode alone. */
function checkFirst(policy: string, batch: Inference, single: Inference): void {
  const [first, expected] = [batch.beliefs().slice(0, NUM_BELIEFS), single.beliefs()];
  if (first.every((belief, k) => belief === expected[k])) return;
  throw new Mismatch(
    `inference, policy ${policy}: Expected the beliefs [${expected.join(', ')}] of episode 0 alone, got ` +
      `[${first.join(', ')}] in a batch of ${batch.numEnvs}.`,
  );
}

function accuracyOf(inference: Inference, beliefs: Float32Array, targets: Float32Array) {
  const errors = beliefs.map((belief, at) => Math.abs(belief - targets[at]));
  return {
    beliefMae: mean(errors),
    expectedMae: mean(inference.expectedErrors()),
    coverage: coverageOf(inference, targets),
  };
}

const mean = (list: Float32Array): number => list.reduce((sum, x) => sum + x, 0) / list.length;

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

export function renderInference(rows: readonly InferenceRow[]): string {
  const head = ['policy', 'steps', 'belief MAE', 'expected MAE', 'in 10-90 %', 'ms per update'];
  const lines = rows.map(({ policy, steps, beliefMae, expectedMae, coverage, msPerUpdate }) => [
    policy,
    steps,
    ...[beliefMae, expectedMae, coverage].map((figure) => digits(figure, 3)),
    digits(msPerUpdate, 3),
  ]);
  return table(head, lines);
}
