/**
 * What inference reaches by watching: belief MAE, its own expectation of it, coverage of its intervals and time, over
 * episodes with fresh seeds. Run with `tsx bench/inference.ts [episodes] [samples] [first seed]`.
 */
import { createVecEnv, createWorld, type VecEnv } from '../src/index.js';
import { Inference } from '../src/policies/inference/inference.js';
import { heuristicAction, randomAction } from '../src/reference/baselines.js';
import {
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_SIZE,
} from '../src/world/fields.js';
import { table } from './report.js';

const [episodes = 2000, samples = 256, firstSeed = 20000] = process.argv.slice(2).map(Number);
const SHOWN = [1, 4, 8, 12, 20, NUM_STEPS - 1];
const world = createWorld();

/** How a slot's next action is chosen. */
type Chooser = (observations: Float32Array, inference: Inference, step: number) => Uint8Array;

const heuristic: Chooser = (rows, _, step) =>
  Uint8Array.from({ length: episodes }, (_, i) => {
    const from = i * OBSERVATION_SIZE + OBSERVATION.meters;
    return heuristicAction(world.params, step % NUM_SLOTS, rows.subarray(from, from + NUM_METERS));
  });

const random: Chooser = (_rows, _, step) =>
  Uint8Array.from({ length: episodes }, (_, i) => randomAction(world.params, firstSeed + i, step, 0));

/** Always the action that tells most: what can be known at all, whatever it costs the person. */
const curious: Chooser = (_rows, inference) => {
  const worth = inference.probeValues();
  return Uint8Array.from({ length: episodes }, (_, i) => {
    const own = worth.subarray(i * NUM_ACTIONS, (i + 1) * NUM_ACTIONS);
    return own.indexOf(Math.max(...own));
  });
};

const mean = (list: Float32Array): number => list.reduce((sum, x) => sum + x, 0) / list.length;

/** Share of targets within 10 % to 90 % of the posterior, of the first few slots. */
function coverage(inference: Inference, targets: Float32Array): number {
  const slots = Math.min(episodes, 300);
  let inside = 0;
  for (let i = 0; i < slots; i++) {
    for (const [k, { low, high }] of inference.explain(i).targets.entries()) {
      const target = targets[i * NUM_BELIEFS + k];
      if (low <= target && target <= high) inside++;
    }
  }
  return inside / (slots * NUM_BELIEFS);
}

function watch(env: VecEnv, choose: Chooser): string[][] {
  const inference = new Inference(world, episodes, { samples });
  let { observations } = env.reset({ seed: firstSeed });
  const targets = env.beliefTargets();
  const rows: string[][] = [];
  let spent = 0;
  inference.observe(observations);
  for (let step = 0; step < NUM_STEPS; step++) {
    observations = env.step(choose(observations, inference, step)).observations;
    const start = performance.now();
    inference.observe(observations);
    const beliefs = inference.beliefs();
    spent += performance.now() - start;
    if (!SHOWN.includes(step + 1)) continue;
    const errors = beliefs.map((belief, at) => Math.abs(belief - targets[at]));
    const figures = [mean(errors), mean(inference.expectedErrors()), coverage(inference, targets)];
    rows.push([
      String(step + 1),
      ...figures.map((x) => x.toFixed(4)),
      (spent / (step + 1) / episodes).toFixed(3),
    ]);
  }
  return rows;
}

const HEAD = ['steps', 'belief MAE', 'expected', '10-90 % holds', 'ms an update'];
for (const [name, choose] of Object.entries({ heuristic, random, curious })) {
  using env = createVecEnv({ numEnvs: episodes });
  console.log(`\nwatching ${name}, ${episodes} episodes, ${samples} samples`);
  console.log(table(HEAD, watch(env, choose), 1));
}
