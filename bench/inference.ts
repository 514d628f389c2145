/** `--inference`: measures the accuracy of inference and its time, on episodes with fresh seeds. */

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
import { breathe, type OnProgress } from './measure.js';
import { digits, table } from './report.js';
import { Mismatch } from './verify.js';

export interface InferencePlan {
  readonly episodes: number;
  /** Environment i plays this seed plus i. Nothing was tuned on these seeds. */
  readonly firstSeed: number;
}
export const FULL_INFERENCE: InferencePlan = { episodes: 2000, firstSeed: 20_000 };
export const SMALL_INFERENCE: InferencePlan = { episodes: 20, firstSeed: 20_000 };

/** Steps after which figures are taken. */
const SHOWN: readonly number[] = [1, 4, 8, 12, 20, NUM_STEPS - 1];
/** Environments whose intervals are checked: explaining one costs more than an update. */
const EXPLAINED = 300;
const world = createWorld();

/** Accuracy after some steps, with one way of acting. */
export interface InferenceRow {
  /** The way of acting, by CHOOSERS. */
  readonly watching: string;
  readonly steps: number;
  readonly beliefMae: number;
  /** The error that the inference itself expected. */
  readonly expectedMae: number;
  /** Share of targets within the posterior's 10 % to 90 % quantiles. */
  readonly coverage: number;
  /** Milliseconds to observe a step and compute a belief, per episode; the mean over all steps so far. */
  readonly msPerUpdate: number;
}

/** Chooses the next action of every environment. */
type Chooser = (
  observations: Float32Array,
  inference: Inference,
  step: number,
  firstSeed: number,
) => Uint8Array;

const CHOOSERS: Readonly<Record<string, Chooser>> = {
  heuristic: (rows, { numEnvs }, step) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => {
      const from = i * OBSERVATION_SIZE + OBSERVATION.meters;
      return heuristicAction(world.params, step % NUM_SLOTS, rows.subarray(from, from + NUM_METERS));
    }),
  random: (_rows, { numEnvs }, step, firstSeed) =>
    Uint8Array.from({ length: numEnvs }, (_, i) => randomAction(world.params, firstSeed + i, step, 0)),
  /** Always plays the most informative action, whatever its reward: shows what can be inferred at best. */
  curious: (_rows, inference) => {
    const worth = inference.probeValues();
    return Uint8Array.from({ length: inference.numEnvs }, (_, i) => {
      const own = worth.subarray(i * NUM_ACTIONS, (i + 1) * NUM_ACTIONS);
      return own.indexOf(Math.max(...own));
    });
  },
};

/** @throws Mismatch if the belief about an episode depends on the other episodes. */
export async function measureInference(plan: InferencePlan, onProgress: OnProgress): Promise<InferenceRow[]> {
  const rows: InferenceRow[] = [];
  for (const watching of Object.keys(CHOOSERS)) {
    onProgress(`inference, watching ${watching}`);
    await breathe();
    rows.push(...watch(watching, plan));
  }
  return rows;
}

function watch(watching: string, { episodes, firstSeed }: InferencePlan): InferenceRow[] {
  using env = createVecEnv({ numEnvs: episodes });
  const inference = new Inference(world, episodes);
  const alone = new Inference(world, 1);
  let result = env.reset({ seed: firstSeed });
  const targets = env.beliefTargets();
  for (const each of [alone, inference]) each.observe(seenBy(each, result));
  const rows: InferenceRow[] = [];
  let spent = 0;
  for (let step = 0; step < NUM_STEPS; step++) {
    result = env.step(CHOOSERS[watching](result.observations, inference, step, firstSeed));
    alone.observe(seenBy(alone, result));
    const start = now();
    inference.observe(result.observations);
    const beliefs = inference.beliefs();
    spent += now() - start;
    if (SHOWN.includes(step + 1)) {
      const reached = reachedBy(inference, beliefs, targets);
      const msPerUpdate = spent / 1e6 / (step + 1) / episodes;
      rows.push({ watching, steps: step + 1, ...reached, msPerUpdate });
    }
  }
  checkAlone(watching, inference, alone);
  return rows;
}

/** Returns the observations of an inference's environments. */
const seenBy = ({ numEnvs }: Inference, { observations }: StepResult): Float32Array =>
  observations.slice(0, numEnvs * OBSERVATION_SIZE);

function checkAlone(watching: string, together: Inference, alone: Inference): void {
  const [first, expected] = [together.beliefs().slice(0, NUM_BELIEFS), alone.beliefs()];
  if (first.every((belief, k) => belief === expected[k])) return;
  throw new Mismatch(
    `inference, watching ${watching}: Expected the beliefs [${expected.join(', ')}] of episode 0, as alone, got ` +
      `[${first.join(', ')}] among ${together.numEnvs}.`,
  );
}

function reachedBy(inference: Inference, beliefs: Float32Array, targets: Float32Array) {
  const errors = beliefs.map((belief, at) => Math.abs(belief - targets[at]));
  return {
    beliefMae: mean(errors),
    expectedMae: mean(inference.expectedErrors()),
    coverage: coverageOf(inference, targets),
  };
}

const mean = (list: Float32Array): number => list.reduce((sum, x) => sum + x, 0) / list.length;

function coverageOf(inference: Inference, targets: Float32Array): number {
  const count = Math.min(inference.numEnvs, EXPLAINED);
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
  const head = ['inference, watching', 'steps', 'belief MAE', 'expected', '10-90 % holds', 'ms per update'];
  const lines = rows.map(({ watching, steps, beliefMae, expectedMae, coverage, msPerUpdate }) => [
    watching,
    steps,
    ...[beliefMae, expectedMae, coverage].map((figure) => digits(figure, 3)),
    digits(msPerUpdate, 3),
  ]);
  return table(head, lines);
}
