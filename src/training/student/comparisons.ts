/**
 * Compares actions. A refinement learns from the comparisons. The student plays episodes. Forks (copies) of some episodes play
 * another action at one step, and then the student plays the forks to their end too. A fork has the profile, noise and events
 * of its episode, so the difference of the two results is what the other action gains.
 */
import { FEATURE_COUNT, Features, OUTPUT, OUTPUT_COUNT } from '../../agents/student/network.js';
import { highestLogit, statedBelief } from '../../agents/student/student-player.js';
import type { Env } from '../../engine/node.js';
import { beliefTarget, sampleProfile } from '../../engine/reference/profile.js';
import { type Draw, threefry, unit } from '../../engine/reference/threefry.js';
import type { StepResult } from '../../engine/vec-env/vec-env-options.js';
import { NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS, PROFILE_SIZE } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { permutation } from '../permutation.js';

// OTHERS, STEPS_PER_EPISODE and TEMPERATURE are chosen by hand. More forks compare more actions, and take longer.

/** The number of other actions that are compared with the student's at each compared step. */
const OTHERS = 2;
/**
 * The result of an episode is its final score minus this share of the last belief's MAE. Without this term, the beliefs of a
 * student of v2 get worse: see docs/students.md, Refinement.
 */
const ACCURACY_SHARE = 0.1;
/** The number of compared steps of each episode, on average. */
const STEPS_PER_EPISODE = 8;
/** Divides the logits. Above 1, the other actions are drawn more evenly than by the student's probabilities. */
const TEMPERATURE = 1.5;

/** m comparisons, from n episodes. */
export interface Comparisons {
  /** f32 [m, FEATURE_COUNT]: the student's inputs before the compared step. */
  readonly inputs: Float32Array;
  /** f32 [m, 10]: 1 at the actions that were compared, one of which is the student's. */
  readonly compared: Float32Array;
  /** f32 [m, 10]: what each compared action gains over the student's; 0 elsewhere. */
  readonly gains: Float32Array;
  /**
   * f32 [28 * n, FEATURE_COUNT]: all inputs of the student: those of step 0 in all episodes, then those of step 1, and so on.
   */
  readonly allInputs: Float32Array;
  /** f32 [n, 3]: the belief targets of the episodes. */
  readonly targets: Float32Array;
  /** f32 [n] each: of the episodes themselves, not of their forks. */
  readonly finalScores: Float32Array;
  readonly beliefMae: Float32Array;
}

interface ComparisonOptions {
  /** u32 [n]: the seeds of the profiles. */
  readonly profileSeeds: Uint32Array;
  /** u32 [n]: the seeds of noise, events, and the draws of compared episodes and actions. */
  readonly seeds: Uint32Array;
  /** Returns the student's outputs, f32 [rows, OUTPUT_COUNT], for inputs f32 [rows, FEATURE_COUNT]. */
  readonly outputsOf: (inputs: Float32Array) => Float32Array;
}

/** The second words of the keys of draws: "ACTS" and "EPIS" in ASCII. The engine's streams have other numbers. */
const KEYS = { actions: 0x41435453, episodes: 0x45504953 };

/**
 * Plays an episode in each environment, and compares actions at some of its steps.
 * @param env opened with `imagination`, so no noise is that of a real episode.
 */
export async function compareActions(env: Env, options: ComparisonOptions): Promise<Comparisons> {
  const { numEnvs, world } = env;
  const { profileSeeds, seeds, outputsOf } = options;
  const { profiles, targets } = profilesOf(profileSeeds, world);
  const features = new Features(world.words, numEnvs);
  const allInputs = new Float32Array(NUM_STEPS * numEnvs * FEATURE_COUNT);
  const forks: Forks[] = [];
  let result = await env.reset({ seed: seeds, profiles });
  for (let step = 0; step < NUM_STEPS; step++) {
    const inputs = inputsOf(features, result.observations, numEnvs);
    allInputs.set(inputs, step * inputs.length);
    const outputs = outputsOf(inputs);
    const chosen = choicesOf(outputs, numEnvs);
    const episodes = episodesOf(step, seeds);
    forks.push(await playForks({ env, features, step, episodes, inputs, outputs, chosen, options }));
    result = await env.step(chosen.actions, { beliefs: chosen.beliefs });
  }
  return {
    ...rowsOf(forks, resultsOf(result)),
    allInputs,
    targets,
    finalScores: result.finalScores.slice(),
    beliefMae: result.beliefMae.slice(),
  };
}

/** Adds observations to the features. @returns the inputs of the next step, f32 [n, FEATURE_COUNT]. */
function inputsOf(features: Features, observations: Float32Array, count: number): Float32Array {
  const inputs = new Float32Array(count * FEATURE_COUNT);
  features.observe(observations, inputs);
  return inputs;
}

/** The student's choices in n environments. */
interface Choices {
  /** u8 [n]. */
  readonly actions: Uint8Array;
  /** f32 [n, 3]. */
  readonly beliefs: Float32Array;
}

const outputsAt = (outputs: Float32Array, i: number): Float32Array =>
  outputs.subarray(i * OUTPUT_COUNT, (i + 1) * OUTPUT_COUNT);

/** Returns the actions and beliefs that the student chooses. */
function choicesOf(outputs: Float32Array, count: number): Choices {
  const [actions, beliefs] = [new Uint8Array(count), new Float32Array(count * NUM_BELIEFS)];
  for (let i = 0; i < count; i++) {
    const row = outputsAt(outputs, i);
    actions[i] = highestLogit(row);
    for (let k = 0; k < NUM_BELIEFS; k++) beliefs[i * NUM_BELIEFS + k] = statedBelief(row[OUTPUT.means + k]);
  }
  return { actions, beliefs };
}

