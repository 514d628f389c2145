/** Trains one policy with GRPO. */
import { createVecEnv } from 'rhythm-vec';
import seedrandom from 'seedrandom';
import { sampled } from './choose.js';
import { createLearner, update } from './grpo.js';
import { createParameters, type Parameters } from './policy.js';
import { playEpisodes } from './rollout.js';
import { meanOf } from './statistics.js';

/** The training seeds of the world. Others are for evaluation. */
export const TRAINING_SEEDS = { first: 100, last: 9999 };

export interface TrainOptions {
  /** The seed of the initial parameters, the choices and the selection of episodes. */
  seed: number;
  updates: number;
  groups: number;
  groupSize: number;
  /** The learning rate of the first update. It decreases linearly to 0. */
  rate: number;
  /** The entropy coefficient of the first update. It decreases linearly to 0. */
  entropy: number;
}

export const DEFAULTS: Omit<TrainOptions, 'seed'> = {
  updates: 800,
  groups: 16,
  groupSize: 16,
  rate: 0.01,
  entropy: 0.02,
};

/** Figures of an update. */
export interface Progress {
  readonly update: number;
  readonly loss: number;
  /** The mean over the episodes of the update. */
  readonly finalScore: number;
  readonly beliefMae: number;
  /** The share of groups with equal scores, which give no gradient. */
  readonly zeroSpread: number;
}

/** Trains a policy and returns its parameters. @param onProgress returns false to end the training early. */
export function train(options: TrainOptions, onProgress: (progress: Progress) => boolean): Parameters {
  const { groups, groupSize, updates, rate, entropy } = options;
  const random = seedrandom.alea(`grpo ${options.seed}`);
  const learner = createLearner(createParameters(random));
  const { first, last } = TRAINING_SEEDS;
  using env = createVecEnv({ numEnvs: groups * groupSize, seedRange: [first, last - first + 1], threads: 1 });
  for (let done = 0; done < updates; done++) {
    const groupSeeds = Array.from(
      { length: groups },
      () => first + Math.floor(random() * (last - first + 1)),
    );
    const seeds = Uint32Array.from(
      { length: env.numEnvs },
      (_, envIndex) => groupSeeds[Math.floor(envIndex / groupSize)],
    );
    const episodes = playEpisodes(env, seeds, learner.parameters, sampled(random));
    const remaining = 1 - done / updates;
    const figures = update(learner, episodes, {
      groupSize,
      rate: rate * remaining,
      entropy: entropy * remaining,
    });
    const continues = onProgress({
      update: done + 1,
      ...figures,
      finalScore: meanOf(episodes.result.finalScores),
      beliefMae: meanOf(episodes.result.beliefMae),
    });
    if (!continues) break;
  }
  return learner.parameters;
}
