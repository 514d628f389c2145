/**
 * Trains a small policy by evolution strategies: it learns actions and beliefs from final scores alone. docs/tutorial.md
 * explains it. `npx tsx examples/train.ts` (in a project with the package: `node train.js`) prints the learning curve and writes
 * the weights to policy.json. An argument stops the training after so many generations.
 */
import { writeFileSync } from 'node:fs';
import {
  ACTION_NAMES,
  createVecEnv,
  METER_NAMES,
  OBSERVATION,
  OBSERVATION_SIZE,
  type Policy,
  type VecEnv,
} from 'rhythm-vec';

const [ACTIONS, METERS, SLOTS, BELIEFS] = [ACTION_NAMES.length, METER_NAMES.length, 4, 3];
/** Inputs of the actions: meters, the time of day (one-hot), 1. Inputs of the beliefs: 1, mean anomalies after each action. */
const [NOW, MEMORY] = [METERS + SLOTS + 1, 1 + ACTIONS * METERS];
const [INPUTS, WEIGHTS] = [NOW + MEMORY - 1, ACTIONS * NOW + BELIEFS * MEMORY];
/** All policies of a generation play the same EPISODES seeds. The generations together play the seeds 100-9999 once. */
const [GENERATIONS, PAIRS, EPISODES, FIRST_SEED] = [150, 32, 66, 100];
const NUM_ENVS = 2 * PAIRS * EPISODES;
/** The size of the perturbations, and the learning rate of the first generation. Chosen by hand. */
const [SIGMA, LEARNING_RATE] = [0.03, 0.03];

/** Plays `numEnvs` episodes. `weights` are of one or several policies, which play equal parts of the episodes. */
function openPlayer(weights: Float64Array, numEnvs: number) {
  const policies = weights.length / WEIGHTS;
  const [inputs, counts] = [new Float64Array(numEnvs * INPUTS), new Float64Array(numEnvs * ACTIONS)];
  const [actions, beliefs] = [new Uint8Array(numEnvs), new Float32Array(numEnvs * BELIEFS)];
  /** Writes the inputs of episode i, whose observation begins at `from`. */
  const observe = (i: number, observations: Float32Array, from: number) => {
    const at = i * INPUTS;
    for (let k = 0; k < METERS; k++) inputs[at + k] = 2 * observations[from + OBSERVATION.meters + k] - 1;
    for (let k = 0; k < SLOTS; k++)
      inputs[at + METERS + k] = observations[from + OBSERVATION.slot] === k ? 1 : 0;
    inputs[at + NOW - 1] = 1;
    const action = observations[from + OBSERVATION.lastAction];
    if (action < 0) return;
    const count = ++counts[i * ACTIONS + action];
    for (let k = 0, mean = at + NOW + action * METERS; k < METERS; k++, mean++)
      inputs[mean] += (10 * observations[from + OBSERVATION.anomalies + k] - inputs[mean]) / (count + 1);
  };
  const dot = (input: number, weight: number, count: number) => {
    let sum = 0;
    for (let k = 0; k < count; k++) sum += inputs[input + k] * weights[weight + k];
    return sum;
  };
  return {
    act({ observations }: { observations: Float32Array }) {
      for (let i = 0; i < numEnvs; i++) {
        observe(i, observations, i * OBSERVATION_SIZE);
        let weight = Math.floor((i * policies) / numEnvs) * WEIGHTS;
        for (let a = 0, best = -Infinity; a < ACTIONS; a++, weight += NOW) {
          const value = dot(i * INPUTS, weight, NOW);
          if (value > best) [best, actions[i]] = [value, a];
        }
        for (let b = 0; b < BELIEFS; b++, weight += MEMORY)
          beliefs[i * BELIEFS + b] = 0.5 + dot(i * INPUTS + NOW - 1, weight, MEMORY);
      }
      return { actions, beliefs };
    },
  };
}

/** Returns the policy with these weights. */
export const linearPolicy = (weights: readonly number[]): Policy => ({
  open: ({ numEnvs }) => openPlayer(Float64Array.from(weights), numEnvs),
});

/** Returns the mean final score of each policy, on the seeds of generation g. */
function scoresOf(env: VecEnv, weights: Float64Array, g: number): Float64Array {
  const player = openPlayer(weights, NUM_ENVS);
  let result = env.reset({
    seed: Uint32Array.from(env.seeds, (_, i) => FIRST_SEED + g * EPISODES + (i % EPISODES)),
  });
  while (!result.terminated[0]) {
    const { actions, beliefs } = player.act(result);
    result = env.step(actions, { beliefs });
  }
  const scores = new Float64Array(2 * PAIRS);
  for (const [i, score] of result.finalScores.entries()) scores[Math.floor(i / EPISODES)] += score / EPISODES;
  return scores;
}

/** Trains by evolution strategies. Calls `onGeneration` with each generation's mean final score. @returns the weights. */
export function train(
  generations: number,
  onGeneration: (generation: number, score: number) => void,
): number[] {
  const env = createVecEnv({ numEnvs: NUM_ENVS, grader: 'v3', threads: 1 });
  const [weights, mean, square] = [0, 0, 0].map(() => new Float64Array(WEIGHTS));
  for (let g = 0; g < generations; g++) {
    // Random signs: the parity of random actions. Policies 2p and 2p + 1 have opposite perturbations.
    const signs = Float64Array.from(env.actionSpace.sample(g, PAIRS * WEIGHTS), (code) => 1 - 2 * (code % 2));
    const perturbed = Float64Array.from({ length: 2 * PAIRS * WEIGHTS }, (_, at) => {
      const [policy, k] = [Math.floor(at / WEIGHTS), at % WEIGHTS];
      return weights[k] + SIGMA * (1 - 2 * (policy % 2)) * signs[(policy >> 1) * WEIGHTS + k];
    });
    const scores = scoresOf(env, perturbed, g);
    // Adam, with a learning rate that falls to 0.
    for (let k = 0; k < WEIGHTS; k++) {
      let gradient = 0;
      for (let p = 0; p < PAIRS; p++)
        gradient += (scores[2 * p] - scores[2 * p + 1]) * signs[p * WEIGHTS + k];
      mean[k] = 0.9 * mean[k] + 0.1 * gradient;
      square[k] = 0.99 * square[k] + 0.01 * gradient ** 2;
      weights[k] += (LEARNING_RATE * (1 - g / GENERATIONS) * mean[k]) / (Math.sqrt(square[k]) + 1e-9);
    }
    onGeneration(g + 1, scores.reduce((sum, score) => sum + score) / scores.length);
  }
  env.close();
  return Array.from(weights);
}

if (process.argv[1] === import.meta.filename) {
  const generations = Number(process.argv[2] ?? GENERATIONS);
  const weights = train(generations, (g, score) => {
    if (g === 1 || g % 10 === 0)
      console.log(String(g).padStart(10), score.toFixed(3), '#'.repeat(60 * score));
  });
  writeFileSync('policy.json', JSON.stringify(weights));
}