/** Draws the episodes in which a step is compared: the same number at each step. @returns their indices. */
function episodesOf(step: number, seeds: Uint32Array): number[] {
  const count = Math.max(1, Math.floor((seeds.length * STEPS_PER_EPISODE) / NUM_STEPS));
  const order = permutation(seeds.length, [seeds[0], (KEYS.episodes ^ step) >>> 0]);
  return Array.from({ length: count }, (_, k) => order(k));
}

/** The finished forks of one step: OTHERS for each episode in which the step is compared. */
interface Forks {
  /** The indices of these episodes. */
  readonly episodes: readonly number[];
  /** f32 [episodes, FEATURE_COUNT]. */
  readonly inputs: Float32Array;
  /** u8 [episodes]: the student's actions. */
  readonly own: Uint8Array;
  /** u8 [episodes, OTHERS]. */
  readonly others: Uint8Array;
  /** f32 [episodes, OTHERS]. */
  readonly results: Float32Array;
}

/** The environments before a step, the indices of the episodes to fork, and the student's choices at the step. */
interface ForkOptions {
  readonly env: Env;
  readonly features: Features;
  readonly step: number;
  readonly episodes: readonly number[];
  readonly inputs: Float32Array;
  readonly outputs: Float32Array;
  readonly chosen: Choices;
  readonly options: ComparisonOptions;
}

/** Forks the episodes. Plays another action in each fork, and then the student's actions to the end. */
async function playForks(given: ForkOptions): Promise<Forks> {
  const { env, step, episodes, inputs, outputs, chosen, options } = given;
  const sources = episodes.flatMap((i) => new Array<number>(OTHERS).fill(i));
  const others = Uint8Array.from(
    episodes.flatMap((i) => drawOthers(outputsAt(outputs, i), chosen.actions[i], options.seeds[i], step)),
  );
  const features = given.features.fork(sources);
  const beliefs = gather(chosen.beliefs, NUM_BELIEFS, sources);
  await using fork = await env.fork(sources);
  let result = await fork.step(others, { beliefs });
  for (let later = step + 1; later < NUM_STEPS; later++) {
    const outputs = options.outputsOf(inputsOf(features, result.observations, sources.length));
    const choices = choicesOf(outputs, sources.length);
    result = await fork.step(choices.actions, { beliefs: choices.beliefs });
  }
  return {
    episodes,
    others,
    results: resultsOf(result),
    inputs: gather(inputs, FEATURE_COUNT, episodes),
    own: Uint8Array.from(episodes, (i) => chosen.actions[i]),
  };
}

/** Returns the rows of a table at `indices`, f32 [indices.length, size]. */
function gather(table: Float32Array, size: number, indices: readonly number[]): Float32Array {
  const rows = new Float32Array(indices.length * size);
  for (const [k, index] of indices.entries())
    rows.set(table.subarray(index * size, (index + 1) * size), k * size);
  return rows;
}

const draw: Draw = { x0: 0, x1: 0 };

/**
 * Draws OTHERS different actions that are not the student's. Actions with higher logits are drawn more often: the drawn
 * actions have the highest sums of logit and Gumbel noise, which samples without replacement (Kool et al. 2019).
 */
export function drawOthers(outputs: Float32Array, own: number, seed: number, step: number): number[] {
  const keys = Array.from({ length: NUM_ACTIONS }, (_, action) => {
    // Adds 2^-25, half of the resolution, so that the number is never 0.
    const uniform = unit(threefry(seed, KEYS.actions, step, action, draw).x0) + 2 ** -25;
    return outputs[OUTPUT.logits + action] / TEMPERATURE - Math.log(-Math.log(uniform));
  });
  return Array.from(keys.keys())
    .filter((action) => action !== own)
    .sort((a, b) => keys[b] - keys[a])
    .slice(0, OTHERS);
}

/** Returns the results of finished episodes, f32 [n]: see ACCURACY_SHARE. */
const resultsOf = ({ finalScores, beliefMae }: Pick<StepResult, 'finalScores' | 'beliefMae'>): Float32Array =>
  finalScores.map((score, i) => score - ACCURACY_SHARE * beliefMae[i]);

/**
 * Returns the rows of all comparisons.
 * @param results f32 [n]: of the episodes themselves, in which the student chose all actions.
 */
function rowsOf(
  forks: readonly Forks[],
  results: Float32Array,
): Pick<Comparisons, 'inputs' | 'compared' | 'gains'> {
  const count = forks.reduce((sum, { episodes }) => sum + episodes.length, 0);
  const inputs = new Float32Array(count * FEATURE_COUNT);
  const [compared, gains] = [new Float32Array(count * NUM_ACTIONS), new Float32Array(count * NUM_ACTIONS)];
  let row = 0;
  for (const fork of forks) {
    inputs.set(fork.inputs, row * FEATURE_COUNT);
    for (const [k, episode] of fork.episodes.entries()) {
      compared[row * NUM_ACTIONS + fork.own[k]] = 1;
      for (let other = k * OTHERS; other < (k + 1) * OTHERS; other++) {
        const at = row * NUM_ACTIONS + fork.others[other];
        compared[at] = 1;
        gains[at] = fork.results[other] - results[episode];
      }
      row++;
    }
  }
  return { inputs, compared, gains };
}

/** Returns the profiles of seeds, and their belief targets. */
function profilesOf(seeds: Uint32Array, { params }: World) {
  const profiles = new Float32Array(seeds.length * PROFILE_SIZE);
  const targets = new Float32Array(seeds.length * NUM_BELIEFS);
  for (const [i, seed] of seeds.entries()) {
    const profile = profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE);
    sampleProfile(params, seed, profile);
    beliefTarget(params, profile, targets.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS));
  }
  return { profiles, targets };
}
