/** Trains one policy: play groups, compare, step, again. */
import { createVecEnv } from 'rhythm-vec';
import seedrandom from 'seedrandom';
import { sampled } from './choose.js';
import { createLearner, update } from './grpo.js';
import { createParameters, type Parameters } from './policy.js';
import { playWeeks } from './rollout.js';
import { meanOf } from './statistics.js';

/** Seeds that training may play, of the world's: the rest is for evaluation. */
export const TRAINING_SEEDS = { first: 100, last: 9999 };

export interface TrainOptions {
  /** Of the policy's first numbers, the choices, and which weeks are played. */
  seed: number;
  updates: number;
  groups: number;
  groupSize: number;
  /** Adam's, at the first update; it falls evenly to 0. */
  rate: number;
  /** What a spread of choices is worth at the first update; it falls evenly to 0. */
  entropy: number;
}

export const DEFAULTS: Omit<TrainOptions, 'seed'> = {
  updates: 800,
  groups: 16,
  groupSize: 16,
  rate: 0.01,
  entropy: 0.02,
};

/** After an update. */
export interface Progress {
  readonly update: number;
  readonly loss: number;
  /** The mean of the weeks that the update learned from. */
  readonly finalScore: number;
  readonly beliefMae: number;
  readonly zeroSpread: number;
}

/** The trained policy's parameters. @param onProgress returns false to end the training early. */
export function train(options: TrainOptions, onProgress: (progress: Progress) => boolean): Parameters {
  const { groups, groupSize, updates, rate, entropy } = options;
  const random = seedrandom.alea(`grpo ${options.seed}`);
  const learner = createLearner(createParameters(random));
  const { first, last } = TRAINING_SEEDS;
  using env = createVecEnv({ numEnvs: groups * groupSize, seedRange: [first, last - first + 1], threads: 1 });
  for (let done = 0; done < updates; done++) {
    const drawn = Array.from({ length: groups }, () => first + Math.floor(random() * (last - first + 1)));
    const seeds = Uint32Array.from({ length: env.numEnvs }, (_, slot) => drawn[Math.floor(slot / groupSize)]);
    const weeks = playWeeks(env, seeds, learner.parameters, sampled(random));
    const left = 1 - done / updates;
    const found = update(learner, weeks, { groupSize, rate: rate * left, entropy: entropy * left });
    const goOn = onProgress({
      update: done + 1,
      ...found,
      finalScore: meanOf(weeks.result.finalScores),
      beliefMae: meanOf(weeks.result.beliefMae),
    });
    if (!goOn) break;
  }
  return learner.parameters;
}
