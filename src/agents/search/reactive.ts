/**
 * Reactive policies: policies without memory that compute the action from the step and, linearly, from the current meters. A
 * search finds one by the cross-entropy method.
 */

import { yieldTurn } from '../../engine/engine-calls.js';
import { type Env, openEnv } from '../../engine/node.js';
import type { EngineOptions } from '../../engine/vec-env/vec-env-options.js';
import {
  NUM_ACTIONS,
  NUM_METERS,
  NUM_SLOTS,
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_SIZE,
} from '../../world/fields.js';
import { SearchDraws } from './breeding.js';

/** The number of preferences: one for each action at each step. */
const PREFERENCES = NUM_STEPS * NUM_ACTIONS;
/** The number of parameters, 480: preferences [28 steps, 10 actions], then weights [4 slots, 10 actions, 5 meters]. */
export const REACTIVE_PARAMETERS = PREFERENCES + NUM_SLOTS * NUM_ACTIONS * NUM_METERS;
/**
 * The initial value of all meters in the published world (numbers.ts). A policy reacts to the difference between a meter and
 * this value.
 */
const CENTRE = 0.7;

/** Returns whether a parameter is a weight of a meter; otherwise it is a preference. */
export const isMeterWeight = (parameter: number): boolean => parameter >= PREFERENCES;

/** Returns the parameters of the policy that plays an action sequence and ignores the meters, f64 [480]. */
export function parametersOf(sequence: Uint8Array): Float64Array {
  const parameters = new Float64Array(REACTIVE_PARAMETERS);
  sequence.forEach((action, step) => {
    parameters[step * NUM_ACTIONS + action] = 1;
  });
  return parameters;
}

/**
 * Returns the action with the highest value: its preference at this step, plus its weights for this slot times the meters'
 * differences from CENTRE. Of actions with equal values, returns the first. The five products are written out for speed.
 * @param first index of the first parameter. @param at index of the first of five meters.
 */
export function reactiveAction(
  parameters: Float64Array,
  first: number,
  step: number,
  observations: Float32Array,
  at: number,
): number {
  const vitality = observations[at] - CENTRE;
  const cognition = observations[at + 1] - CENTRE;
  const progress = observations[at + 2] - CENTRE;
  const serenity = observations[at + 3] - CENTRE;
  const connection = observations[at + 4] - CENTRE;
  const preferences = first + step * NUM_ACTIONS;
  let weight = first + PREFERENCES + (step % NUM_SLOTS) * NUM_ACTIONS * NUM_METERS;
  let best = 0;
  let highest = -Infinity;
  for (let action = 0; action < NUM_ACTIONS; action++, weight += NUM_METERS) {
    const value =
      parameters[preferences + action] +
      parameters[weight] * vitality +
      parameters[weight + 1] * cognition +
      parameters[weight + 2] * progress +
      parameters[weight + 3] * serenity +
      parameters[weight + 4] * connection;
    if (value <= highest) continue;
    highest = value;
    best = action;
  }
  return best;
}

// The numbers of the search are chosen by hand: larger generations and more seeds take longer.

/** The number of policies in a generation. The first is the mean of the distribution. */
const POPULATION = 96;
/** The number of best policies whose mean is the first policy of the next generation. */
const ELITE = 12;
/** The number of training seeds that each policy of a generation plays. */
const SEEDS_PLAYED = 64;
/** Standard deviations of the first generation: of the preferences, and of the meter weights. */
const PREFERENCE_SPREAD = 0.35;
const WEIGHT_SPREAD = 2;
/** The weight of the best policies' spread in the next generation's spread. The previous spread has the remaining weight. */
const LEARNING_RATE = 0.1;
/** The smallest standard deviation, so that the search never stops exploring. */
const MIN_SPREAD = 0.05;
/**
 * The mean policy is scored on all training seeds at the start, whenever this many more generations have passed, and at the
 * end. The best of these policies is the result.
 */
const CHECKED_EVERY = 20;

/** The number of episodes played for one generation. */
export const REACTIVE_EPISODES = POPULATION * SEEDS_PLAYED;

/** Options of `findReactivePolicy`. */
export interface ReactiveSearchOptions {
  /** u32 [n]: training seeds. */
  readonly seeds: Uint32Array;
  /** f32 [8]: the grader's weights. */
  readonly grader: Float32Array;
  /** u8 [28]: the action sequence to start from. */
  readonly sequence: Uint8Array;
  /** The number of generations. */
  readonly generations: number;
  /** u32: the seed of the search's random numbers. */
  readonly seed: number;
  readonly engine: EngineOptions;
  /** Called after each generation with the number of generations done and the total. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal | undefined;
}

/** A reactive policy and its mean final score on the training seeds. */
export interface FoundReactivePolicy {
  /** f64 [480], in the order of `REACTIVE_PARAMETERS`. */
  readonly parameters: Float64Array;
  readonly score: number;
}

/**
 * Searches for the reactive policy with the highest mean final score. No belief is stated. The backend, kernel and threads do
 * not change the result. On the training seeds the policy scores at least as well as the sequence.
 * @throws the signal's reason; BackendError.
 */
export async function findReactivePolicy(options: ReactiveSearchOptions): Promise<FoundReactivePolicy> {
  const { seeds, sequence, generations, seed, signal, onProgress } = options;
  const draws = new SearchDraws(seed);
  const distribution = new Distribution(sequence);
  const { grader, engine } = options;
  await using env = await openEnv({ numEnvs: REACTIVE_EPISODES, grader, ...engine });
  await using meanEnv = await openEnv({ numEnvs: seeds.length, grader, ...engine });
  let best: FoundReactivePolicy = { parameters: distribution.mean, score: -Infinity };
  for (let generation = 0; ; generation++) {
    if (generation % CHECKED_EVERY === 0 || generation === generations) {
      const [score] = await scoreReactive(meanEnv, distribution.mean, seeds);
      if (score > best.score) best = { parameters: distribution.mean.slice(), score };
    }
    if (generation === generations) return best;
    const candidates = distribution.draw(draws);
    distribution.update(candidates, await scoreReactive(env, candidates, seedsOf(generation, seeds)));
    onProgress(generation + 1, generations);
    await yieldTurn();
    signal?.throwIfAborted();
  }
}

/** Returns the seeds that a generation plays, u32 [64]: evenly spaced training seeds, shifted by one index each generation. */
function seedsOf(generation: number, seeds: Uint32Array): Uint32Array {
  const distance = Math.max(1, Math.floor(seeds.length / SEEDS_PLAYED));
  return Uint32Array.from(
    { length: SEEDS_PLAYED },
    (_, k) => seeds[(k * distance + generation) % seeds.length],
  );
}

/** The distribution from which a generation is drawn: an independent normal distribution of each parameter. */
class Distribution {
  /** f64 [480] each: the mean and the standard deviation of each parameter. */
  readonly mean: Float64Array;
  readonly #spread = Float64Array.from({ length: REACTIVE_PARAMETERS }, (_, k) =>
    isMeterWeight(k) ? WEIGHT_SPREAD : PREFERENCE_SPREAD,
  );

  constructor(sequence: Uint8Array) {
    this.mean = parametersOf(sequence);
  }

  /** Returns a generation, f64 [96, 480]. The first policy is the mean. */
  draw(draws: SearchDraws): Float64Array {
    const candidates = new Float64Array(POPULATION * REACTIVE_PARAMETERS);
    candidates.set(this.mean);
    for (let i = REACTIVE_PARAMETERS; i < candidates.length; i++) {
      const k = i % REACTIVE_PARAMETERS;
      candidates[i] = this.mean[k] + this.#spread[k] * drawNormal(draws);
    }
    return candidates;
  }

  /** Sets the mean to the mean of the best candidates, and moves the spread towards the spread of these candidates. */
  update(candidates: Float64Array, scores: Float64Array): void {
    const best = [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b).slice(0, ELITE);
    for (let k = 0; k < REACTIVE_PARAMETERS; k++) {
      const values = best.map((i) => candidates[i * REACTIVE_PARAMETERS + k]);
      const mean = values.reduce((sum, value) => sum + value, 0) / ELITE;
      const variance = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / ELITE;
      const spread = (1 - LEARNING_RATE) * this.#spread[k] + LEARNING_RATE * Math.sqrt(variance);
      this.mean[k] = mean;
      this.#spread[k] = Math.max(MIN_SPREAD, spread);
    }
  }
}

/**
 * Draws from a nearly normal distribution of mean 0 and variance 1, without a transcendental function. The sum of four numbers
 * uniform in [0, 1) has the mean 2 and the variance 1/3.
 */
function drawNormal(draws: SearchDraws): number {
  let sum = 0;
  for (let k = 0; k < 4; k++) sum += draws.below(RANGE);
  return (sum / RANGE - 2) * Math.sqrt(3);
}

/** Uniform numbers are drawn as integers below this, the largest argument of `SearchDraws.below`. */
const RANGE = 2 ** 16;

/**
 * Plays every policy on every seed, all in one batch. Returns the mean score of each policy, f64 [n].
 * @param policies f64 [n, 480], where n is numEnvs / seeds.length.
 */
async function scoreReactive(env: Env, policies: Float64Array, seeds: Uint32Array): Promise<Float64Array> {
  const repeatedSeeds = new Uint32Array(env.numEnvs);
  for (let first = 0; first < env.numEnvs; first += seeds.length) repeatedSeeds.set(seeds, first);
  const finalScores = await playReactive(env, policies, repeatedSeeds, seeds.length, null);
  const scores = new Float64Array(env.numEnvs / seeds.length);
  finalScores.forEach((score, i) => {
    scores[Math.floor(i / seeds.length)] += score / seeds.length;
  });
  return scores;
}

/**
 * Plays a whole episode in each environment; each policy plays `count` adjacent environments. Returns the final scores, f32
 * [numEnvs]: a view that later calls of `env` overwrite.
 * @param policies f64 [numEnvs / count, 480]. @param seeds u32 [numEnvs].
 * @param played u8 [numEnvs, 28]: receives the actions; null if they are not needed.
 */
export async function playReactive(
  env: Env,
  policies: Float64Array,
  seeds: Uint32Array,
  count: number,
  played: Uint8Array | null,
): Promise<Float32Array> {
  const actions = new Uint8Array(env.numEnvs);
  let result = await env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    for (let i = 0; i < actions.length; i++) {
      const first = Math.floor(i / count) * REACTIVE_PARAMETERS;
      const at = i * OBSERVATION_SIZE + OBSERVATION.meters;
      actions[i] = reactiveAction(policies, first, step, result.observations, at);
      if (played !== null) played[i * NUM_STEPS + step] = actions[i];
    }
    result = await env.step(actions);
  }
  return result.finalScores;
}
